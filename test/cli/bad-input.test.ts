import { chmodSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BASE, baseWith } from "../support/base-scenario.ts";
import type { Ended } from "../support/command.ts";
import { place, sim, written } from "../support/command.ts";

/** Nothing ran, and nobody is shown where in our code that was found. */
function expectRefusal({ status, stdout, stderr }: Ended): void {
  expect(stdout).toBe("");
  expect(status).toBe(2);
  expect(stderr).toMatch(/^error: .*\n/);
  expect(stderr.endsWith("\n")).toBe(true);
  expectNoStack(stderr);
}

function expectNoStack(stderr: string): void {
  expect(stderr).not.toMatch(/^ +at |node:|sim\.cjs|\bundefined\b/m);
}

/** What is written instead of what, and all of the message, `FILE` for the file. */
const MISTAKES: readonly (readonly [what: string, from: string, to: string, message: string])[] = [
  [
    "an unknown key",
    "clients:",
    "clinets:",
    `error: unknown key of a scenario \`clinets\`; did you mean \`clients\`?
  --> FILE:17:1
   |
17 | clinets:
   | ^^^^^^^
`,
  ],
  [
    "a misspelt fault",
    "    crash:",
    "    krash:",
    `error: unknown fault \`krash\`; did you mean \`crash\`?
  --> FILE:22:5
   |
22 |     krash: leader(orders-0)
   |     ^^^^^
`,
  ],
  [
    "a misspelt target",
    "leader(orders-0)",
    "leeder(orders-0)",
    `error: unknown function \`leeder\`; did you mean \`leader\`?
  --> FILE:22:12
   |
22 |     crash: leeder(orders-0)
   |            ^^^^^^
`,
  ],
  [
    "a target in a topic that is not there",
    "leader(orders-0)",
    "leader(odrers-0)",
    `error: unknown partition \`odrers-0\`; did you mean \`orders-0\`?
  --> FILE:22:19
   |
22 |     crash: leader(odrers-0)
   |                   ^^^^^^^^
`,
  ],
  [
    "a broker that is not there",
    "leader(orders-0)",
    "broker-9",
    `error: unknown name \`broker-9\`; did you mean \`broker-1\`?
  --> FILE:22:12
   |
22 |     crash: broker-9
   |            ^^^^^^^^
`,
  ],
  [
    "a missing unit",
    "settle: 5s",
    "settle: 5",
    `error: \`settle: 5\` has no unit; write 5s or 5ms
  --> FILE:23:9
   |
23 | settle: 5
   |         ^
`,
  ],
  [
    "a wrong type",
    "brokers: 3",
    "brokers: three",
    `error: \`brokers\` takes an integer from 1 to 200, or a draw such as one-of(1|3), not \`three\`
  --> FILE:7:12
  |
7 |   brokers: three
  |            ^^^^^
`,
  ],
  [
    "a replication factor over the brokers",
    "replication.factor: 3",
    "replication.factor: 5",
    `error: a replication factor of 5 is more than 3 brokers
  --> FILE:14:25
   |
14 |     replication.factor: 5
   |                         ^
`,
  ],
  [
    "an ISR over the replicas",
    "min.insync.replicas: 2",
    "min.insync.replicas: 4",
    `error: min.insync.replicas=4 is more than the 3 of \`orders\`; Kafka then acts as if it were 3
  --> FILE:16:28
   |
16 |       min.insync.replicas: 4
   |                            ^
`,
  ],
  [
    "a config that Kafka does not know",
    "replica.lag.time.max.ms",
    "replica.lag.tiem.max.ms",
    `error: unknown broker config \`replica.lag.tiem.max.ms\`; did you mean \`replica.lag.time.max.ms\`?
  --> FILE:10:5
   |
10 |     replica.lag.tiem.max.ms: 10000
   |     ^^^^^^^^^^^^^^^^^^^^^^^
`,
  ],
  [
    "a key given twice",
    "seed: 1\n",
    "seed: 1\nseed: 2\n",
    `error: the key \`seed\` is given twice; first in line 4
  --> FILE:5:1
  |
5 | seed: 2
  | ^^^^
`,
  ],
  [
    "a tab",
    "    at: 1s",
    "\tat: 1s",
    `error: a tab stands where YAML wants spaces
  --> FILE:21:1
   |
21 |  at: 1s
   | ^
`,
  ],
  [
    "a misspelt expectation",
    "- no-divergence",
    "- no-divergance",
    `error: unknown expectation \`no-divergance\`; did you mean \`no-divergence\`?
  --> FILE:25:5
   |
25 |   - no-divergance
   |     ^^^^^^^^^^^^^
`,
  ],
];

