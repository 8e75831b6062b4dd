import { describe, expect, test } from "vitest";
import type { Fact, PartitionChanged } from "../../../src/trace/fact.ts";
import { FactRecorder } from "../../../src/trace/recorder.ts";
import { Timeline } from "../../../src/trace/timeline.ts";

/** Facts told to a timeline, each an event of its own unless they are told together. */
class Story {
  now = 0;
  event = 0;
  readonly timeline: Timeline;
  readonly #facts: FactRecorder;

  constructor() {
    const story = this;
    this.#facts = new FactRecorder({
      get now() {
        return story.now;
      },
      get event() {
        return story.event;
      },
      mixFact: () => undefined,
    });
    this.timeline = new Timeline(this.#facts, (id) => `controller-${id - 3000}`);
  }

  /** One event with these facts, a second after the one before. */
  told(...facts: readonly Fact[]): this {
    this.event++;
    this.now += 1_000_000;
    for (const fact of facts) this.#facts.note(fact);
    return this;
  }

  get lines(): string[] {
    return this.timeline
      .entries()
      .map(({ at, verb, text, note }) => `${at / 1_000_000} ${verb} ${text} ${note}`.trimEnd());
  }
}

/** A story that has begun, with orders-0 known: led by 1 in epoch 4, ISR 1, 2, 3. */
function begun(): Story {
  const story = new Story();
  story.timeline.begin();
  return story.told(changed({}));
}

function changed(more: Partial<PartitionChanged>): PartitionChanged {
  return {
    kind: "partition-changed",
    partition: "orders-0",
    replicas: [1, 2, 3],
    isr: [1, 2, 3],
    elr: [],
    leader: 1,
    leaderEpoch: 4,
    partitionEpoch: 7,
    recovering: false,
    election: "none",
    minInsyncReplicas: 2,
    ...more,
  };
}

function lost(node: string, bytes: number): Fact {
  return { kind: "unflushed-lost", node, path: "kafka-logs/orders-0/0.log", bytes };
}

describe("the story of a partition", () => {
  test("begins when it is first seen, which is no news", () => {
    expect(begun().lines).toEqual([]);
  });

  test("tells a new leader with its epoch, and the ISR as a set", () => {
    const story = begun();

    story.told(
      changed({
        leader: 2,
        leaderEpoch: 5,
        partitionEpoch: 8,
        isr: [3, 2],
        election: "clean",
      }),
    );

    expect(story.lines).toEqual([
      "2 elect orders-0  broker-1 -> broker-2  epoch 4 -> 5",
      "2 isr orders-0  {1,2,3} -> {2,3}",
    ]);
  });

  test("tells that nobody leads, and that the same broker leads in another epoch", () => {
    const story = begun();

    story.told(changed({ leader: -1, leaderEpoch: 5, partitionEpoch: 8 }));
    story.told(changed({ leader: 1, leaderEpoch: 6, partitionEpoch: 9, election: "elr" }));
    story.told(changed({ leader: 1, leaderEpoch: 7, partitionEpoch: 10 }));

    expect(story.lines).toEqual([
      "2 elect orders-0  broker-1 -> none  epoch 4 -> 5",
      "3 elect orders-0  none -> broker-1  epoch 5 -> 6",
      "4 elect orders-0  broker-1 -> broker-1  epoch 6 -> 7",
    ]);
  });

  test.each(["unclean", "last-known"] as const)(
    "cries out at an election that is %s",
    (election) => {
      const story = begun();

      story.told(changed({ leader: 2, leaderEpoch: 5, partitionEpoch: 8, election }));

      expect(story.lines).toEqual([
        "2 elect orders-0  broker-1 -> broker-2  epoch 4 -> 5  UNCLEAN",
      ]);
    },
  );

  test("says nothing of an ISR in another order, nor of a change that is known", () => {
    const story = begun();

    story.told(changed({ isr: [3, 1, 2], partitionEpoch: 8 }));
    story.told(changed({ isr: [1], partitionEpoch: 8 }));
    story.told(changed({ isr: [1], partitionEpoch: 6 }));

    expect(story.lines).toEqual([]);
  });
});

