import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { place, sim, simWhile, written } from "../support/command.ts";

const DIRECTORY = "test/conformance/fixture/kafka-4.3/log-dir";
const LOG = `${DIRECTORY}/plain-0/00000000000000000000.log`;

test("dump shows a real broker's log in the columns of Kafka's own tool", () => {
  const { status, stdout, stderr } = sim(["dump", LOG]);

  const [first, second, third] = stdout.split("\n");
  expect(first).toBe(`Dumping ${LOG}`);
  expect(second).toBe("Log starting offset: 0");
  expect(third).toMatch(
    /^baseOffset: 0 lastOffset: 0 count: 1 .* position: 0 CreateTime: [0-9]+ size: 77 magic: 2 compresscodec: none crc: [0-9]+ isvalid: true$/,
  );
  expect(stdout.match(/^baseOffset: /gm)).toHaveLength(28);
  expect(stderr).toBe("");
  expect(status).toBe(0);
});

test("dump shows records if it is asked to, and their contents", () => {
  const records = sim(["dump", "--deep-iteration", LOG]).stdout;
  const contents = sim(["dump", LOG, "--print-data-log"]).stdout;

  expect(records.match(/^\| offset: /gm)).toHaveLength(81);
  expect(records).not.toContain("payload:");
  expect(contents.match(/^\| offset: .* payload: .+/gm)).toHaveLength(81);
});

test("dump reads the metadata log and its snapshots by themselves, as they are in their place", () => {
  const log = `${DIRECTORY}/__cluster_metadata-0/00000000000000000000.log`;
  const copy = join(place, "00000000000000000000.log");
  cpSync(log, copy);

  expect(sim(["dump", "--print-data-log", log]).stdout).toContain('{"type":"TOPIC_RECORD"');
  expect(sim(["dump", "--print-data-log", copy]).stdout).not.toContain("TOPIC_RECORD");
  expect(sim(["dump", "--cluster-metadata-decoder", copy]).stdout).toContain("TOPIC_RECORD");
  expect(sim(["dump", "--print-data-log", `${DIRECTORY}/bootstrap.checkpoint`]).stdout).toContain(
    '{"type":"FEATURE_LEVEL_RECORD"',
  );
});

test("dump summarises the files of a partition, and of a whole log directory", () => {
  const partition = sim(["dump", `${DIRECTORY}/plain-0/`]);
  const whole = sim(["dump", DIRECTORY]);

  expect(partition.stdout).toBe(`Dumping ${DIRECTORY}/plain-0
  00000000000000000000.index      72    9 entries
  00000000000000000000.log        3055  28 batches, 81 records, offsets 0..80
  00000000000000000000.timeindex  144   12 entries
  00000000000000000060.snapshot   10    empty
  00000000000000000081.snapshot   10    empty
  leader-epoch-checkpoint         18    3 entries
  partition.metadata              43    version: 0 topic_id: lsw_1uIQRIS2iiX3ACjQRQ
`);
  expect(whole.stdout).toContain(partition.stdout);
  expect(whole.stdout.match(/^Dumping /gm)).toHaveLength(15);
  expect([partition.status, whole.status]).toEqual([0, 0]);
});

test("--json is one document with the same in it", () => {
  const { status, stdout } = sim(["dump", "--json", "--print-data-log", LOG]);

  const { schema, files } = JSON.parse(stdout);
  expect(schema).toBe("sim-dump/1");
  expect(files).toHaveLength(1);
  const [{ path, bytes, type, entries, damage }] = files;
  expect([path, bytes, type, damage]).toEqual([LOG, 3055, "log", null]);
  expect(entries.filter(({ kind }: { kind: string }) => kind === "batch")).toHaveLength(28);
  const [record] = entries.filter(({ kind }: { kind: string }) => kind === "record");
  expect(Buffer.from(record.payload, "hex").toString()).toMatch(/^[ -~]+$/);
  expect(record).toMatchObject({ offset: 0, keySize: -1, sequence: -1, headers: [] });
  expect(status).toBe(0);

  const summary = JSON.parse(sim(["dump", "--json", DIRECTORY, "nowhere.log"]).stdout);
  expect(summary.files.length).toBeGreaterThan(100);
  expect(summary.files[0]).toEqual({
    path: `${DIRECTORY}/.kafka_cleanshutdown`,
    bytes: 31,
    type: "clean-shutdown",
    summary: "version: 0 brokerEpoch: 226",
    damage: null,
  });
});