test.each(MISTAKES)("%s is told with its place", (_what, from, to, message) => {
  const file = written("mistake.yaml", baseWith([from, to]));

  const ended = sim(["run", file]);

  expectRefusal(ended);
  expect(ended.stderr.replaceAll(file, "FILE")).toBe(message);
});

test("the mistakes of a file are told in one go, in the order of the file", () => {
  const file = written(
    "many.yaml",
    baseWith(
      ["replication.factor: 3", "replication.factor: 5"],
      ["clients:", "clinets:"],
      ["    crash:", "    krash:"],
      ["settle: 5s", "settle: 5"],
      ["- no-divergence", "- no-divergance"],
    ),
  );

  for (const command of [["run"], ["check"], ["run", "--json"]]) {
    const ended = sim([...command, file]);

    expectRefusal(ended);
    expect([
      ...ended.stderr.matchAll(/--> .*:(\d+):\d+\n *\|\n\1 \| .+\n *\| *\^+$/gm),
    ]).toHaveLength(5);
    expect(ended.stderr.match(/(?<=did you mean `).*(?=`)/g)).toEqual([
      "clients",
      "crash",
      "no-divergence",
    ]);
  }
});

test("a line that does not fit the terminal is shown around the mistake", () => {
  const long = `rate: 100/s, record-size: 100, keys: 50, record: 100, config: { acks: all, linger.ms: 5 }`;
  const file = written("long.yaml", baseWith(["rate: 100/s, records: 100", long]));

  const { stderr } = sim(["run", file]);

  const [, line = "", carets = ""] = /^18 (\| .*)\n *(\| .*)$/m.exec(stderr) ?? [];
  expect(line.slice(carets.indexOf("^"), carets.lastIndexOf("^") + 1)).toBe("record");
  expect(line.length).toBeLessThanOrEqual(77);
  expect(line).toMatch(/\.\.\./);
});

describe("what is no scenario at all is refused:", () => {
  const refused = (name: string, content: string | Uint8Array, message: RegExp): void => {
    test(name, () => {
      const file = written("no-scenario.yaml", content);

      const ended = sim(["run", file]);

      expectRefusal(ended);
      expect(ended.stderr.replaceAll(file, "FILE")).toMatch(message);
    });
  };

  refused("an empty file", "", /^error: the file is empty; .*\n {2}--> FILE:1:1\n$/);
  refused("a comment", "# nothing\n", /^error: the file is empty; /);
  refused("a list", "- a\n", /^error: a scenario is a mapping .*\n {2}--> FILE:1:1\n/);
  refused("text", "just text\n", /^error: a scenario is a mapping /);
  refused("no YAML", "a: [1, 2\nb: {", /^error: not valid YAML: .*\n {2}--> FILE:2:1\n/);
  refused("an open quote", 'version: 1\nname: "x\n', /^error: .* quote .*\n {2}--> FILE:2:7\n/);
  refused(
    "bytes that are no text",
    Uint8Array.from({ length: 5000 }, (_, i) => (i * 151 + 7) % 256),
    /^error: this byte is not UTF-8; a scenario is UTF-8 text\n {2}--> FILE:\d+:\d+\n$/,
  );
  refused(
    "text in another encoding",
    Buffer.from(BASE.replace("A leader", "Caf\u00e9"), "latin1"),
    /not UTF-8; .*\n {2}--> FILE:3:13\n {2}\|\n3 \| summary: Caf. dies\.\n {2}\| {13}\^\n$/,
  );
  refused("control characters", BASE.replace("A leader", "\u001b[2J"), /control character/);
  refused(
    "10 MB",
    `${BASE}${"# padding, padding, padding\n".repeat(374_492)}`,
    /^error: FILE has 10\.0 MiB; a scenario may have 1 MiB\n$/,
  );

  test("a file that is not there, with the nearest that is", () => {
    written("near-miss.yaml", BASE);

    expectRefusal(sim(["run", "scenarios/leader-failovr.yaml"]));
    expect(sim(["run", "scenarios/leader-failovr.yaml"]).stderr).toBe(
      "error: scenarios/leader-failovr.yaml: no such file; did you mean `scenarios/leader-failover.yaml`?\n",
    );
    expect(sim(["run", "leader-failover"]).stderr).toContain(
      "did you mean `scenarios/leader-failover.yaml`?",
    );
    expect(sim(["run", join(place, "naer-miss.yaml")]).stderr).toContain("/near-miss.yaml`?");
    expect(sim(["run", "nothing/like/it"]).stderr).toContain("`sim list` shows what there is");
  });

  test("a directory", () => {
    const ended = sim(["run", "scenarios"]);

    expectRefusal(ended);
    expect(ended.stderr).toBe("error: scenarios is a directory; name a scenario in it\n");
  });

  test.skipIf(process.platform === "win32")("a file that may not be read", () => {
    const file = written("secret.yaml", BASE);
    chmodSync(file, 0);
    // To root nothing is forbidden.
    const isRoot = process.getuid?.() === 0;

    const ended = sim(["run", file], isRoot ? { uid: 65534 } : {});

    expectRefusal(ended);
    expect(ended.stderr).toBe(`error: ${file} may not be read: permission denied\n`);
    rmSync(file);
  });

  test.skipIf(process.platform !== "linux")("a device without an end", () => {
    expectRefusal(sim(["run", "/dev/zero"]));
  });
});

