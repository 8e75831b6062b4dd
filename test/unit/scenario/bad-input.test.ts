import { expect, test } from "vitest";
import { formatComplaint } from "../../../src/scenario/complaint.ts";
import { readScenario } from "../../../src/scenario/read-scenario.ts";
import { complaintsOf, GOOD_SCENARIO, scenarioOf, withText } from "../../support/scenario-text.ts";

test("a scenario without a mistake is complained about in nothing", () => {
  const { scenario, complaints, warnings } = readScenario(GOOD_SCENARIO, "good.yaml");

  expect(complaints).toEqual([]);
  expect(warnings).toEqual([]);
  expect(scenario?.name).toBe("leader-failover");
});

test("a complaint shows the place, the line and carets below what is meant", () => {
  const text = withText("    crash: leader(orders-0)", "    krash: leader(orders-0)");
  const { complaints } = readScenario(text, "scenarios/leader-failover.yaml");

  const shown = complaints.map((complaint) => formatComplaint(complaint, text));

  expect(shown).toEqual([
    [
      "error: unknown fault `krash`; did you mean `crash`?",
      "  --> scenarios/leader-failover.yaml:32:5",
      "   |",
      "32 |     krash: leader(orders-0)",
      "   |     ^^^^^",
    ].join("\n"),
  ]);
  expect(complaints[0]?.suggestion).toBe("crash");
});

