import { Damages } from "./damage.ts";
import { dumpFile } from "./dump-file.ts";
import type { DumpOptions, DumpTarget } from "./dump-options.ts";
import { kindOf } from "./file-kind.ts";
import { hex } from "./printable.ts";

const SCHEMA = "sim-dump/1";

/** What every document begins with; files or directories follow, one a line, then `JSON_END`. */
export const JSON_START: string = `{"schema":${JSON.stringify(SCHEMA)},"files":[`;
export const JSON_END = "]}";

/**
 * A file as one member of the document's `files`, entry by entry: fields as Kafka's tool names them, what is
 * absent as null, bytes in hex. Returns whether all of it is sound.
 */
export function* dumpJson(target: DumpTarget, options: DumpOptions): Generator<string, boolean> {
  const damages = new Damages();
  const { path, name, source } = target;
  const told = { path, bytes: source.size, type: kindOf(name) ?? null };
  yield `${JSON.stringify(told).slice(0, -1)},"entries":[`;
  let comma = "";
  for (const entry of dumpFile(target, options, damages) ?? []) {
    yield comma + entryJson(entry);
    comma = ",";
  }
  yield `],"damage":${damageJson(damages)}}`;
  return damages.first === undefined;
}

/** The first place where a file is damaged, how many more there are; null if it is sound. */
export function damageJson(damages: Damages): string {
  const { first, more } = damages;
  return JSON.stringify(first === undefined ? null : { ...first, more });
}

/** Any value, bytes in hex. */
function entryJson(entry: object): string {
  return JSON.stringify(entry, (_name, value: unknown) => {
    if (value instanceof Uint8Array) return hex(value);
    return value === undefined ? null : value;
  });
}
