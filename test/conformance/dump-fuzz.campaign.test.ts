import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { byText } from "../../src/base/order.ts";
import { sourceOf } from "../../src/report/dump/byte-source.ts";
import type { DumpOptions, DumpTarget } from "../../src/report/dump/dump-options.ts";
import { PLAIN_DUMP } from "../../src/report/dump/dump-options.ts";
import { dumpLines } from "../../src/report/dump/dump-text.ts";
import { kindOf } from "../../src/report/dump/file-kind.ts";
import { printableText } from "../../src/report/dump/printable.ts";
import { runsOf } from "../support/campaign-runs.ts";
import { mutated, withRightCrcs } from "../support/mutated-file.ts";
import { SmallRandom } from "../support/small-random.ts";

const FIXTURE = "test/conformance/fixture";

const MUTATIONS = runsOf(5_000, 100_000);

const EVERYTHING: DumpOptions = { ...PLAIN_DUMP, deepIteration: true, printDataLog: true };
const CHECKS: readonly DumpOptions[] = [
  EVERYTHING,
  EVERYTHING,
  { ...EVERYTHING, clusterMetadata: true },
  { ...PLAIN_DUMP, indexSanityCheck: true },
];

/** Every file of the fixture whose name Kafka knows. */
const files = readdirSync(FIXTURE, { recursive: true, encoding: "utf8" })
  .map((path) => path.replaceAll("\\", "/"))
  .sort(byText)
  .filter((path) => kindOf(path.slice(path.lastIndexOf("/") + 1)) !== undefined)
  .map((path) => ({ path, bytes: new Uint8Array(readFileSync(`${FIXTURE}/${path}`)) }));

function targetOf(path: string, bytes: Uint8Array): DumpTarget {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const folder = path.slice(0, path.length - name.length);
  const beside = (other: string) => {
    const found = files.find((file) => file.path === folder + other);
    return found === undefined ? undefined : sourceOf(found.bytes);
  };
  return { path, name, source: sourceOf(bytes), beside };
}

test(`${MUTATIONS} damaged files are dumped as far as they are sound, and end with one line that says why`, () => {
  const random = new SmallRandom(42);
  const kinds = new Set<string | undefined>();
  let sound = 0;
  for (let i = 0; i < MUTATIONS; i++) {
    const { path, bytes } = files[random.below(files.length)] as (typeof files)[number];
    const damaged = mutated(bytes, random);
    const content = random.below(2) === 0 ? damaged : withRightCrcs(path, damaged);
    const target = targetOf(path, content);
    const dump = dumpLines(target, CHECKS[random.below(CHECKS.length)] as DumpOptions);
    let size = 0;
    let last = "";
    let next = dump.next();
    for (; next.done !== true; next = dump.next()) {
      last = next.value;
      size += last.length;
      if (printableText(last) !== last) throw new Error(`not one line of ${path}: ${last}`);
      if (size > LONGEST_OUTPUT) throw new Error(`${path}, mutation ${i}: no end`);
    }
    if (next.value) sound++;
    else {
      const [, byte] = /^damaged: .*, byte ([0-9]+): .{4,}$/.exec(last) ?? [];
      if (byte === undefined) throw new Error(`no reason: ${last}`);
      if (Number(byte) > content.length) throw new Error(`beyond the end: ${last}`);
    }
    kinds.add(kindOf(target.name));
  }
  expect(kinds.size).toBe(12);
  // Where nothing is found wrong: cuts between batches, changes of what no CRC covers, none at all.
  expect(sound).toBeGreaterThan(MUTATIONS / 50);
  expect(sound).toBeLessThan(MUTATIONS / 2);
}, 3_600_000);

/** The fixture's largest file makes half a million characters. */
const LONGEST_OUTPUT = 20_000_000;
