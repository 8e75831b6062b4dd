/** How words are set off. Colour only doubles what the words say. */
export interface Paint {
  strong(text: string): string;
  good(text: string): string;
  bad(text: string): string;
  faint(text: string): string;
}

const same = (text: string): string => text;

/** No colour at all. */
export const PLAIN: Paint = { strong: same, good: same, bad: same, faint: same };
