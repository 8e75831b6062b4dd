import { counted, table } from "../layout.ts";
import { Damages } from "./damage.ts";
import { dumpFile } from "./dump-file.ts";
import { damageJson } from "./dump-json.ts";
import type { DumpTarget } from "./dump-options.ts";
import { PLAIN_DUMP } from "./dump-options.ts";
import { damageLine } from "./dump-text.ts";
import type { DumpEntry } from "./entry.ts";
import { entryText } from "./entry-text.ts";
import { kindOf } from "./file-kind.ts";
import { printableText } from "./printable.ts";

/** A file of a directory in a few words. */
export interface FileSummary {
  readonly path: string;
  readonly name: string;
  readonly bytes: number;
  readonly what: string;
  readonly damages: Damages;
}

/** Looks through the whole file, but not into its records. */
export function summarise(target: DumpTarget): FileSummary {
  const { path, name, source } = target;
  const damages = new Damages();
  const tally = new Tally();
  const entries = dumpFile(target, PLAIN_DUMP, damages);
  for (const entry of entries ?? []) tally.add(entry);
  const what = entries === undefined ? "not a file of Kafka's" : tally.words;
  return { path, name, bytes: source.size, what, damages };
}

/** One line a file, and one more for each that is damaged. */
export function summaryLines(path: string, files: readonly FileSummary[]): string[] {
  const rows = files.map(({ name, bytes, what, damages }) => [
    printableText(name),
    String(bytes),
    damages.first === undefined ? what : `${what}; damaged`,
  ]);
  const damaged = files.flatMap((file) => {
    const { text } = file.damages;
    return text === undefined ? [] : [damageLine(file.path, text)];
  });
  return [`Dumping ${printableText(path)}`, ...table(rows), ...damaged];
}

/** A file as one member of the document's `files`. */
export function summaryJson({ path, name, bytes, what, damages }: FileSummary): string {
  const told = { path, bytes, type: kindOf(name) ?? null, summary: what };
  return `${JSON.stringify(told).slice(0, -1)},"damage":${damageJson(damages)}}`;
}

/** Counts entries by kind. */
class Tally {
  #batches = 0;
  #records = 0;
  #messageSets = 0;
  #producers = 0;
  #entries = 0;
  #first: number | undefined;
  #last = -1;
  #fields: DumpEntry | undefined;

  add(entry: DumpEntry): void {
    switch (entry.kind) {
      case "batch":
        this.#batches++;
        this.#records += entry.count;
        this.#first ??= entry.baseOffset;
        this.#last = entry.lastOffset;
        break;
      case "message-set":
        this.#messageSets++;
        this.#first ??= entry.offset;
        this.#last = entry.offset;
        break;
      case "producer":
        this.#producers++;
        break;
      case "note":
      case "record":
        break;
      case "fields":
        this.#fields = entry;
        this.#entries++;
        break;
      default:
        this.#entries++;
    }
  }

  get words(): string {
    const parts: string[] = [];
    if (this.#batches > 0) {
      parts.push(this.#batches === 1 ? "1 batch" : `${this.#batches} batches`);
      parts.push(counted(this.#records, "record"));
    }
    if (this.#messageSets > 0) parts.push(counted(this.#messageSets, "message set"));
    if (this.#first !== undefined) parts.push(`offsets ${this.#first}..${this.#last}`);
    if (this.#producers > 0) parts.push(counted(this.#producers, "producer"));
    const only = this.#entries === 1 ? this.#fields : undefined;
    if (only !== undefined) parts.push(entryText(only, false) ?? "");
    else if (this.#entries > 0) {
      parts.push(this.#entries === 1 ? "1 entry" : `${this.#entries} entries`);
    }
    return parts.length === 0 ? "empty" : parts.join(", ");
  }
}
