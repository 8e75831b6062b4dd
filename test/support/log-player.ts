import type { Duration } from "../../src/base/time.ts";
import { MILLISECOND, SECOND } from "../../src/base/time.ts";
import { encodeUtf8 } from "../../src/base/utf8.ts";
import { ERRORS } from "../../src/kafka/error-code.ts";
import type { BatchOptions, RecordBatch } from "../../src/kafka/log/record-batch.ts";
import { buildBatch } from "../../src/kafka/log/record-batch.ts";
import type { CleanedGroup } from "../../src/storage/log-cleaning.ts";
import type { LogConfig } from "../../src/storage/log-config.ts";
import { DEFAULT_LOG_CONFIG } from "../../src/storage/log-config.ts";
import type { PartitionLog } from "../../src/storage/partition-log.ts";
import type { Interruption } from "./interrupted-disk.ts";
import type { LogProcess, MachineOwner, Stop } from "./log-machine.ts";
import { LogMachine } from "./log-machine.ts";
import type { StopLoss } from "./log-model.ts";
import { LogModel, textOf } from "./log-model.ts";
import type { Ending, Operation, Stopping, Story, Word } from "./log-story.ts";
import { AMID_OPERATION, AMID_START, kindsOf } from "./log-story.ts";

/** Plays a story on a log and on its model, and throws where they differ. Returns what has happened. */
export function playStory(story: Story): ReadonlySet<string> {
  return new Player(story).play();
}

/** An operation that is about to be done. */
interface Plan {
  /** Does it; returns what that does to the model. */
  readonly perform: (process: LogProcess) => () => void;
  /** Everything below is left even if it is cut off. */
  readonly certain: number;
  /** The log may begin as late as here, then. */
  readonly start: number;
  /** The batches that it may have written, then. */
  readonly begun: readonly RecordBatch[];
}

class Player implements MachineOwner {
  readonly #story: Story;
  readonly #machine: LogMachine;
  readonly #model: LogModel;
  readonly #happened = new Set<string>();
  #epoch = 0;
  #nextValue = 0;

  constructor(story: Story) {
    this.#story = story;
    const { journal, seed } = story;
    this.#model = new LogModel(story.deleteRetentionMs);
    this.#machine = new LogMachine(configOf(story), { journal }, String(seed), this);
    this.#machine.start();
  }

  play(): ReadonlySet<string> {
    for (const step of this.#story.steps) {
      if (step.do === "stop") this.#stop(step.stopping);
      else this.#do(step);
      if (this.#machine.isCutOff) throw new Error("the disk failed, and nobody asked it to");
      this.#model.expectSame(this.#machine.log);
    }
    return this.#happened;
  }

  // What the machine asks and tells.

  get highWatermark(): number {
    return this.#model.highWatermark;
  }

  get mapSlots(): number {
    return this.#story.mapSlots;
  }

  cleaned(group: CleanedGroup): void {
    this.#model.clean(group, this.#machine.nowMs);
  }

  deleted(log: PartitionLog, recoveryPoint: number): void {
    if (log.logStartOffset > this.highWatermark)
      throw new Error("deleted above the high watermark");
    this.#model.moveStart(log.logStartOffset, recoveryPoint);
  }

  // What happens.

  #do(operation: Operation): void {
    const machine = this.#machine;
    this.#happened.add(operation.do);
    this.#prepare(operation);
    const { perform } = this.#plan(operation);
    machine.step((process) => perform(process)());
    machine.advance(durationOf(operation));
    if (operation.do === "wait" && operation.ms > WRITTEN_BACK_MS) this.#model.writtenBack();
    if (operation.do === "clean" && !machine.isCleanerIdle) throw new Error("it still cleans");
  }

