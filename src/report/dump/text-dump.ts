import type { ByteSource } from "./byte-source.ts";
import type { Damages } from "./damage.ts";
import type { DumpOptions, DumpTarget } from "./dump-options.ts";
import type { DumpEntry, FieldsEntry } from "./entry.ts";

/** A line of a text file, and where it begins. */
interface Line {
  readonly text: string;
  readonly byte: number;
}

type Fields = FieldsEntry["fields"];

/** A `leader-epoch-checkpoint`. */
export function dumpLeaderEpochs(
  { source }: DumpTarget,
  _options: DumpOptions,
  damages: Damages,
): Generator<DumpEntry> {
  return dumpCheckpoint(source, damages, (line) => {
    const [, epoch, startOffset] = /^(\d{1,10})\s+(\d{1,19})$/.exec(line) ?? [];
    return epoch === undefined
      ? undefined
      : { epoch: Number(epoch), startOffset: Number(startOffset) };
  });
}

/** A checkpoint of offsets: recovery points, high watermarks, log starts, or how far was cleaned. */
export function dumpOffsets(
  { source }: DumpTarget,
  _options: DumpOptions,
  damages: Damages,
): Generator<DumpEntry> {
  return dumpCheckpoint(source, damages, (line) => {
    const [, topic, partition, offset] = /^(\S+)\s+(\d{1,10})\s+(\d{1,19})$/.exec(line) ?? [];
    return topic === undefined
      ? undefined
      : { topic, partition: Number(partition), offset: Number(offset) };
  });
}

/** Version, number of entries, one entry a line (Kafka's `CheckpointFile`). */
function* dumpCheckpoint(
  source: ByteSource,
  damages: Damages,
  read: (line: string) => Fields | undefined,
): Generator<DumpEntry> {
  const lines = linesOf(source, damages);
  const [version, counted, ...entries] = lines;
  // One that was created and never written.
  if (version === undefined) return;
  if (version.text !== "0") {
    damages.add(version.byte, "no version 0, which is the only one");
    return;
  }
  if (counted === undefined || !/^\d{1,10}$/.test(counted.text)) {
    damages.add(counted?.byte ?? source.size, "no number of entries");
    return;
  }
  for (const { text, byte } of entries) {
    const fields = read(text);
    if (fields === undefined) {
      damages.add(byte, "a line that is no entry");
      return;
    }
    yield { kind: "fields", fields };
  }
  if (Number(counted.text) !== entries.length) {
    damages.add(counted.byte, `${counted.text} entries, and ${entries.length} follow`);
  } else if (source.read(source.size - 1, 1)[0] !== NEWLINE) {
    damages.add(source.size, "the file ends within a line");
  }
}

/** A `partition.metadata`: the id of the topic. */
export function* dumpPartitionMetadata(
  { source }: DumpTarget,
  _options: DumpOptions,
  damages: Damages,
): Generator<DumpEntry> {
  const [version, topicId] = linesOf(source, damages);
  if (version?.text !== "version: 0") {
    damages.add(0, "no `version: 0`");
    return;
  }
  const id = /^topic_id: ([\w-]{22})$/.exec(topicId?.text ?? "")?.[1];
  if (id === undefined) damages.add(topicId?.byte ?? source.size, "no `topic_id` of 22 characters");
  else yield { kind: "fields", fields: { version: 0, topic_id: id } };
}

/** A `meta.properties`: whose directory it is. */
export function* dumpMetaProperties(
  { source }: DumpTarget,
  _options: DumpOptions,
  damages: Damages,
): Generator<DumpEntry> {
  const properties = new Map<string, string>();
  for (const { text, byte } of linesOf(source, damages)) {
    if (text === "" || text.startsWith("#") || text.startsWith("!")) continue;
    const [, name, value] = /^\s*([\w.]+)\s*[=:]\s*(.*)$/.exec(text) ?? [];
    if (name === undefined || value === undefined) {
      damages.add(byte, "a line that is no property");
      return;
    }
    properties.set(name, value);
    yield { kind: "fields", fields: { [name]: value } };
  }
  const version = properties.get("version");
  if (version !== "0" && version !== "1") damages.add(source.size, "no version, which is 0 or 1");
  const missing = version === "1" ? ["cluster.id", "node.id"] : [];
  for (const name of missing) {
    if (!properties.has(name)) damages.add(source.size, `no ${name}`);
  }
}

/** `.kafka_cleanshutdown` and `quorum-state`: one object of JSON. Before 3.7 the first was empty. */
export function* dumpJson(
  { source }: DumpTarget,
  _options: DumpOptions,
  damages: Damages,
): Generator<DumpEntry> {
  const text = linesOf(source, damages)
    .map((line) => line.text)
    .join("\n");
  if (text === "") return;
  const fields = parsed(text);
  if (fields === undefined) damages.add(0, "no object of JSON");
  else yield { kind: "fields", fields };
}

const NEWLINE = 10;
/** A checkpoint of a million partitions is less than a quarter of this. */
const LARGEST_TEXT = 256 * 1024 * 1024;

/** The lines of a file, byte by byte: what Kafka writes here is ASCII. */
function linesOf(source: ByteSource, damages: Damages): Line[] {
  if (source.size > LARGEST_TEXT) {
    damages.add(0, `${source.size} bytes are too many for such a file`);
    return [];
  }
  const bytes = source.read(0, source.size);
  const lines: Line[] = [];
  let start = 0;
  while (start < bytes.length) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline < 0 ? bytes.length : newline;
    let text = "";
    for (let at = start; at < end; at++) text += String.fromCharCode(bytes[at] as number);
    lines.push({ text: text.endsWith("\r") ? text.slice(0, -1) : text, byte: start });
    start = end + 1;
  }
  return lines;
}

function parsed(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    return Object.fromEntries(
      Object.entries(value).map(([name, field]) => [
        name,
        typeof field === "number"
          ? field
          : typeof field === "string"
            ? field
            : JSON.stringify(field),
      ]),
    );
  } catch {
    return undefined;
  }
}
