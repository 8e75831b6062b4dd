import type { RunSize, Shrunk } from "../fuzz/shrink/shrink.ts";
import { formatMeasured } from "../scenario/duration.ts";

/** What `sim shrink` prints below its headline: what the run was made of, and is now. */
export function shrinkText({ before, after, runs, isUnfinished }: Shrunk): string {
  const cells = (["faults", "brokers", "partitions", "clients"] as const).map((what) =>
    cell(what, before, after, String),
  );
  const rows = [
    cells.slice(0, 3).join("  "),
    [cells[3], cell("time", before, after, formatMeasured)].join("  "),
  ];
  const rest = isUnfinished ? "time is up: more could go" : "every remaining part is needed";
  return [
    ...rows.map((row) => `  ${row}`.trimEnd()),
    `  events  ${before.events} -> ${after.events}   after ${runs} runs; ${rest}`,
  ].join("\n");
}

function cell<What extends keyof RunSize>(
  what: What,
  before: RunSize,
  after: RunSize,
  format: (value: number) => string,
): string {
  return `${what.padEnd(10)} ${`${format(before[what])} -> ${format(after[what])}`.padEnd(14)}`;
}