/** What is written instead of what, and the one complaint: line:column:length message. */
const MISTAKES: readonly (readonly [from: string, to: string, complaint: string])[] = [
  // Keys.
  ["summary:", "sumary:", "3:1:6 unknown key of a scenario `sumary`; did you mean `summary`?"],
  ["    rate:", "    rat:", "23:5:3 unknown key of a producer `rat`; did you mean `rate`?"],
  [
    "    delay: 20s",
    "    dleay: 20s",
    "35:5:5 unknown key of a step `dleay`; did you mean `delay`?",
  ],
  [
    "    direction: to",
    "    unflushed: torn",
    "39:5:9 `unflushed` means nothing to `isolate`; it goes with `power-off`",
  ],
  [
    "time: 15s, after",
    "time: 15s, afer",
    "46:54:4 unknown key of `leader-within` `afer`; did you mean `after`?",
  ],
  [
    "replica.lag.time.max.ms",
    "replica.lag.time.mx.ms",
    "11:5:22 unknown broker config `replica.lag.time.mx.ms`; did you mean `replica.lag.time.max.ms`?",
  ],
  ["seed: 42\n", "seed: 42\nseed: 43\n", "5:1:4 the key `seed` is given twice; first in line 4"],
  // Units and types.
  ["settle: 30s", "settle: 30", "42:9:2 `settle: 30` has no unit; write 30s or 30ms"],
  [
    "settle: 30s",
    "settle: 30sec",
    "42:9:5 `settle` takes a duration such as 250ms or 1m30s, not `30sec`",
  ],
  [
    "settle: 30s",
    "settle: { time: 30s, core: most }",
    "42:28:4 `core` cannot be `most`; there are `all` and `majority`",
  ],
  [
    "settle: 30s",
    "settle: { tme: 30s }",
    "42:11:3 unknown key of `settle` `tme`; did you mean `time`?",
  ],
  [
    "settle: 30s",
    "settle: [30s]",
    "42:9:5 `settle` takes a duration such as 250ms or 1m30s, not a list",
  ],
  [
    "settle: 30s",
    "settle: uniform(1s..5s)",
    "42:9:15 `settle` cannot be drawn; write a duration such as 30s",
  ],
  ["rate: 100/s", "rate: 100", "23:11:3 `rate` takes a rate such as 100/s, not `100`"],
  ["for: 10s", "for: uniform(5s..1s)", "40:10:15 `for`: 5s is more than 1s"],
  ["seed: 42", "seed: forty", "4:7:5 `seed` takes an integer from 0 on, not `forty`"],
  ["brokers: 3", "brokers: [ ]", "8:12:3 a cluster needs a broker"],
  ["controllers: 3", "controllers: 2", "9:16:1 a quorum has 1, 3 or 5 controllers, not 2"],
  ["acks: all", "acks: two", "25:21:3 `acks` must be one of all, -1, 0, 1, not `two`"],
  [
    "min.insync.replicas: 2",
    "min.insync.replicas: 0",
    "18:28:1 `min.insync.replicas` must be at least 1, not `0`",
  ],
  [
    "min.insync.replicas: 2",
    "min.insync.replicas: 1.5",
    "18:28:3 `min.insync.replicas` takes a whole number, not `1.5`",
  ],
  [
    'kafka: "4.3"',
    "kafka: 4.3",
    '5:8:3 write `kafka: "4.3"` in quotes; without them it is a number',
  ],
  ['kafka: "4.3"', 'kafka: "3.9"', '5:8:5 only Kafka "4.3" is modelled, not `3.9`'],
  ["version: 1", "version: 2", "1:10:1 this is version 1 of the language, not `2`"],
  [
    "summary: A leader dies while a producer writes.",
    "summary:",
    "3:1:7 `summary` takes a text, not nothing",
  ],
  // Topology.
  [
    "replication.factor: 3",
    "replication.factor: 5",
    "16:25:1 a replication factor of 5 is more than 3 brokers",
  ],
  [
    "    partitions: 2\n    replication.factor: 3\n",
    "    replicas: { 0: [1, 2], 1: [2, 4] }\n",
    "15:31:6 there is no broker 4 to have a replica; there are 3 brokers",
  ],
  [
    "brokers: 3",
    "brokers: one-of(2|5)",
    "16:25:1 a replication factor of 3 is more than 2 brokers (the fewest that can be drawn)",
  ],
  ["consume: orders", "consume: ordres", "27:14:6 unknown topic `ordres`; did you mean `orders`?"],
  [
    "consume: orders",
    "consume: [orders, ordres]\n    group: g",
    "27:23:6 unknown topic `ordres`; did you mean `orders`?",
  ],
  ["consume: orders", "consume: [orders]\n    work: 5ms", "28:11:3 `work` needs `group`"],
  [
    "consume: orders",
    "consume: /ord.*/",
    "27:5:16 only a member of a group reads several topics: it needs `group`",
  ],
  [
    "consume: orders",
    "consume: orders\n    partitions: [0, 7]",
    "28:17:6 `orders` has no partition 7; it has 2",
  ],
  [
    "consume: orders",
    "consume: [orders, orders]\n    group: g\n    partitions: [0]",
    "29:17:3 `partitions` are of one topic",
  ],
  ["consume: orders", "consume: orders\n    partitions: []", "28:17:2 `partitions` names none"],
  [
    "consume: orders",
    "consume: orders\n    group: g\n    workers: 3",
    "29:14:1 `workers` needs `work`",
  ],
  [
    "consume: orders",
    "consume: orders\n    group: g\n    commit: each-finished",
    "29:13:13 `commit: each-finished` needs `work`",
  ],
  ["consume: orders", "consume: /ord[/\n    group: g", "27:14:6 `/ord[/` is no pattern"],
  ["consume: orders", "consume: /return.*/\n    group: g", "27:5:19 no topic matches /return.*/"],
  [
    "consume: orders",
    "consume: orders\n    group: g\n    commit-when: before",
    "29:18:6 `commit-when` needs `commit: sync` or `commit: async`",
  ],
  ["hw(orders-0) >= 100", "processed(g) >= 100", "31:21:1 unknown group `g`"],
  // Who reads and writes.
  [
    "consume: orders",
    "process: { from: orders, group: g, guarantee: at-least-once }",
    "27:14:52 `process` needs the key `to` or `store`",
  ],
  [
    "consume: orders",
    "process: { from: orders, store: { name: db, key: none }, group: g, guarantee: exactly-once }",
    "27:83:12 exactly-once needs `to`: a transaction reaches only what is written to Kafka",
  ],
  [
    "consume: orders",
    "process: { from: ordres, to: orders, group: g, guarantee: at-most-once }",
    "27:22:6 unknown topic `ordres`; did you mean `orders`?",
  ],
  [
    "consume: orders",
    "process: { from: orders, to: ordres, group: g, guarantee: at-most-once }",
    "27:34:6 unknown topic `ordres`; did you mean `orders`?",
  ],
  [
    "consume: orders",
    "process: { from: /returns/, to: orders, group: g, guarantee: at-most-once }",
    "27:5:75 no topic matches /returns/",
  ],
  [
    "consume: orders",
    "process: { from: orders, to: orders, guarantee: at-most-once }",
    "27:14:53 `process` needs the key `group`",
  ],
  [
    "consume: orders",
    "process: { from: orders, to: orders, group: g, guarantee: exactly-one }",
    "27:63:11 `guarantee` cannot be `exactly-one`; did you mean `exactly-once`?",
  ],
  [
    "consume: orders",
    "process: { from: orders, store: { name: db }, group: g, guarantee: at-most-once }",
    "27:37:12 a store needs the key `key`",
  ],
  [
    "consume: orders",
    "process: { from: orders, to: orders, group: g, guarantee: at-most-once, wrok: 1ms }",
    "27:77:4 unknown key of `process` `wrok`; did you mean `work`?",
  ],
  [
    "consume: orders",
    "process: { from: orders, to: orders, group: g, guarantee: at-most-once }\n    config: {}",
    "28:5:6 unknown key of a client that consumes and produces `config`; there are `process`, `record-size`, `consumer-config` and `producer-config`",
  ],
  [
    "consume: orders",
    "process: { from: orders, store: { name: db, key: none }, group: g, guarantee: at-most-once }\n    record-size: 20",
    "28:5:11 `record-size` needs `to`",
  ],
  [
    "consume: orders",
    "process: { from: orders, to: orders, group: g, guarantee: at-most-once }\n    consumer-config: { enable.auto.commit: true }",
    "28:44:4 it commits as its `guarantee` says, and not automatically",
  ],
  [
    "consume: orders",
    "process: { from: orders, to: orders, group: g, guarantee: at-most-once }\n    producer-config: { transactional.id: t }",
    "28:42:1 a `transactional.id` is for exactly-once, not for at-most-once",
  ],
  // Targets, predicates, names.
  [
    "crash: leader(orders-0)",
    "crash: leadr(orders-0)",
    "32:12:5 unknown function `leadr`; did you mean `leader`?",
  ],
  [
    "crash: leader(orders-0)",
    "crash: leader(orders-7)",
    "32:19:8 unknown partition `orders-7`; did you mean `orders-0`?",
  ],
  [
    "crash: leader(orders-0)",
    "crash: broker-9",
    "32:12:8 unknown name `broker-9`; did you mean `broker-1`?",
  ],
  [
    "crash: leader(orders-0)",
    "crash: hw(orders-0)",
    "32:12:12 `hw(orders-0)` is a number; wanted is a set of nodes",
  ],
  [
    "crash: leader(orders-0)",
    "crash: leader(orders-0",
    "32:27:1 the expression ends where `)` should stand",
  ],
  [
    "restart: $old",
    "shutdown: p1",
    "36:15:2 `shutdown` is for brokers and controllers, and this names none",
  ],
  [
    "restart: $old",
    "restart: $odl",
    "36:14:4 no fault binds `$odl` with `as: odl`; did you mean `$old`?",
  ],
  [
    "restart: $old",
    "pause-reading: p1",
    "36:20:2 `pause-reading` is for consumers, and `p1` is a producer; write c1",
  ],
  [
    "restart: $old",
    "seek: any(clients)\n    of: orders-0\n    position: end",
    "36:11:12 `seek` is for consumers, and `p1` is a producer; write c1",
  ],
  [
    "restart: $old",
    "seek: c1 + leader(orders-0)\n    of: orders-0\n    position: end",
    "36:11:21 `seek` is for consumers, and `broker-1` is no client; write c1",
  ],
  [
    "restart: $old",
    "pause-reading: clients - c1 - p1",
    "36:20:17 `pause-reading` is for consumers, and this names none; write c1",
  ],
  [
    "restart: $old",
    "add-partitions: order\n    total: 4",
    "36:21:5 unknown topic `order`; did you mean `orders`?",
  ],
  ["restart: $old", "add-partitions: orders", "36:5:14 `add-partitions` needs the key `total`"],
  ["restart: $old", "seek: c1", "36:5:4 `seek` needs the key `position` or `timestamp`"],
  [
    "restart: $old",
    "seek: c1\n    position: 5\n    timestamp: 5s",
    "36:5:4 `seek` takes `position` or `timestamp`, and not both",
  ],
  [
    "restart: $old",
    "ask-offsets: c1\n    which: start",
    "37:12:5 `which` cannot be `start`; there are `end` and `beginning`",
  ],
  [
    "hw(orders-0) >= 100",
    "lag(c1 of orders) >= 100",
    "31:21:6 `lag` takes one partition, such as orders-0",
  ],
  [
    "hw(orders-0) >= 100",
    "current-lag(c1 of orders-7) >= 100",
    "31:29:8 unknown partition `orders-7`; did you mean `orders-0`?",
  ],
  [
    "hw(orders-0) >= 100",
    "read(c1 of orders-0) >= 100",
    "31:19:2 `of` stands where `)` should stand",
  ],
  [
    "hw(orders-0) >= 100",
    "hw(orders-0) >= 100ms",
    "31:27:5 `100ms` is a duration; wanted is a number as before `>=`",
  ],
  [
    "hw(orders-0) >= 100",
    "hw(orders-0)",
    "31:11:12 `hw(orders-0)` is a number; wanted is a condition such as hw(orders-0) >= 100",
  ],
  ["hw(orders-0) >= 100", "acked(p2) >= 100", "31:17:2 unknown client `p2`; did you mean `p1`?"],
  [
    "hw(orders-0) >= 100",
    "leader(any(partitions)) == none",
    "31:18:3 `any` draws by chance; only targets can",
  ],
  [
    "hw(orders-0) >= 100",
    "3rd deliver(ProduceRespons -> p1)",
    "31:23:14 unknown message `ProduceRespons`; did you mean `ProduceResponse`?",
  ],
  [
    "after: kill\n    delay",
    "after: kil\n    delay",
    "34:12:3 unknown step `kil`; did you mean `kill`?",
  ],
  ["after: kill }", "after: kil }", "46:61:3 unknown step `kil`; did you mean `kill`?"],
  [
    "- no-acked-loss",
    "- no-acked-los",
    "45:5:12 unknown expectation `no-acked-los`; did you mean `no-acked-loss`?",
  ],
  [
    "violation: acked-record-lost",
    "violation: acked-record-los",
    "54:28:16 `violation` cannot be `acked-record-los`; did you mean `acked-record-lost`?",
  ],
  // Steps.
  [
    "    when: hw(orders-0) >= 100\n",
    "",
    "30:5:10 a step needs a trigger: `at`, `when` or `after`",
  ],
  [
    "    when: hw",
    "    at: 1s\n    when: hw",
    "32:5:4 a step has one trigger; `at` and `when` are two",
  ],
  [
    "    as: old",
    "    pause: broker-1\n    as: old",
    "33:5:5 a step has one fault; `crash` and `pause` are two",
  ],
  [
    "    restart: $old",
    "    restart: $old\n    for: 5s",
    "37:5:3 `restart` is over at once; `for` means nothing to it",
  ],
  [
    "    as: old",
    "    as: old\n    timeout: 5",
    "34:14:1 `timeout: 5` has no unit; write 5s or 5ms",
  ],
  ["- at: 5s", "- at: 5s\n    delay: 1s", "38:5:5 `delay` goes with `after`, not with `at`"],
  ["- after: kill", "- name: back\n    after: back", "35:12:4 this step waits for itself"],
  ["rate: 100/s", "tombstones: 5%", "23:17:2 `tombstones` needs `keys`: a tombstone deletes one"],
  // Configs that contradict each other.
  ["acks: all", "acks: 1", "25:21:1 enable.idempotence needs acks=all"],
  [
    "acks: all, enable",
    "delivery.timeout.ms: 1000, enable",
    "25:36:4 delivery.timeout.ms must be at least linger.ms + request.timeout.ms, which is 30005",
  ],
  [
    "consume: orders",
    "consume: orders\n    config: { group.protocol: consumer, session.timeout.ms: 10000 }",
    "28:61:5 session.timeout.ms cannot be set when group.protocol=consumer",
  ],
  [
    "consume: orders",
    "consume: orders\n    config: { group.remote.assignor: range }",
    "28:38:5 group.remote.assignor cannot be set when group.protocol=classic",
  ],
  [
    "consume: orders",
    "consume: orders\n    config: { rebalance.backoff.ms: 100 }",
    "28:37:3 rebalance.backoff.ms can only be set with `groups: zookeeper-2011` in `cluster/protocol`",
  ],
  [
    "replica.lag.time.max.ms: 10000",
    "replica.lag.time.max.ms: 100",
    "11:30:3 replica.lag.time.max.ms=100 must be at least replica.fetch.wait.max.ms, which is 500",
  ],
  [
    "replica.lag.time.max.ms: 10000",
    "log.dirs: 'data1, data2, data1'",
    "11:15:21 `log.dirs` names data1 twice",
  ],
  [
    "replica.lag.time.max.ms: 10000",
    "log.dirs: 'data, data/more'",
    "11:15:17 `log.dirs` has data/more inside data",
  ],
  [
    "replica.lag.time.max.ms: 10000",
    "log.dirs: 'data1,'",
    '11:15:8 `log.dirs` names no directory with ""; take letters, digits, . _ - and /',
  ],
  // Variants.
  [
    "clients/p1/config/acks: 1",
    "clients/p1/config/acks: 7",
    "52:31:1 `acks` must be one of all, -1, 0, 1, not `7`",
  ],
  [
    "clients/p1/config/acks: 1",
    "clients/p1/rate/acks: 1",
    "52:7:20 `clients/p1/rate/acks` leads into `100/s`, which has no parts",
  ],
  [
    "      clients/p1/config/enable.idempotence: false\n",
    "",
    "52:31:1 enable.idempotence needs acks=all",
  ],
];