describe("what another system or editor wrote is read:", () => {
  const expected = sim(["run", written("base.yaml", BASE)]).stdout;
  const file = join(place, "base.yaml");

  test.each([
    ["lines that end with CR and LF", BASE.replaceAll("\n", "\r\n")],
    ["a byte order mark", `\ufeff${BASE}`],
    ["no newline at the end", BASE.trimEnd()],
  ])("%s", (_what, text) => {
    written("base.yaml", text);

    expect(sim(["run", file])).toEqual({ status: 0, stdout: expected, stderr: "" });
  });
});

describe("what only shows while it runs is inconclusive:", () => {
  test.each([
    [
      "a target that names nothing",
      "leader(orders-0)",
      "osr(orders-0)",
      "inconclusive: fault [kill] never fired: `osr(orders-0)` named no node at 1.000s\n",
    ],
    [
      "a fault that never fires",
      "at: 1s",
      "when: hw(orders-0) >= 100000",
      "inconclusive: fault [kill] never fired: `hw(orders-0) >= 100000` never held;\n  waited 120.000s\n",
    ],
    [
      "a run that does not end",
      "settle: 5s",
      "settle: 5s\nlimit: 3s",
      "inconclusive: the scenario's limit of 3s simulated is spent\n",
    ],
    [
      "a run with events without end",
      "settle: 5s",
      "settle: 5s\nlimit: { events: 1500 }",
      "inconclusive: the scenario's limit of 1500 events is spent\n",
    ],
  ])("%s", (_what, from, to, reason) => {
    const file = written("inconclusive.yaml", baseWith([from, to]));

    const { status, stdout, stderr } = sim(["run", file]);

    expect(stderr).toBe("");
    expect(stdout).toContain(reason);
    expect(stdout).toMatch(/^INCONCLUSIVE {2}/m);
    expect(stdout).toContain(`\n  again   sim run ${file} --seed 1\n`);
    expect(status).toBe(3);
  });
});

test("a config that is not modelled is a warning, and it runs", () => {
  const file = written(
    "warning.yaml",
    baseWith(["    replica.lag", "    log.cleaner.threads: 2\n    replica.lag"]),
  );

  const ran = sim(["run", file]);
  const checked = sim(["check", file]);

  const warning = `warning: \`log.cleaner.threads\` has no effect here: Kafka knows it, the simulator does not model it
  --> ${file}:10:5
   |
10 |     log.cleaner.threads: 2
   |     ^^^^^^^^^^^^^^^^^^^
`;
  expect(ran.stderr).toBe(warning);
  expect(ran.status).toBe(0);
  expect(checked.stderr).toBe(warning);
  expect(checked.stdout).toBe(`ok  ${file}  1 fault, 1 expectation, 1 variant, 1 warning\n`);
});

