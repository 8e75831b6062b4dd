import { Damages } from "./damage.ts";
import { dumpFile } from "./dump-file.ts";
import type { DumpOptions, DumpTarget } from "./dump-options.ts";
import { entryText } from "./entry-text.ts";
import { printableText } from "./printable.ts";

/**
 * A file as lines: what is sound in the columns of Kafka's own dump tool, then one line on what is not.
 * Returns whether all of it is sound.
 */
export function* dumpLines(target: DumpTarget, options: DumpOptions): Generator<string, boolean> {
  const damages = new Damages();
  yield `Dumping ${printableText(target.path)}`;
  for (const entry of dumpFile(target, options, damages) ?? []) {
    const line = entryText(entry, options.skipRecordMetadata);
    if (line !== undefined) yield line;
  }
  if (damages.text === undefined) return true;
  yield damageLine(target.path, damages.text);
  return false;
}

/** `damaged: orders-0/00000000000000000000.log, byte 341: ...` */
export function damageLine(path: string, damage: string): string {
  return `damaged: ${printableText(path)}, ${damage}`;
}
