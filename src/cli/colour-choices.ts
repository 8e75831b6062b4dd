export const COLOUR_CHOICES: readonly string[] = ["auto", "always", "never"];