describe("arguments that mean nothing are refused:", () => {
  const base = written("arguments.yaml", BASE);

  test.each([
    [
      ["--seed", "abc"],
      "error: --seed takes a whole number from 0 to 9007199254740991, not `abc`\n",
    ],
    [["--seed", "-1"], "error: --seed takes a whole number from 0 to 9007199254740991, not `-1`\n"],
    [
      ["--seed", "1e3"],
      "error: --seed takes a whole number from 0 to 9007199254740991, not `1e3`\n",
    ],
    [["--seed", ""], "error: --seed takes a whole number from 0 to 9007199254740991, not ``\n"],
    [["--variant", "nope"], `error: ${base} has no variant \`nope\`; it has \`five-brokers\`\n`],
    [
      ["--variant", "fvie-brokers"],
      `error: ${base} has no variant \`fvie-brokers\`; did you mean \`five-brokers\`?\n`,
    ],
    [
      ["--sede", "1"],
      "error: unknown option `--sede`; did you mean `--seed`?\n  (sim run --help shows what there is)\n",
    ],
    [
      ["--seed"],
      "error: option `--seed <n>` argument missing\n  (sim run --help shows what there is)\n",
    ],
    [
      ["--color", "blue"],
      "error: option `--color <when>` argument `blue` is invalid. Allowed choices are auto, always, never.\n  (sim run --help shows what there is)\n",
    ],
    [
      ["another.yaml"],
      "error: too many arguments for `run`. Expected 1 argument but got 2.\n  (sim run --help shows what there is)\n",
    ],
    [
      ["--events", "no/such/directory/x"],
      "error: --events: no/such/directory/x cannot be written: there is no such directory\n",
    ],
    [["--events", "test"], "error: --events: test cannot be written: it is a directory\n"],
    [["--events", base], `error: --events: ${base} is a scenario, and would be overwritten\n`],
  ])("sim run FILE %s", (words, message) => {
    const ended = sim(["run", base, ...words]);

    expectRefusal(ended);
    expect(ended.stderr).toBe(message);
    expect(readFileSync(base, "utf8")).toBe(BASE);
  });

  test.each([
    [
      ["rum"],
      "error: unknown command `rum`; did you mean `run`?\n  (sim --help shows what there is)\n",
    ],
    [["--nope"], "error: unknown option `--nope`\n  (sim --help shows what there is)\n"],
    [["run"], "error: missing required argument `file`\n  (sim run --help shows what there is)\n"],
    [
      ["check"],
      "error: missing required argument `files`\n  (sim check --help shows what there is)\n",
    ],
    [["list", "nowhere"], "error: nowhere: no such directory\n"],
    [["list", "package.json"], "error: package.json is not a directory\n"],
    [["list", "src"], "error: src has no scenario: no file in it is .yaml\n"],
  ])("sim %s", (words, message) => {
    const ended = sim(words);

    expectRefusal(ended);
    expect(ended.stderr).toBe(message);
  });

  test("none at all", () => {
    const { status, stdout, stderr } = sim([]);

    expect(stdout).toBe("");
    expect(stderr).toMatch(/^Usage: sim <command>/);
    expect(status).toBe(2);
  });
});

test("a file that has mistakes keeps the others neither from being checked nor from being listed", () => {
  const directory = join(place, "several");
  mkdirSync(directory);
  const good = written("several/a-good.yaml", BASE);
  const bad = written("several/b-bad.yaml", baseWith(["    crash:", "    krash:"]));
  const last = written("several/c-good.yaml", BASE);
  const gone = join(directory, "nothing-like-those");

  const checked = sim(["check", good, bad, gone, last]);
  const listed = sim(["list", directory]);

  expect(checked.stdout.match(/^ok .*/gm)).toHaveLength(2);
  expect(checked.stderr.match(/^error: .*/gm)).toEqual([
    "error: unknown fault `krash`; did you mean `crash`?",
    `error: ${gone}: no such file; \`sim list\` shows what there is`,
    "error: 2 of 4 files have mistakes",
  ]);
  expect(checked.status).toBe(2);
  expect(listed.stdout).toBe(`${good}
  A leader dies.
  --variant five-brokers
${bad}
  cannot be run: it has mistakes
${last}
  A leader dies.
  --variant five-brokers
`);
  expect(listed.stderr).toMatch(/^error: unknown fault `krash`/);
  expect(listed.status).toBe(2);
});
