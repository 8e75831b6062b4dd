import fc from "fast-check";
import type { UnflushedMode } from "../../src/ports/hands.ts";
import { UNFLUSHED } from "../../src/ports/hands.ts";

/** A record: its key, and whether it is a tombstone. */
export type Word = readonly [key: number, isTombstone: boolean];

/** One thing that is done to a log. */
export type Operation =
  | { readonly do: "append"; readonly words: readonly Word[]; readonly producer: number }
  | { readonly do: "append-again"; readonly producer: number }
  | {
      readonly do: "follow";
      readonly batches: readonly { readonly gap: number; readonly words: readonly Word[] }[];
    }
  | { readonly do: "new-epoch" }
  | { readonly do: "roll" }
  | { readonly do: "flush" }
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "raise-high-watermark"; readonly by: number }
  | { readonly do: "checkpoint" }
  | { readonly do: "read"; readonly from: number; readonly bytes: number; readonly upTo: number }
  | { readonly do: "truncate"; readonly back: number }
  | { readonly do: "truncate-fully"; readonly ahead: number }
  | { readonly do: "delete-records"; readonly ahead: number }
  | { readonly do: "retention" }
  | { readonly do: "clean" }
  | { readonly do: "begin-to-clean" };

/** What ends a process. */
export type Ending =
  | { readonly end: "exit" | "crash" }
  | { readonly end: "power-off"; readonly mode: UnflushedMode }
  | { readonly end: "disk-error"; readonly code: "EIO" | "ENOSPC" };

/** An operation that is cut off, or what follows from it, and after how many calls to the disk. */
export interface CutOff {
  readonly operation: Operation;
  readonly counts: "at once" | "what follows";
  readonly calls: number;
}

export interface Stopping {
  readonly ending: Ending;
  readonly within: CutOff | undefined;
  /** The start that follows is cut off after so many, and the process ends again. */
  readonly restart: { readonly calls: number; readonly ending: Ending } | undefined;
}

export type Step = Operation | { readonly do: "stop"; readonly stopping: Stopping };

export interface Story {
  readonly policy: "delete" | "compact" | "compact,delete";
  readonly journal: "ordered" | "writeback";
  readonly segmentBytes: number;
  readonly indexIntervalBytes: number;
  readonly flushMessages: number;
  readonly deleteRetentionMs: number;
  readonly mapSlots: number;
  readonly seed: number;
  readonly steps: readonly Step[];
}

export const AMID_OPERATION = "amid an operation: ";
export const AMID_START = "amid a start: ";

/** The kinds of an ending, `where` it comes: `power-off`, and of which mode. */
export function kindsOf(ending: Ending, where: string): readonly string[] {
  const { end } = ending;
  return end === "power-off" ? [`${where}${end}`, `${where}${end} ${ending.mode}`] : [where + end];
}

/** All that can happen in a story. */
export function allKinds(): readonly string[] {
  const abrupt = ["crash", "power-off", ...UNFLUSHED.map((mode) => `power-off ${mode}`)];
  const inTheMiddle = [...abrupt, "disk-error"];
  return [
    ...CHOICES.map(({ name }) => name),
    "exit",
    ...abrupt,
    ...inTheMiddle.map((one) => `${AMID_OPERATION}${one}`),
    ...inTheMiddle.map((one) => `${AMID_START}${one}`),
    ...CHOICES.filter(({ cutOff }) => cutOff > 0).map(({ name }) => `amid ${name}`),
  ];
}

interface Choice {
  readonly name: Operation["do"];
  /** How often it is drawn among all. */
  readonly weight: number;
  /** And among those that are cut off; 0 for what makes hardly a call to the disk. */
  readonly cutOff: number;
  readonly arbitrary: fc.Arbitrary<Operation>;
}

function choice(weight: number, cutOff: number, arbitrary: Choice["arbitrary"]): Choice {
  const [sample] = fc.sample(arbitrary, { numRuns: 1, seed: 1 });
  return { name: sample?.do ?? "flush", weight, cutOff, arbitrary };
}

const WORD: fc.Arbitrary<Word> = fc.tuple(
  fc.nat(5),
  fc.nat(4).map((n) => n === 0),
);
const WORDS = fc.array(WORD, { minLength: 1, maxLength: 4 });
const FOLLOWED = fc.record({ gap: fc.nat(3), words: WORDS });