  #stop({ ending, within, restart }: Stopping): void {
    const machine = this.#machine;
    machine.settle();
    if (within !== undefined) {
      this.#provide(within.operation);
      this.#prepare(within.operation);
    }
    const { recoveryPoint } = machine.log;
    let plan: Plan | undefined;
    let mayBeCleaned = false;
    if (within !== undefined) {
      const { operation, counts, calls } = within;
      plan = this.#plan(operation);
      const { perform } = plan;
      let isDone = false;
      const isCutOff = machine.interrupt(
        counts,
        calls,
        interruptionOf(ending),
        (process) => {
          perform(process)();
          isDone = true;
        },
        Math.max(durationOf(operation), counts === "at once" ? 0 : SECOND),
      );
      // Whether the cleaner was at work just then cannot be told any more.
      mayBeCleaned = this.#story.policy !== "delete";
      // What follows from it was cut off, not the operation itself.
      if (isDone) plan = undefined;
      if (!isCutOff) return;
      this.#happened.add(`amid ${operation.do}`);
    }
    this.#note(ending, within === undefined ? "" : AMID_OPERATION);
    const endings = restart === undefined ? [ending] : [ending, restart.ending];
    const loss = this.#lossOf(plan, endings, recoveryPoint, mayBeCleaned);
    machine.stop(stopOf(ending));
    if (restart === undefined) {
      machine.start();
    } else if (!machine.start(restart.calls, interruptionOf(restart.ending))) {
      this.#note(restart.ending, AMID_START);
      machine.stop(stopOf(restart.ending));
      machine.start();
    }
    if (machine.isCutOff) throw new Error("it cannot start");
    this.#model.takeOver(machine.log, machine.loadedHighWatermark, loss);
  }

  #note(ending: Ending, where: string): void {
    for (const kind of kindsOf(ending, where)) this.#happened.add(kind);
  }

  #lossOf(
    plan: Plan | undefined,
    endings: readonly Ending[],
    recoveryPointBefore: number,
    mayBeCleaned: boolean,
  ): StopLoss {
    const model = this.#model;
    const { highWatermark } = model;
    const losesPower = endings.some(({ end }) => end === "power-off");
    const recoveryPoint = Math.min(recoveryPointBefore, this.#machine.log.recoveryPoint);
    const flushed = losesPower ? model.flushedUpTo(recoveryPoint) : model.end;
    return {
      losesPower,
      certain: Math.min(flushed, plan?.certain ?? model.end),
      // The cleaner also deletes old segments, if that is the policy.
      start: Math.max(plan?.start ?? 0, mayBeCleaned && this.#isDeleting ? highWatermark : 0),
      begun: plan?.begun ?? [],
      cutFrom:
        plan !== undefined && plan.certain < model.end ? plan.certain : Number.POSITIVE_INFINITY,
      cleanedAtMs: mayBeCleaned ? this.#machine.nowMs : undefined,
    };
  }

  get #isDeleting(): boolean {
    return this.#story.policy !== "compact";
  }

  /** Lets there be something to clean or to delete, so that it can be cut off. */
  #provide(operation: Operation): void {
    if (!["clean", "begin-to-clean", "retention"].includes(operation.do)) return;
    this.#do({ do: "append", words: [[1, false]], producer: 0 });
    for (let i = 0; i < 2; i++) this.#do({ do: "roll" });
    this.#do({ do: "flush" });
    this.#do({ do: "raise-high-watermark", by: Number.MAX_SAFE_INTEGER });
  }

  /** Records get older than `segment.ms`. */
  #prepare(operation: Operation): void {
    if (operation.do === "roll") this.#machine.advance(2 * SEGMENT_MS * MILLISECOND);
  }

  #plan(operation: Operation): Plan {
    const model = this.#model;
    const { end, highWatermark } = model;
    switch (operation.do) {
      case "append":
        return this.#append(operation.words, operation.producer);
      case "roll":
        return this.#append([[0, false]], PRODUCERS);
      case "append-again":
        return this.#appendAgain(operation.producer);
      case "follow":
        return this.#follow(operation.batches);
      case "new-epoch":
        return this.#beginEpoch(++this.#epoch);
      case "flush":
        return this.#harmless(({ log }) => log.flush());
      case "wait":
        return this.#harmless(() => {});
      case "raise-high-watermark":
        return this.#harmless(() => {
          model.highWatermark = Math.min(end, highWatermark + operation.by);
        });
      case "checkpoint":
        return this.#harmless(({ logs }) => {
          logs.checkpointRecoveryPoints();
          logs.checkpointLogStarts();
          logs.checkpointHighWatermarks(() => highWatermark);
        });
      case "read":
        return this.#harmless(({ log }) => this.#read(log, operation));
      case "truncate":
        return this.#truncate(Math.max(0, end - operation.back));
      case "truncate-fully":
        return this.#startAnew(Math.max(0, end - 3 + operation.ahead));
      case "delete-records":
        return this.#deleteRecords(Math.min(highWatermark, model.start + operation.ahead));
      case "retention":
        return this.#deleteOldSegments();
      default:
        return this.#clean();
    }
  }

  #append(words: readonly Word[], producer: number): Plan {
    const model = this.#model;
    const epoch = this.#epoch;
    const batch = this.#batch(words, this.#nextOf(producer));
    return {
      perform: ({ log }) => {
        const { error, duplicate, appended } = log.appendAsLeader([batch], epoch);
        if (error !== ERRORS.NONE || duplicate) throw new Error(`append: ${error.name}`);
        log.flushIfMany();
        return () => {
          for (const one of appended) model.append(one);
        };
      },
      certain: model.end,
      start: 0,
      begun: [batch.withOffsets(model.end, epoch)],
    };
  }

  #appendAgain(producer: number): Plan {
    const model = this.#model;
    const epoch = this.#epoch;
    const last = this.#machine.log.producers.get(producer)?.lastBatch;
    if (last === undefined) return this.#harmless(() => {});
    const { baseOffset, lastOffset, baseSequence } = last;
    const words = Array.from({ length: lastOffset - baseOffset + 1 }, (): Word => [1, false]);
    const batch = this.#batch(words, { producerId: producer, producerEpoch: 0, baseSequence });
    return {
      ...this.#harmless(() => {}),
      perform: ({ log }) => {
        const { duplicate, firstOffset } = log.appendAsLeader([batch], epoch);
        if (!duplicate || firstOffset !== baseOffset) throw new Error("it is no duplicate");
        return () => model.assignEpoch(epoch, model.end);
      },
    };
  }

  #follow(sent: readonly { readonly gap: number; readonly words: readonly Word[] }[]): Plan {
    const model = this.#model;
    const epoch = this.#epoch;
    const batches: RecordBatch[] = [];
    let at = model.end;
    for (const { gap, words } of sent) {
      const batch = this.#batch(words, { baseOffset: at + gap, partitionLeaderEpoch: epoch });
      batches.push(batch);
      at = batch.nextOffset;
    }
    return {
      perform: ({ log }) => {
        const { error } = log.appendAsFollower(batches, epoch);
        if (error !== ERRORS.NONE) throw new Error(`append: ${error.name}`);
        log.flushIfMany();
        return () => {
          for (const batch of batches) model.append(batch);
        };
      },
      certain: model.end,
      start: 0,
      begun: batches,
    };
  }

  #beginEpoch(epoch: number): Plan {
    const model = this.#model;
    return {
      ...this.#harmless(() => {}),
      perform: ({ log }) => {
        log.assignEpochStart(epoch, log.logEndOffset);
        return () => model.assignEpoch(epoch, model.end);
      },
    };
  }

  #read(log: PartitionLog, asked: Extract<Operation, { do: "read" }>): void {
    const { readableFrom: start, end, batches } = this.#model;
    if (start > end) return;
    const from = start + (asked.from % (end - start + 1));
    const upTo = start + (asked.upTo % (end - start + 1));
    const found = log.read(from, asked.bytes, upTo, true);
    const first = batches.findIndex(({ lastOffset }) => lastOffset >= from);
    const expected = first < 0 ? [] : batches.slice(first, first + found.batches.length);
    const mine = expected.map(textOf).join(" ");
    if (found.batches.map(textOf).join(" ") !== mine)
      throw new Error(`read at ${from}, not ${mine}`);
    if (found.batches.some(({ lastOffset }) => lastOffset >= upTo)) throw new Error("read too far");
    if (found.sizeInBytes > asked.bytes && found.batches.length > 1)
      throw new Error("read too much");
    const next = batches[first];
    const isThere = from < upTo && next !== undefined && next.lastOffset < upTo;
    if (isThere && found.batches.length === 0) throw new Error(`nothing read at ${from}`);
  }

  #truncate(offset: number): Plan {
    const model = this.#model;
    const firstBase = this.#machine.log.segmentBaseOffsets[0] ?? 0;
    if (offset < firstBase) return this.#startAnew(offset, (log) => log.truncateTo(offset));
    // Batches are cut whole.
    const cut = model.batches.find(({ lastOffset }) => lastOffset >= offset);
    return {
      perform: ({ log }) => {
        log.truncateTo(offset);
        return () => model.truncateTo(offset);
      },
      certain: Math.min(offset, cut?.baseOffset ?? offset),
      start: 0,
      begun: [],
    };
  }

  #startAnew(
    offset: number,
    perform = (log: PartitionLog): unknown => log.truncateFullyAndStartAt(offset),
  ): Plan {
    return {
      perform: ({ log }) => {
        perform(log);
        return () => this.#model.startAnewAt(offset);
      },
      certain: 0,
      // Its segments go one after the other, from the first on.
      start: Math.max(offset, this.#model.end),
      begun: [],
    };
  }

  #deleteRecords(offset: number): Plan {
    const { recoveryPoint } = this.#machine.log;
    return {
      perform: ({ log }) => {
        log.advanceLogStart(offset);
        return () => this.#model.moveStart(offset, recoveryPoint);
      },
      certain: this.#model.end,
      start: offset,
      begun: [],
    };
  }

  #deleteOldSegments(): Plan {
    // With compacted logs the cleaner deals, when it does nothing else.
    if (!this.#machine.isCleanerIdle) return this.#harmless(() => {});
    return {
      perform: (process) => {
        process.deleteOldSegments(process.log);
        return () => {};
      },
      certain: this.#model.end,
      start: this.highWatermark,
      begun: [],
    };
  }

  #clean(): Plan {
    return this.#harmless((process) => {
      if (process.isCleanerIdle) this.#model.beginToClean(this.#machine.nowMs);
      process.clean();
    });
  }

  /** What changes nothing in the log. */
  #harmless(perform: (process: LogProcess) => void): Plan {
    return {
      perform: (process) => {
        perform(process);
        return () => {};
      },
      certain: this.#model.end,
      start: 0,
      begun: [],
    };
  }

  /** Producers have the ids below PRODUCERS; that one has none. */
  #nextOf(producer: number): BatchOptions {
    if (producer >= PRODUCERS) return {};
    const last = this.#machine.log.producers.get(producer)?.lastSequence ?? -1;
    return { producerId: producer, producerEpoch: 0, baseSequence: last + 1 };
  }

  #batch(words: readonly Word[], options: BatchOptions): RecordBatch {
    const timestamp = this.#machine.nowMs;
    const isKeyless = this.#story.policy === "delete";
    const records = words.map(([key, isTombstone]) => ({
      timestamp,
      key: isKeyless && key === 0 ? undefined : encodeUtf8(`k${key}`),
      value: isTombstone ? undefined : encodeUtf8(`v${this.#nextValue++}`),
    }));
    return buildBatch(records, options);
  }
}

const PRODUCERS = 3;
const SEGMENT_MS = 1_000;
/** Twice the age at which the system writes back. */
const WRITTEN_BACK_MS = 31_000;

function configOf(story: Story): LogConfig {
  return {
    ...DEFAULT_LOG_CONFIG,
    "cleanup.policy": story.policy,
    "segment.bytes": story.segmentBytes,
    "segment.ms": SEGMENT_MS,
    "index.interval.bytes": story.indexIntervalBytes,
    "flush.messages": story.flushMessages,
    "retention.ms": 4_000,
    "retention.bytes": 1_200,
    "min.cleanable.dirty.ratio": 0,
    "delete.retention.ms": story.deleteRetentionMs,
    "file.delete.delay.ms": 500,
  };
}

/** How long what follows from an operation takes. */
function durationOf(operation: Operation): Duration {
  if (operation.do === "wait") return operation.ms * MILLISECOND;
  return operation.do === "clean" ? 5 * SECOND : 0;
}

function interruptionOf(ending: Ending): Interruption {
  return ending.end === "disk-error" ? ending.code : "death";
}

function stopOf(ending: Ending): Stop {
  if (ending.end === "power-off") return ending.mode;
  return ending.end === "exit" ? "exit" : "crash";
}