test.each(MISTAKES)("%j written as %j is complained about in its place", (from, to, complaint) => {
  const text = withText(from, to);

  expect(complaintsOf(text)).toEqual([complaint]);
});

test("all mistakes of a file are told at once, in the order of the file", () => {
  const text = withText("settle: 30s", "settle: 30")
    .replace("seed: 42", "seed: x")
    .replace("crash: leader(orders-0)", "krash: leader(orders-0)");

  expect(complaintsOf(text)).toEqual([
    "4:7:1 `seed` takes an integer from 0 on, not `x`",
    "32:5:5 unknown fault `krash`; did you mean `crash`?",
    "42:9:2 `settle: 30` has no unit; write 30s or 30ms",
  ]);
});

test("a config that Kafka knows and the simulator does not model is a warning", () => {
  const text = withText("min.insync.replicas: 2", "preallocate: true");

  const { scenario, warnings } = readScenario(text, "test.yaml");

  expect(scenario).toBeDefined();
  expect(warnings.map(({ line, column, message }) => `${line}:${column} ${message}`)).toEqual([
    "18:7 `preallocate` has no effect here: Kafka knows it, the simulator does not model it",
  ]);
});

test("a step for consumers takes every client that has a consumer, in a group or not", () => {
  const text = withText(
    "    consume: orders\n",
    "    consume: orders\n  c2: { consume: orders, partitions: [0] }\n  a1: { process: { from: orders, to: orders, group: g, guarantee: at-most-once } }\n",
  ).replace("restart: $old", "pause-reading: clients - p1");

  expect(complaintsOf(text)).toEqual([]);
});

