import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BASE } from "../support/base-scenario.ts";
import { place, sim, written } from "../support/command.ts";

const file = written("disk.yaml", BASE);
const LOG = "kafka-logs/orders-0/00000000000000000000.log";

/** Runs `sim disk` on the base, a second after time zero, where the leader has just died. */
function disk(...words: readonly string[]): ReturnType<typeof sim> {
  return sim(["disk", file, "--at", "1s", "--broker", "2", ...words]);
}

interface Listed {
  readonly path: string;
  readonly bytes: number;
  readonly durable: string | number;
}

function listed(...words: readonly string[]): readonly Listed[] {
  return JSON.parse(disk("--json", ...words).stdout).files;
}

test("disk lists the files of a node at an instant, and what of them is durable", () => {
  const { status, stdout, stderr } = disk();

  expect(stdout).toMatch(
    /^broker-2 {2}base {2}seed 1 {2}at 1\.000s\n\n {2}bytes {2}durable {2}file\n/,
  );
  expect(stdout).toMatch(new RegExp(`^ +[0-9]+ {8}0 {2}${LOG}$`, "m"));
  expect(stdout).toMatch(/^ +43 {6}all {2}kafka-logs\/orders-0\/partition\.metadata$/m);
  expect(stdout.split("\n").filter((text) => text.length > 80)).toEqual([]);
  expect(stderr).toBe("");
  expect(status).toBe(0);
  expect(disk("ls").stdout).toBe(stdout);
});

test("the same instant of the same seed has the same files, and another has others", () => {
  expect(disk("--json").stdout).toBe(disk("--json").stdout);

  const sizeAt = (at: string): number => {
    const { stdout } = sim(["disk", file, "--broker", "2", "--at", at, "--json", "ls", LOG]);
    return JSON.parse(stdout).files[0].bytes;
  };
  expect(sizeAt("0")).toBe(0);
  expect(sizeAt("1s")).toBeGreaterThan(sizeAt("500ms"));
});

test("without an instant it is the end of the run", () => {
  const { stdout } = sim(["disk", file, "--broker", "2", "--json"]);

  const { atUs, files } = JSON.parse(stdout);
  expect(atUs).toBeGreaterThan(5_000_000);
  expect(files.map(({ path }: Listed) => path)).toContain(LOG);
});

test("disk lists a directory or a file by its path", () => {
  const paths = listed("ls", "kafka-logs/orders-0/").map(({ path }) => path);

  expect(paths).toContain(LOG);
  expect(paths.every((path) => path.startsWith("kafka-logs/orders-0/"))).toBe(true);
  expect(listed("ls", `/${LOG}`).map(({ path }) => path)).toEqual([LOG]);
});

test("cat writes a file as it is, dump what is in it", () => {
  const id = disk("cat", "kafka-logs/orders-0/partition.metadata");
  const dumped = disk("dump", LOG, "--deep-iteration");
  const summary = disk("dump", "kafka-logs/orders-0");

  expect(id.stdout).toMatch(/^version: 0\ntopic_id: [\w-]{22}$/);
  expect(dumped.stdout).toMatch(
    new RegExp(`^Dumping ${LOG}\nLog starting offset: 0\nbaseOffset: 0 `),
  );
  expect(dumped.stdout.match(/^\| offset: /gm)?.length).toBeGreaterThan(50);
  expect(summary.stdout).toContain(" records, offsets 0..");
  expect([id.status, dumped.status, summary.status]).toEqual([0, 0, 0]);
});

test("the disk of a controller is shown as well", () => {
  const { stdout } = sim(["disk", file, "--at", "1s", "--controller", "1"]);

  expect(stdout).toMatch(/^controller-1 /);
  expect(stdout).toContain("kafka-logs/__cluster_metadata-0/quorum-state\n");
});

