import type { Instant } from "../base/time.ts";
import type { ViewedFile } from "../cluster/disk-view.ts";
import { table } from "./layout.ts";

/** Whose disk is looked at, and when. */
export interface DiskMoment {
  readonly scenario: string;
  readonly variant: string | undefined;
  readonly seed: string;
  readonly node: string;
  /** Since the scenario's time zero. */
  readonly at: Instant;
}

const SCHEMA = "sim-disk/1";

/** Files with their sizes, and how much of each a power-off that loses all it can would leave. */
export function diskListing(files: readonly ViewedFile[]): string[] {
  const rows = files.map((file) => [String(file.size), durableWord(file), file.path]);
  const widths = [0, 1].map((column) =>
    Math.max(
      ...HEADS.map((head) => head[column]?.length ?? 0),
      ...rows.map((row) => row[column]?.length ?? 0),
    ),
  );
  return table(
    [...HEADS, ...rows].map(([bytes = "", durable = "", path = ""]) => [
      bytes.padStart(widths[0] ?? 0),
      durable.padStart(widths[1] ?? 0),
      path,
    ]),
  );
}

/** The same as one document, `sim-disk/1`. */
export function diskListingJson(moment: DiskMoment, files: readonly ViewedFile[]): string {
  const { scenario, variant, seed, node, at } = moment;
  return JSON.stringify(
    {
      schema: SCHEMA,
      scenario,
      variant: variant ?? null,
      seed: Number(seed),
      node,
      atUs: at,
      files: files.map(({ path, size, durable }) => ({
        path,
        bytes: size,
        durable: typeof durable === "string" ? durable : durable.bytes,
      })),
    },
    undefined,
    2,
  );
}

const HEADS = [["bytes", "durable", "file"]];

function durableWord({ durable }: ViewedFile): string {
  return typeof durable === "string" ? durable : String(durable.bytes);
}
