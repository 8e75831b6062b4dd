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

/** A line that is broken by the terminal would have its carets in the wrong place. */
const WIDTH = 80;
/** What is shown of a longer line begins so far before the mistake. */
const CONTEXT = 20;
const CUT = "...";

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
  const gutter = " ".repeat(String(line).length);
  const room = WIDTH - gutter.length - 3;
  const start = Math.max(0, Math.min(column - 1 - CONTEXT, source.length - room));
  const before = Math.max(0, column - 1 - start);
  const carets = "^".repeat(Math.max(1, Math.min(length, room - before)));
  return [
    head,
    `${gutter} |`,
    `${line} | ${printable(excerpt(source, start, room))}`,
    `${gutter} | ${" ".repeat(before)}${carets}`,
  ].join("\n");
}

/** `room` characters from `start` on; dots stand where the line goes on. */
function excerpt(source: string, start: number, room: number): string {
  let shown = source.slice(start, start + room);
  if (start > 0) shown = CUT + shown.slice(CUT.length);
  if (start + room < source.length) shown = shown.slice(0, -CUT.length) + CUT;
  return shown;
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