test("export writes the files to a new directory, byte for byte, and sim dump reads them there", () => {
  const directory = join(place, "exported", "deep");

  const { status, stdout } = disk("export", directory);

  expect(stdout).toMatch(
    /^wrote .*exported\/deep {2}[0-9]+ files, [0-9]+ bytes: broker-2 at 1\.000s\n$/,
  );
  expect(status).toBe(0);
  for (const { path, bytes } of listed()) {
    const content = readFileSync(join(directory, path));
    expect(content.length, path).toBe(bytes);
  }
  const real = sim(["dump", "--print-data-log", join(directory, LOG)]);
  const simulated = disk("dump", "--print-data-log", LOG);
  expect(real.stdout.split("\n").slice(1)).toEqual(simulated.stdout.split("\n").slice(1));
  expect(real.status).toBe(0);

  const again = disk("export", directory);
  expect(again).toEqual({
    status: 2,
    stdout: "",
    stderr: `error: ${directory} is not empty; name a new directory\n`,
  });
});

test("export overwrites nothing", () => {
  const directory = join(place, "mine");
  mkdirSync(directory);
  writeFileSync(join(directory, "letter.txt"), "Dear Kafka");

  expect(disk("export", directory).status).toBe(2);
  expect(disk("export", join(directory, "letter.txt")).stderr).toMatch(
    /letter\.txt cannot be written to: it is a file\n$/,
  );
  expect(readdirSync(directory)).toEqual(["letter.txt"]);
});

describe("what cannot be shown is told, and ends with 2:", () => {
  test.each([
    [["--at", "1h", "--broker", "1"], /^error: --at 3600\.000s: the run ends at [0-9.]+s\n$/],
    [["--at", "1", "--broker", "1"], /^error: `--at: 1` has no unit; write 1s or 1ms\n$/],
    [["--at", "soon", "--broker", "1"], /^error: `--at` takes a duration such as 250ms/],
    [
      ["--broker", "4"],
      /^error: there is no broker-4; there is broker-1, broker-2 and broker-3\n$/,
    ],
    [["--broker", "p1"], /^error: there is no broker-p1; /],
    [["--controller", "2"], /^error: there is no controller-2; there is controller-1\n$/],
    [[], /^error: --broker says whose disk; there is broker-1, broker-2 and broker-3\n$/],
    [
      ["--broker", "1", "--controller", "1"],
      /^error: --broker and --controller: only one disk is shown at a time\n$/,
    ],
    [["--broker", "1", "dmup", LOG], /^error: sim disk cannot `dmup`; did you mean `dump`\?\n$/],
    [
      ["--broker", "1", "format"],
      /^error: sim disk cannot `format`; it can ls, cat, dump, export\n$/,
    ],
    [["--broker", "1", "cat"], /^error: `cat` needs a path\n$/],
    [["--broker", "1", "cat", LOG, LOG], /^error: `cat` takes one path, not 2\n$/],
    [["--broker", "1", "export"], /^error: `export` needs a directory\n$/],
    [
      ["--broker", "1", "cat", "kafka-logs"],
      /^error: kafka-logs is a directory; `ls` shows what is in it\n$/,
    ],
    [
      ["--broker", "1", "cat", "kafka-logs/order-0/partition.metadata"],
      /^error: kafka-logs\/order-0\/partition\.metadata: no such file or directory on broker-1; did you mean `kafka-logs\/orders-0\/partition\.metadata`\?\n$/,
    ],
    [
      ["--broker", "1", "ls", "nothing/like/it"],
      /^error: nothing\/like\/it: no such file or directory on broker-1; `ls` shows what there is\n$/,
    ],
    [["--broker", "1", "--seed", "x"], /^error: --seed takes a whole number/],
    [["--broker", "1", "--variant", "five-borkers"], /did you mean `five-brokers`\?\n$/],
  ])("sim disk FILE %j", (words, message) => {
    const { status, stdout, stderr } = sim(["disk", file, ...words]);

    expect(stdout).toBe("");
    expect(stderr).toMatch(message);
    expect(status).toBe(2);
  });

  test("an action before the scenario", () => {
    expect(sim(["disk", "export", file, "--broker", "1"]).stderr).toContain(
      `; the scenario comes first: sim disk ${file} export`,
    );
  });

  test("a scenario with mistakes", () => {
    const bad = written("bad-disk.yaml", BASE.replace("crash:", "krash:"));

    const { status, stdout, stderr } = sim(["disk", bad, "--broker", "1"]);

    expect(stdout).toBe("");
    expect(stderr).toMatch(
      /^error: unknown fault `krash`; did you mean `crash`\?\n {2}--> .*bad-disk/,
    );
    expect(status).toBe(2);
  });
});
