/** Where something stands in a scenario's text. Lines and columns count from 1, in UTF-16 units. */
export interface Place {
  readonly line: number;
  readonly column: number;
  /** How many characters of that line it takes: the carets. At least 1. */
  readonly length: number;
}

/** The place of what was made by code, or of the file as a whole. */
export const START_OF_FILE: Place = { line: 1, column: 1, length: 1 };