/** Groups in which an application reads and writes, and what is said of them. */
const GROUPS: readonly (readonly [what: string, second: string, complaint: string])[] = [
  [
    "promises",
    "process: { from: orders, to: orders, group: g, guarantee: exactly-once }",
    "`a2` promises exactly-once, and `a1` of the same group at-most-once: a group has one promise; give one of them another `group`",
  ],
  [
    "outputs",
    "process: { from: orders, store: { name: db, key: none }, group: g, guarantee: at-most-once }",
    "`a2` and `a1` are one group, and write to different places; give one of them another `group`",
  ],
  [
    "inputs",
    "process: { from: /ord.*/, to: orders, group: g, guarantee: at-most-once }",
    "warning: `a2` reads /ord.*/, and `a1` orders, as one group: what only one of them reads goes to nobody else",
  ],
  [
    "programs",
    "consume: orders\n    group: g",
    "warning: `a2` commits for group `g` of `a1`, which makes nothing of what `a2` reads",
  ],
];

test.each(GROUPS)("members of one group with different %s are told of", (_what, second, said) => {
  const first = "process: { from: orders, to: orders, group: g, guarantee: at-most-once }";
  const text = withText(
    "    consume: orders\n",
    `    consume: orders\n  a1:\n    ${first}\n  a2:\n    ${second}\n`,
  );

  const { complaints, warnings } = readScenario(text, "test.yaml");

  const all = [
    ...complaints.map(({ message }) => message),
    ...warnings.map(({ message }) => `warning: ${message}`),
  ];
  expect(all).toEqual([said]);
});