describe("the story of faults", () => {
  const crash: Fact = {
    kind: "fault-begun",
    fault: 0,
    verb: "crash",
    text: "broker-1, leader of orders-0",
    name: "first",
  };
  const stopped: Fact = {
    kind: "node-stopped",
    node: "broker-1",
    how: "crash",
    reason: "crash",
  };

  test("tells a fault once: not also that its node stopped", () => {
    const story = begun();

    story.told(crash, stopped);

    expect(story.lines).toEqual(["2 crash broker-1, leader of orders-0 first"]);
  });

  test("tells a stop and a start that no fault made", () => {
    const story = begun();

    story.told({ ...stopped, how: "exit", reason: "its log directory has failed" });
    story.told({ kind: "node-started", node: "broker-1", incarnation: 1 });

    expect(story.lines).toEqual([
      "2 stop broker-1: its log directory has failed",
      "3 start broker-1",
    ]);
  });

  test("tells when a fault ends, and by which name", () => {
    const story = begun();

    story.told({ kind: "fault-ended", fault: 0, verb: "partition", text: "1 | 2,3", name: "cut" });

    expect(story.lines).toEqual(["2 heal partition 1 | 2,3 cut"]);
  });

  test("adds up what one power cut took from one node, in its place", () => {
    const story = begun();

    story.told(lost("broker-1", 100), lost("broker-1", 50), lost("broker-2", 7));
    story.told({ kind: "broker-fenced", broker: 1, brokerEpoch: 9 });
    story.told(lost("broker-1", 3));

    expect(story.lines).toEqual([
      "2 lose broker-1  150 unflushed bytes of 2 files",
      "2 lose broker-2  7 unflushed bytes of 1 file",
      "3 fence broker-1",
      "4 lose broker-1  3 unflushed bytes of 1 file",
    ]);
  });
});

test("tells once how a disk bites, until another fault begins", () => {
  const story = begun();
  const bite: Fact = {
    kind: "disk-disturbed",
    node: "broker-1",
    path: "data/orders-0/00000000000000000000.log",
    partition: "orders-0",
    how: "fsync-lie",
    position: -1,
    bytes: 4096,
  };

  story.told(bite, bite);
  story.told({ ...bite, how: "read-error", position: 8192 });
  story.told({ kind: "fault-begun", fault: 1, verb: "mark", text: "here", name: "" });
  story.told(bite);

  expect(story.lines).toEqual([
    "2 disk broker-1  fsync-lie: data/orders-0/00000000000000000000.log, 4096 unflushed bytes",
    "3 disk broker-1  read-error: data/orders-0/00000000000000000000.log at 8192",
    "4 mark here",
    "5 disk broker-1  fsync-lie: data/orders-0/00000000000000000000.log, 4096 unflushed bytes",
  ]);
});

test("warm-up is not part of the story, but what it left behind is known", () => {
  const story = new Story();
  story.told(changed({}));
  story.told({ kind: "broker-unfenced", broker: 1, brokerEpoch: 9 });

  story.timeline.begin();
  story.told(changed({ isr: [1, 2], partitionEpoch: 8 }));

  expect(story.lines).toEqual(["3 isr orders-0  {1,2,3} -> {1,2}"]);
});

describe("what is told of nodes", () => {
  const loaded = {
    kind: "log-loaded",
    broker: 2,
    partition: "orders-0",
    logStartOffset: 0,
    logEndOffset: 40,
    highWatermark: 30,
    cleanShutdown: false,
  } as const;

  test.each<readonly [Fact, string[]]>([
    [
      { kind: "controller-elected", controller: 3002, quorumEpoch: 3 },
      ["2 elect controller-2  active controller, epoch 3"],
    ],
    [
      {
        kind: "truncated",
        broker: 2,
        partition: "orders-0",
        from: 50,
        to: 40,
        reason: "diverging-epoch",
      },
      ["2 cut broker-2 orders-0  50 -> 40  diverging-epoch"],
    ],
    [
      { ...loaded, truncatedBytes: 70 },
      ["2 recover broker-2 orders-0  70 torn bytes cut, ends at 40"],
    ],
    [{ ...loaded, truncatedBytes: 0 }, []],
    [
      {
        kind: "position-reset",
        client: "c1",
        partition: "orders-0",
        from: 50,
        to: 40,
        reason: "truncation",
      },
      ["2 reset c1 orders-0  50 -> 40  truncation"],
    ],
    [
      {
        kind: "position-reset",
        client: "c1",
        partition: "orders-0",
        from: -1,
        to: 0,
        reason: "initial",
      },
      [],
    ],
  ])("%o", (fact, lines) => {
    expect(begun().told(fact).lines).toEqual(lines);
  });
});
