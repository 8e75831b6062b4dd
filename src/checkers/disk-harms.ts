import type { Instant } from "../base/time.ts";
import { formatSeconds } from "../base/time.ts";
import type { DiskDisturbed } from "../trace/fact.ts";
import type { FactRecorder } from "../trace/recorder.ts";

/** Whose disks have harmed what was written to them: what such a node then lacks is no bug of its own. */
export class DiskHarms {
  /** By the node's name: when last. */
  readonly #harms = new Map<string, Instant>();

  constructor(recorder: FactRecorder) {
    recorder.on("disk-disturbed", ({ node, how }, at) => {
      if (HARMS.includes(how)) this.#harms.set(node, at);
    });
  }

  /** Why the named node may lack what it had flushed, if it may. */
  waive(node: string): string | undefined {
    const at = this.#harms.get(node);
    return at === undefined ? undefined : `damaged disk of ${node}, at ${formatSeconds(at)}`;
  }
}

/** Of what a fault can do to a disk, what harms bytes that were written; the rest fails calls. */
export const HARMS: readonly DiskDisturbed["how"][] = [
  "disk-lost",
  "fsync-error",
  "fsync-lie",
  "bit-rot",
  "misdirected-read",
  "misdirected-write",
];
