/** Percent of a time at which something is decided: somewhat less and somewhat more than it. */
export const AROUND: readonly number[] = [50, 90, 98, 102, 110, 150];
