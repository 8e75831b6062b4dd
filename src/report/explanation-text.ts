import { formatSeconds } from "../base/time.ts";
import type { Explanation } from "../explain/explain.ts";
import type { DrawnCell, DrawnReplica, LogDrawing } from "../explain/replica-pictures.ts";
import type { Step } from "../explain/steps.ts";
import { flowed, WIDTH, wrapped } from "./layout.ts";

/** Where the names of faults begin, if there is room. */
const NOTE_COLUMN = 66;

/** What `sim run` and `sim explain` print below a violation: the logs, the story, what would have kept it. */
export function explanationLines(explanation: Explanation): string[] {
  const { drawing, steps, left, needed, avoidedBy } = explanation;
  const lines: string[] = [];
  if (drawing !== undefined) lines.push("", ...drawingLines(drawing));
  if (steps.length > 0) {
    lines.push("", "  because");
    for (const [at, step] of steps.entries()) lines.push(...stepLines(at + 1, step));
    if (left > 0) lines.push(`      and ${left} more`);
  }
  if (needed !== undefined) lines.push(...neededLines(needed, steps));
  if (avoidedBy !== undefined && avoidedBy.length > 0) {
    lines.push(...flowed(["  avoided by:", ...avoidedBy.join("; ").split(" ")], " ", 4));
  }
  return lines;
}

/**
 * A table of epochs: `4` a record of epoch 4, `[4]` one that a producer was told is written, `-4-` one
 * that was cut off, `.` nothing.
 */
function drawingLines({ offsets, replicas }: LogDrawing): string[] {
  const rows = [
    ["offset", ...offsets.map(String), ""],
    ...replicas.map((replica) => [
      `broker-${replica.broker}${replica.isLeader ? "*" : ""}`,
      ...replica.cells.map(cellText),
      stateOf(replica),
    ]),
  ];
  const widths = rows[0]?.map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? "").length)),
  );
  const lines = rows.map((row) =>
    `  ${row.map((cell, at) => (at === 0 ? cell.padEnd(widths?.[0] ?? 0) : cell.padStart(widths?.[at] ?? 0))).join("  ")}`.trimEnd(),
  );
  return [...lines, ...flowed(legend(replicas), "   ", 4)];
}

function cellText({ epoch, isCut, isAcked }: DrawnCell): string {
  if (epoch === undefined) return ".";
  if (isCut) return `-${epoch}-`;
  return isAcked ? `[${epoch}]` : `${epoch}`;
}

function stateOf({ isLeader, isDown }: DrawnReplica): string {
  if (isDown) return "down";
  return isLeader ? "leader" : "";
}

/** Only of marks that are there. */
function legend(replicas: readonly DrawnReplica[]): string[] {
  const cells = replicas.flatMap((replica) => replica.cells);
  const marks = ["    digit = epoch of the record"];
  if (cells.some(({ isAcked, isCut }) => isAcked && !isCut)) marks.push("[ ] = acked");
  if (cells.some(({ isCut }) => isCut)) marks.push("- - = cut off");
  if (replicas.some(({ isLeader }) => isLeader)) marks.push("* = leader");
  return marks;
}

/** `   1  31.002s  fault    cut broker-1 | broker-2     [cut-off]` */
function stepLines(number: number, { at, verb, text, note }: Step): string[] {
  const head = `  ${String(number).padStart(2)} ${formatSeconds(at).padStart(8)}  ${verb.padEnd(8)} `;
  const lines = wrapped(text, head.length).map((line, i) => (i === 0 ? head + line.trim() : line));
  if (note === "") return lines;
  const name = `[${note}]`;
  const last = lines.pop() ?? "";
  const room = WIDTH - name.length;
  if (last.length + 2 > room) return [...lines, last, name.padStart(WIDTH)];
  return [...lines, last.padEnd(Math.min(room, NOTE_COLUMN)) + name];
}

function neededLines(needed: readonly number[], steps: readonly Step[]): string[] {
  const faults = steps.filter(({ fault }) => fault !== undefined);
  if (needed.length === 0) {
    if (faults.length === 0) return [];
    return wrapped("needed: none of the faults alone (each removed in turn, same seed)", 2);
  }
  const numbers = needed.map((at) => at + 1).join(", ");
  return wrapped(`needed: ${numbers} (each removed in turn, same seed: it does not happen)`, 2);
}
