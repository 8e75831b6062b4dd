import { readdirSync, readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { byText } from "../../src/base/order.ts";
import { sourceOf } from "../../src/report/dump/byte-source.ts";
import { Damages } from "../../src/report/dump/damage.ts";
import { dumpFile } from "../../src/report/dump/dump-file.ts";
import type { DumpOptions, DumpTarget } from "../../src/report/dump/dump-options.ts";
import { PLAIN_DUMP } from "../../src/report/dump/dump-options.ts";
import { entryText } from "../../src/report/dump/entry-text.ts";
import { printableText } from "../../src/report/dump/printable.ts";
import { RELEASES, RealKafka } from "./real-kafka.ts";

const OPTIONS: Readonly<Record<string, Partial<DumpOptions>>> = {
  "--deep-iteration": { deepIteration: true },
  "--print-data-log": { printDataLog: true },
  "--cluster-metadata-decoder": { printDataLog: true, clusterMetadata: true },
  "--skip-record-metadata": { skipRecordMetadata: true },
  "--index-sanity-check": { indexSanityCheck: true },
};

/** What Kafka's tool printed: by its flags, file by file. */
function* toldDumps(
  release: string,
): Generator<readonly [flags: string, file: string, lines: readonly string[]]> {
  const text = gunzipSync(
    readFileSync(`test/conformance/fixture/${release}/dump.txt.gz`),
  ).toString();
  for (const section of text.split(/^# /m).slice(1)) {
    const flags = section.slice(0, section.indexOf("\n"));
    for (const dump of section.split(/^Dumping /m).slice(1)) {
      const [file = "", ...lines] = dump.trimEnd().split("\n");
      yield [flags, file, lines.map(harmless).filter((line) => line !== "")];
    }
  }
}

/** Kafka's tool ends some lines with a blank, leaves some empty, and writes control characters as they are. */
function harmless(line: string): string {
  return printableText(line.trimEnd());
}

function optionsOf(flags: string): DumpOptions {
  const asked = flags.split(" ").map((flag) => OPTIONS[flag] ?? {});
  return Object.assign({ ...PLAIN_DUMP }, ...asked);
}

/** Our lines; fails if anything is found to be damaged. */
function ourLines(target: DumpTarget, options: DumpOptions): string[] {
  const damages = new Damages();
  const lines: string[] = [];
  for (const entry of dumpFile(target, options, damages) ?? []) {
    const line = entryText(entry, options.skipRecordMetadata);
    if (line !== undefined) lines.push(line);
  }
  expect(damages.text).toBeUndefined();
  return lines;
}

describe.each(RELEASES)(
  "sim dump prints what Kafka's own tool prints of the files of %s:",
  (release) => {
    const kafka = new RealKafka(release);

    test.each([...toldDumps(release)])("%s %s", (flags, path, told) => {
      const [directory = "", name = path] = path.includes("/") ? path.split("/") : ["", path];
      const files = new Set(kafka.list(directory));
      const target: DumpTarget = {
        path,
        name,
        source: sourceOf(kafka.bytes(path)),
        beside: (other) =>
          files.has(other) ? sourceOf(kafka.bytes(`${directory}/${other}`)) : undefined,
      };

      expect(ourLines(target, optionsOf(flags))).toEqual(told);
    });
  },
);

describe("sim dump prints what Kafka's own tool prints of magic 0 and 1:", () => {
  const folder = "test/conformance/fixture/old-magic";
  const logs = readdirSync(folder)
    .filter((name) => name.endsWith(".log"))
    .sort(byText);
  const told = [...toldDumps("old-magic")];

  test.each(logs.map((log, i) => [log, told[i]] as const))("%s", (log, dump) => {
    const [flags = "", name = "", lines] = dump ?? [];
    const bytes = new Uint8Array(readFileSync(`${folder}/${log}`));
    const target = { path: name, name, source: sourceOf(bytes), beside: () => undefined };

    expect(ourLines(target, optionsOf(flags))).toEqual(lines);
  });
});
