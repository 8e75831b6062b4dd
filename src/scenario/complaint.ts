import { byNumber } from "../base/order.ts";
import type { Place } from "./place.ts";

/** Something a user got wrong in a scenario, with the place where it stands. */
export interface Complaint {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Characters to underline, from `column` on. */
  readonly length: number;
  /** One sentence, lower case, without a full stop; names in backquotes. */
  readonly message: string;
  /** The nearest valid name, if the mistake looks like a misspelling; the message has it too. */
  readonly suggestion?: string;
}

export function complaintAt(
  file: string,
  place: Place,
  message: string,
  suggestion: string | undefined,
): Complaint {
  const { line, column, length } = place;
  const complaint = { file, line, column, length, message };
  return suggestion === undefined ? complaint : { ...complaint, suggestion };
}

/** In the order of the file. */
export function byPlace(left: Complaint, right: Complaint): number {
  return byNumber(left.line, right.line) || byNumber(left.column, right.column);
}

/** Wider lines are shown as a window around the mistake. */
const LINE_WIDTH = 100;

/**
 * The complaint as people read it: the message, the place, the line itself and carets below what is
 * meant. `text` is the scenario's text; without the line in it, only message and place are shown.
 */
export function formatComplaint(
  complaint: Complaint,
  text: string,
  severity: "error" | "warning" = "error",
): string {
  const { file, line, column, length, message } = complaint;
  const head = `${severity}: ${message}\n  --> ${file}:${line}:${column}`;
  const source = lineOf(text, line);
  if (source === undefined || source.trim() === "") return head;
  const start = Math.max(0, column - 1 > LINE_WIDTH - 20 ? column - 21 : 0);
  const shown = source.slice(start, start + LINE_WIDTH);
  const gutter = " ".repeat(String(line).length);
  const indent = " ".repeat(Math.max(0, column - 1 - start));
  const carets = "^".repeat(Math.max(1, Math.min(length, start + LINE_WIDTH - column + 1)));
  return [
    head,
    `${gutter} |`,
    `${line} | ${printable(shown)}`,
    `${gutter} | ${indent}${carets}`,
  ].join("\n");
}

function lineOf(text: string, line: number): string | undefined {
  let start = 0;
  for (let i = 1; i < line; i++) {
    const end = text.indexOf("\n", start);
    if (end < 0) return undefined;
    start = end + 1;
  }
  const end = text.indexOf("\n", start);
  return (end < 0 ? text.slice(start) : text.slice(start, end)).replace(/\r$/, "");
}

/** A scenario's text must not steer a terminal; a tab becomes one space, so that carets stand right. */
function printable(text: string): string {
  let shown = "";
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code === 9) shown += " ";
    else shown += code < 32 || (code >= 127 && code < 160) ? "?" : character;
  }
  return shown.trimEnd();
}