describe("a file that is damaged ends with the byte and the reason, and with 1:", () => {
  const bytes = readFileSync(LOG);
  const name = "00000000000000000000.log";
  const lastLine = (text: string): string => text.trimEnd().split("\n").at(-1) ?? "";

  test.each([
    [
      "cut short",
      bytes.subarray(0, 3000),
      /byte 2943: a batch of 112 bytes, and the file ends after 57$/,
    ],
    [
      "no log at all",
      readFileSync("package.json"),
      /byte 0: a batch of [0-9]+ bytes, and the file ends after [0-9]+$/,
    ],
    ["zeros", Buffer.alloc(5000), /byte 8: a batch length of 0$/],
    [
      "a byte changed",
      Buffer.from(bytes).fill(0, 70, 72),
      /byte 17: a CRC-32C of [0-9]+, and the bytes give [0-9]+$/,
    ],
  ])("%s", (_what, content, reason) => {
    const file = written(name, content);

    const text = sim(["dump", "--print-data-log", file]);
    const json = sim(["dump", "--json", file]);

    expect(lastLine(text.stdout)).toMatch(/^damaged: /);
    expect(lastLine(text.stdout)).toMatch(reason);
    expect(JSON.parse(json.stdout).files[0].damage.reason).toBe(
      /byte [0-9]+: (.*)$/.exec(lastLine(text.stdout))?.[1],
    );
    expect([text.stderr, json.stderr]).toEqual(["", ""]);
    expect([text.status, json.status]).toEqual([1, 1]);
  });

  test("in a directory the others are shown", () => {
    const directory = join(place, "plain-0");
    cpSync(`${DIRECTORY}/plain-0`, directory, { recursive: true });
    written("plain-0/00000000000000000060.snapshot", "rubbish");
    written("plain-0/notes.txt", "mine");

    const { status, stdout } = sim(["dump", directory]);

    expect(stdout).toContain("28 batches, 81 records, offsets 0..80\n");
    expect(stdout).toMatch(/^ {2}notes.txt +4 +not a file of Kafka's$/m);
    expect(stdout).toMatch(/^ {2}0+60.snapshot +7 +empty; damaged$/m);
    expect(lastLine(stdout)).toBe(
      `damaged: ${directory}/00000000000000000060.snapshot, byte 7: the file ends, and the header of a snapshot has 10 bytes`,
    );
    expect(status).toBe(1);
    rmSync(directory, { recursive: true });
  });
});

describe("what cannot be dumped is told, and ends with 2:", () => {
  test.each([
    [["nowhere"], "error: nowhere: no such file or directory\n"],
    [
      [`${DIRECTORY}/plain-1`],
      `error: ${DIRECTORY}/plain-1: no such file or directory; did you mean \`plain-0\`?\n`,
    ],
    [
      ["package.json"],
      "error: package.json: its name tells no kind of file that Kafka keeps; a log directory has .log, .index, .snapshot and others\n",
    ],
    [
      [DIRECTORY, "--print-data-log"],
      `error: ${DIRECTORY} is a directory, which is only summarised; name files, as ${DIRECTORY}/*\n`,
    ],
    [["--max-bytes", "many", LOG], "error: --max-bytes takes a number of bytes, not `many`\n"],
    [
      ["--print-data-lgo", LOG],
      "error: unknown option `--print-data-lgo`; did you mean `--print-data-log`?\n  (sim dump --help shows what there is)\n",
    ],
    [[], "error: missing required argument `paths`\n  (sim dump --help shows what there is)\n"],
  ])("sim dump %j", (words, message) => {
    expect(sim(["dump", ...words])).toEqual({ status: 2, stdout: "", stderr: message });
  });

  test("a misspelt name, with the nearest", () => {
    const file = written("meta.propertis", "");

    expect(sim(["dump", file]).stderr).toContain("did you mean `meta.properties`?");
  });

  test("an index that is to be verified, and has no log", () => {
    const file = written("00000000000000000007.index", new Uint8Array(8));

    expect(sim(["dump", "--verify-index-only", file])).toEqual({
      status: 2,
      stdout: "",
      stderr: `error: ${file} cannot be verified: there is no 00000000000000000007.log beside it\n`,
    });
  });

  test.skipIf(process.platform === "win32")(
    "a file that may not be read, and not the others",
    () => {
      const file = written("00000000000000000009.log", "secret");
      chmodSync(file, 0);
      // To root nothing is forbidden.
      const isRoot = process.getuid?.() === 0;

      const ended = sim(["dump", file, LOG], isRoot ? { uid: 65534 } : {});

      expect(ended.stderr).toBe(`error: ${file} may not be read: permission denied\n`);
      expect(ended.stdout).toContain("Log starting offset: 0\n");
      expect(ended.status).toBe(2);
      rmSync(file);
    },
  );

  test.skipIf(process.platform !== "linux")("what has no end", () => {
    const directory = join(place, "devices");
    mkdirSync(directory);

    expect(sim(["dump", "/dev/zero"]).stderr).toContain("its name tells no kind of file");
    expect(sim(["dump", directory])).toEqual({
      status: 0,
      stdout: `Dumping ${directory}\n`,
      stderr: "",
    });
  });
});

test("dump does not mind if nobody reads on, and looks no further", async () => {
  const logs = Array.from({ length: 200 }, () => LOG);

  const { status, stderr, stdout } = await simWhile(
    ["dump", "--print-data-log", ...logs],
    ({ hangUp }) => hangUp(),
  );

  expect(stderr).toBe("");
  expect(status).toBe(0);
  expect(stdout.length).toBeLessThan(1_000_000);
});
