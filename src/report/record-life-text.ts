import { formatSeconds } from "../base/time.ts";
import type { LifeEvent, RecordLife } from "../explain/record-life.ts";
import { WIDTH, wrapped } from "./layout.ts";

/** Where the state of the partition begins, if there is room. */
const STATE_COLUMN = 52;

/** What `sim explain --record orders-0:415` prints of each record that ever stood there. */
export function recordLifeLines(life: RecordLife): string[] {
  const lines = [headOf(life)];
  let shown = "";
  for (const event of life.events) {
    const state = stateOf(event);
    lines.push(...eventLines(event, state === shown ? "" : state));
    if (state !== "") shown = state;
  }
  const held = life.holders.map((id) => `broker-${id}`).join(", ");
  lines.push(held === "" ? "  in the end nobody has it" : `  in the end it is on ${held}`);
  return lines;
}

function headOf({
  partition,
  offset,
  epoch,
  key,
  producer,
  number,
  isControl,
}: RecordLife): string {
  const parts = [`record ${partition}:${offset}`, `epoch ${epoch}`];
  if (isControl) parts.push("a control record");
  if (key !== undefined) parts.push(`key ${textOf(key)}`);
  if (producer !== undefined) parts.push(`producer ${producer} send ${number}`);
  return parts.join("   ");
}

/** `  40.874s  appended  broker-1 @415 epoch 4          isr {1,2,3}  hw 412`, or without the state. */
function eventLines(event: LifeEvent, state: string): string[] {
  const head = `${formatSeconds(event.at).padStart(9)}  ${event.verb.padEnd(9)} `;
  const lines = wrapped(event.text, head.length).map((line, i) =>
    i === 0 ? head + line.trim() : line,
  );
  if (state === "") return lines;
  const last = lines.pop() ?? "";
  const column = Math.max(STATE_COLUMN, last.length + 2);
  if (column + state.length > WIDTH) return [...lines, last, state.padStart(WIDTH)];
  return [...lines, last.padEnd(column) + state];
}

function stateOf({ state }: LifeEvent): string {
  if (state === undefined) return "";
  return `isr {${[...state.isr].sort((a, b) => a - b).join(",")}}  hw ${state.highWatermark}`;
}

/** As text if it is printable, else in hexadecimal. */
function textOf(bytes: Uint8Array): string {
  const isPrintable = bytes.every((byte) => byte > 0x20 && byte < 0x7f);
  if (isPrintable) return String.fromCharCode(...bytes);
  return `0x${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