test("members that keep their group in ZooKeeper can neither pause nor seek", () => {
  const text = withText("    consume: orders\n", "    consume: orders\n    group: g\n")
    .replace(
      "  config:\n    replica",
      "  protocol: { groups: zookeeper-2011 }\n  config:\n    replica",
    )
    .replace("restart: $old", "pause-reading: c1");

  expect(complaintsOf(text)).toEqual([
    "38:20:2 `pause-reading` is for consumers, and with `groups: zookeeper-2011` `c1` has streams, which can neither pause nor seek",
  ]);
});

test("internal topics with more replicas than there are brokers are warned of", () => {
  const text = withText("brokers: 3", "brokers: 2")
    .replace("replication.factor: 3", "replication.factor: 2")
    .replace(
      "consume: orders",
      "process: { from: orders, to: orders, group: g, guarantee: exactly-once }",
    )
    .replace("replica.lag.time.max.ms: 10000", "transaction.state.log.replication.factor: 4");

  const { scenario, warnings } = readScenario(text, "test.yaml");

  expect(scenario).toBeDefined();
  expect(warnings.map(({ line, column, message }) => `${line}:${column} ${message}`)).toEqual([
    "8:3 offsets.topic.replication.factor=3 is more than 2 brokers: no group will ever find its coordinator",
    "11:47 transaction.state.log.replication.factor=4 is more than 2 brokers: no transaction will ever find its coordinator",
  ]);
});