const CHOICES: readonly Choice[] = [
  choice(
    12,
    3,
    fc.record({ do: fc.constant("append" as const), words: WORDS, producer: fc.nat(3) }),
  ),
  choice(2, 0, fc.record({ do: fc.constant("append-again" as const), producer: fc.nat(2) })),
  choice(
    3,
    3,
    fc.record({
      do: fc.constant("follow" as const),
      batches: fc.array(FOLLOWED, { minLength: 1, maxLength: 3 }),
    }),
  ),
  choice(1, 4, fc.constant({ do: "new-epoch" })),
  choice(2, 4, fc.constant({ do: "roll" })),
  choice(2, 6, fc.constant({ do: "flush" })),
  choice(
    3,
    16,
    fc.record({
      do: fc.constant("wait" as const),
      ms: fc.constantFrom(1, 10, 200, 5_000, 40_000),
    }),
  ),
  choice(5, 0, fc.record({ do: fc.constant("raise-high-watermark" as const), by: fc.nat(30) })),
  choice(1, 3, fc.constant({ do: "checkpoint" })),
  choice(
    2,
    0,
    fc.record({
      do: fc.constant("read" as const),
      from: fc.nat(60),
      bytes: fc.nat(700),
      upTo: fc.nat(60),
    }),
  ),
  choice(2, 4, fc.record({ do: fc.constant("truncate" as const), back: fc.nat(12) })),
  choice(1, 3, fc.record({ do: fc.constant("truncate-fully" as const), ahead: fc.nat(5) })),
  choice(2, 6, fc.record({ do: fc.constant("delete-records" as const), ahead: fc.nat(8) })),
  choice(2, 12, fc.constant({ do: "retention" })),
  choice(5, 12, fc.constant({ do: "clean" })),
  choice(3, 12, fc.constant({ do: "begin-to-clean" })),
];

const OPERATION = fc.oneof(...CHOICES);
const CUT_OFF = fc.oneof(
  ...CHOICES.filter(({ cutOff }) => cutOff > 0).map(({ cutOff: weight, arbitrary }) => {
    return { weight, arbitrary };
  }),
);

const POWER_OFF: fc.Arbitrary<Ending> = fc.record({
  end: fc.constant("power-off" as const),
  mode: fc.constantFrom(...UNFLUSHED),
});
const DISK_ERROR: fc.Arbitrary<Ending> = fc.record({
  end: fc.constant("disk-error" as const),
  code: fc.constantFrom("EIO" as const, "ENOSPC" as const),
});
const CRASH: fc.Arbitrary<Ending> = fc.constant({ end: "crash" });
const EXIT: fc.Arbitrary<Ending> = fc.constant({ end: "exit" });

const BETWEEN = fc.oneof(
  { weight: 5, arbitrary: POWER_OFF },
  { weight: 1, arbitrary: CRASH },
  { weight: 1, arbitrary: EXIT },
);
const IN_THE_MIDDLE = fc.oneof(
  { weight: 5, arbitrary: POWER_OFF },
  { weight: 1, arbitrary: CRASH },
  { weight: 1, arbitrary: DISK_ERROR },
);
/** From one to some tens is what an operation makes. */
const CALLS = fc.oneof(fc.nat(2), fc.nat(5), fc.nat(15), fc.nat(60));
const RESTART = fc.option(fc.record({ calls: CALLS, ending: IN_THE_MIDDLE }), {
  nil: undefined,
  freq: 2,
});

const STOPPING: fc.Arbitrary<Stopping> = fc.oneof(
  fc.record({ ending: BETWEEN, within: fc.constant(undefined), restart: RESTART }),
  fc.record({
    ending: IN_THE_MIDDLE,
    within: fc.record({
      operation: CUT_OFF,
      counts: fc.constantFrom("at once" as const, "what follows" as const),
      calls: CALLS,
    }),
    restart: RESTART,
  }),
);

const STEP: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: OPERATION },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("stop" as const), stopping: STOPPING }) },
);

/** Histories of a log: what is done to it, and how processes end meanwhile. */
export const STORY: fc.Arbitrary<Story> = fc.record({
  policy: fc.constantFrom("delete" as const, "compact" as const, "compact,delete" as const),
  journal: fc.constantFrom("ordered" as const, "writeback" as const),
  segmentBytes: fc.constantFrom(700, 1_000, 1_500, 1_000_000),
  indexIntervalBytes: fc.constantFrom(0, 150, 4096),
  flushMessages: fc.constantFrom(Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, 1, 4),
  deleteRetentionMs: fc.constantFrom(0, 300, 86_400_000),
  mapSlots: fc.constantFrom(3, 4, 100),
  seed: fc.nat(1_000_000),
  steps: fc.array(STEP, { minLength: 1, maxLength: 60, size: "max" }),
});