test("a topic that asks for more in-sync replicas than it has is refused", () => {
  const text = withText("min.insync.replicas: 2", "min.insync.replicas: 4");

  expect(complaintsOf(text)).toEqual([
    "18:28:1 min.insync.replicas=4 is more than the 3 of `orders`; Kafka then acts as if it were 3",
  ]);
});

test("a default of more in-sync replicas than a topic has is a warning, as Kafka allows it", () => {
  const text = withText("    config:\n      min.insync.replicas: 2\n", "").replace(
    "replica.lag.time.max.ms: 10000",
    "min.insync.replicas: 4",
  );

  const { scenario, warnings } = readScenario(text, "test.yaml");

  expect(scenario).toBeDefined();
  expect(warnings.map(({ message }) => message)).toEqual([
    "min.insync.replicas=4 is more than the 3 of `orders`; Kafka then acts as if it were 3",
  ]);
});

test("what a variant brings about elsewhere is told at the variant", () => {
  const text = withText("clients/p1/config/acks: 1", "cluster/brokers: 2");

  expect(complaintsOf(text)).toEqual([
    "50:3:6 with variant `acks-1`: a replication factor of 3 is more than 2 brokers",
  ]);
});

test("idempotence that was not asked for gives way to acks=1 silently", () => {
  const text = withText("acks: all, enable.idempotence: true", "acks: 1");

  expect(scenarioOf(text).clients[0]?.config.values).toEqual({ acks: "1" });
});

test("a scenario of which nothing says how long it lasts is refused", () => {
  const text = `version: 1
name: endless
kafka: "4.3"
cluster: { brokers: 1, controllers: 1 }
topics: { orders: { partitions: 1 } }
clients: { p1: { produce: orders } }
`;

  expect(complaintsOf(text)).toEqual([
    "1:1:10 nothing says how long this lasts: give a `duration`, or `records` to a producer",
  ]);
  expect(complaintsOf(`${text}duration: 10s\n`)).toEqual([]);
});

test("a file with thousands of mistakes is told a hundred of them, and how many there are", () => {
  const keys = Array.from({ length: 3_000 }, (_, i) => `key${i}: 1`).join("\n");

  const complaints = complaintsOf(`${GOOD_SCENARIO}${keys}\n`);

  expect(complaints).toHaveLength(101);
  expect(complaints.at(-1)).toMatch(/ there are \d+ more mistakes$/);
});

test.each([700, 8192, "3KiB", 0])(
  "a disk has no sector of %s, as a page is 4096 bytes",
  (sector) => {
    const text = withText(
      "  controllers: 3\n",
      `  controllers: 3\n  disk: { sector: ${sector} }\n`,
    );

    expect(complaintsOf(text)).toEqual([
      expect.stringContaining("takes a size that divides 4096 bytes, such as 512 or 4KiB"),
    ]);
  },
);
