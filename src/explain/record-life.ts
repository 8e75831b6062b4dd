import { byNumber } from "../base/order.ts";
import type { Instant } from "../base/time.ts";
import { PAYLOAD_MIN_BYTES, payloadClient, payloadValue } from "../kafka/client/payload.ts";
import type { BrokerId, LeaderEpoch, Offset, PartitionName } from "../kafka/ids.ts";
import type { DecodedRecord } from "../kafka/log/record-cursor.ts";
import type { Fact, FactOf, PartitionChanged } from "../trace/fact.ts";
import type { RecordedFact } from "./recording.ts";

/** One thing that happened to a record, and how the partition stood then. */
export interface LifeEvent {
  readonly at: Instant;
  readonly event: number;
  readonly verb: string;
  readonly text: string;
  /** The in-sync replicas, and the high watermark of who leads; undefined where that is not known. */
  readonly state: PartitionState | undefined;
}

export interface PartitionState {
  readonly isr: readonly BrokerId[];
  readonly highWatermark: Offset;
}

/** The record that stood at an offset in one epoch, from its sending to the end of the run. */
export interface RecordLife {
  readonly partition: PartitionName;
  readonly offset: Offset;
  readonly epoch: LeaderEpoch;
  /** Of the record's value; undefined for a record without one, such as a tombstone. */
  readonly producer: string | undefined;
  /** The number of the send at its producer, from 0. */
  readonly number: number | undefined;
  readonly key: Uint8Array | undefined;
  readonly isControl: boolean;
  readonly events: readonly LifeEvent[];
  /** Who has it in the end, ascending. */
  readonly holders: readonly BrokerId[];
}

/** The lives of all records that ever stood at an offset, in the order in which they came there. */
export function livesOf(
  facts: readonly RecordedFact[],
  partition: PartitionName,
  offset: Offset,
  clientNames: ReadonlyMap<number, string>,
): RecordLife[] {
  const tracker = new LifeTracker(partition, offset, clientNames);
  for (const recorded of facts) tracker.note(recorded);
  return tracker.lives();
}

/** A life that is still being followed. */
class Life {
  readonly epoch: LeaderEpoch;
  readonly record: DecodedRecord | undefined;
  readonly isControl: boolean;
  readonly producer: string | undefined;
  readonly number: number | undefined;
  readonly events: LifeEvent[] = [];
  readonly holders = new Set<BrokerId>();
  isCommitted = false;

  constructor({ batch }: FactOf<"appended">, offset: Offset, names: ReadonlyMap<number, string>) {
    this.epoch = batch.partitionLeaderEpoch;
    this.isControl = batch.isControl;
    this.record = batch.records().find((record) => record.offset === offset);
    const value = this.record?.value;
    const isPayload = !batch.isControl && value !== undefined && value.length >= PAYLOAD_MIN_BYTES;
    this.producer = isPayload ? names.get(payloadClient(value, 0)) : undefined;
    this.number = isPayload ? payloadValue(value, 0) : undefined;
  }
}

class LifeTracker {
  readonly #partition: PartitionName;
  readonly #offset: Offset;
  readonly #names: ReadonlyMap<number, string>;
  readonly #lives: Life[] = [];
  /** Sends that have not been seen in a log yet: by producer and number. */
  readonly #sent = new Map<string, RecordedFact>();
  #registration: PartitionChanged | undefined;
  /** The high watermark of each replica. */
  readonly #highWatermarks = new Map<BrokerId, Offset>();

  constructor(partition: PartitionName, offset: Offset, names: ReadonlyMap<number, string>) {
    this.#partition = partition;
    this.#offset = offset;
    this.#names = names;
  }

  lives(): RecordLife[] {
    return this.#lives.map(({ epoch, record, isControl, producer, number, events, holders }) => ({
      partition: this.#partition,
      offset: this.#offset,
      epoch,
      producer,
      number,
      key: record?.key,
      isControl,
      events,
      holders: [...holders].sort(byNumber),
    }));
  }

  note(recorded: RecordedFact): void {
    const { fact } = recorded;
    if (!("partition" in fact) || fact.partition !== this.#partition) return;
    switch (fact.kind) {
      case "record-sent":
        this.#sent.set(`${fact.client} ${fact.value}`, recorded);
        break;
      case "appended":
        this.#appended(recorded, fact);
        break;
      case "partition-changed":
        this.#changed(recorded, fact);
        break;
      case "high-watermark-moved":
        this.#committed(recorded, fact);
        break;
      case "send-ended":
        this.#sendEnded(recorded, fact);
        break;
      case "polled":
        this.#polled(recorded, fact);
        break;
      case "became-leader":
        this.#led(recorded, fact);
        break;
      default:
        this.#lost(recorded, fact);
    }
  }

  #appended(recorded: RecordedFact, fact: FactOf<"appended">): void {
    const { batch, broker } = fact;
    if (this.#offset < batch.baseOffset || this.#offset > batch.lastOffset) return;
    let life = this.#lives.find(({ epoch }) => epoch === batch.partitionLeaderEpoch);
    if (life === undefined) {
      life = new Life(fact, this.#offset, this.#names);
      this.#lives.push(life);
      const sent = this.#sent.get(`${life.producer} ${life.number}`);
      if (sent !== undefined) {
        const text = `${life.producer} hands it to its producer`;
        life.events.push({ at: sent.at, event: sent.event, verb: "sent", text, state: undefined });
      }
    }
    life.holders.add(broker);
    const how = fact.asLeader ? "" : ", from its leader";
    this.#tell(
      life,
      recorded,
      "appended",
      `broker-${broker} @${this.#offset} epoch ${life.epoch}${how}`,
    );
  }

  #changed(recorded: RecordedFact, fact: PartitionChanged): void {
    const before = this.#registration;
    this.#registration = fact;
    if (before === undefined) return;
    for (const life of this.#present()) {
      if (set(before.isr) !== set(fact.isr)) {
        this.#tell(life, recorded, "isr", `${set(before.isr)} -> ${set(fact.isr)}`);
      }
    }
  }

  /** The first time that the leader's high watermark passes it. */
  #committed(recorded: RecordedFact, fact: FactOf<"high-watermark-moved">): void {
    this.#highWatermarks.set(fact.broker, fact.highWatermark);
    if (!fact.asLeader || fact.highWatermark <= this.#offset) return;
    for (const life of this.#lives) {
      if (life.isCommitted || !life.holders.has(fact.broker)) continue;
      life.isCommitted = true;
      this.#tell(
        life,
        recorded,
        "committed",
        `broker-${fact.broker}, high watermark ${fact.highWatermark}`,
      );
    }
  }

  #sendEnded(recorded: RecordedFact, fact: FactOf<"send-ended">): void {
    const place = fact.baseOffset < 0 ? -1 : this.#offset - fact.baseOffset;
    for (const life of this.#lives) {
      const isIt =
        life.number === undefined
          ? place >= 0 && place < fact.values.length
          : fact.client === life.producer && fact.values.includes(life.number);
      if (!isIt) continue;
      const acks = fact.acks === -1 ? "acks=all" : `acks=${fact.acks}`;
      const inSync = this.#registration === undefined ? "" : `, isr ${set(this.#registration.isr)}`;
      const why = fact.outcome === "acked" ? "" : `, ${fact.error}`;
      this.#tell(life, recorded, fact.outcome, `${fact.client}, ${acks}${why}${inSync}`);
    }
  }

  #polled(recorded: RecordedFact, fact: FactOf<"polled">): void {
    if (this.#offset < fact.firstOffset || this.#offset > fact.lastOffset) return;
    for (const batch of fact.batches) {
      const life = this.#lives.find(({ epoch }) => epoch === batch.partitionLeaderEpoch);
      const covers = this.#offset >= batch.baseOffset && this.#offset <= batch.lastOffset;
      if (life !== undefined && covers && !life.isControl) {
        this.#tell(life, recorded, "read", `${fact.client} @${this.#offset}`);
      }
    }
  }

  /** A leader without it: from then on it is lost, whoever else has it. */
  #led(recorded: RecordedFact, fact: FactOf<"became-leader">): void {
    for (const life of this.#present()) {
      if (life.holders.has(fact.broker)) {
        this.#tell(
          life,
          recorded,
          "led",
          `broker-${fact.broker} leads with it, epoch ${fact.leaderEpoch}`,
        );
      } else {
        const text = `broker-${fact.broker} leads from ${fact.logEndOffset}, epoch ${fact.leaderEpoch}`;
        this.#tell(life, recorded, "LOST", text);
      }
    }
  }

  /** A replica has it no longer, or has it again after a restart. */
  #lost(recorded: RecordedFact, fact: Fact): void {
    switch (fact.kind) {
      case "truncated":
        this.#gone(
          recorded,
          fact.broker,
          fact.to <= this.#offset,
          "cut off",
          `${fact.from} -> ${fact.to}`,
        );
        break;
      case "log-loaded": {
        const text = `the log came back with ${fact.logStartOffset}..${fact.logEndOffset}`;
        const isGone = fact.logEndOffset <= this.#offset || fact.logStartOffset > this.#offset;
        this.#gone(recorded, fact.broker, isGone, "missing", text);
        break;
      }
      case "log-start-moved": {
        const text = `log start ${fact.from} -> ${fact.to}, ${fact.reason}`;
        this.#gone(recorded, fact.broker, fact.to > this.#offset, "expired", text);
        break;
      }
      case "log-cleaned": {
        if (this.#offset < fact.from || this.#offset >= fact.to) break;
        const isKept = fact.batches.some((batch) =>
          batch.records().some(({ offset }) => offset === this.#offset),
        );
        this.#gone(recorded, fact.broker, !isKept, "cleaned", "a later record has its key");
        break;
      }
      default:
    }
  }

  #gone(
    recorded: RecordedFact,
    broker: BrokerId,
    isGone: boolean,
    verb: string,
    text: string,
  ): void {
    if (!isGone) return;
    for (const life of this.#lives) {
      if (life.holders.delete(broker))
        this.#tell(life, recorded, verb, `broker-${broker}  ${text}`);
    }
  }

  /** Those that somebody still has. */
  #present(): Life[] {
    return this.#lives.filter(({ holders }) => holders.size > 0);
  }

  #tell(life: Life, { at, event }: RecordedFact, verb: string, text: string): void {
    const registration = this.#registration;
    const isr = registration?.isr ?? [];
    const highWatermark = this.#highWatermarks.get(registration?.leader ?? -1) ?? 0;
    life.events.push({ at, event, verb, text, state: { isr, highWatermark } });
  }
}

/** `{1,2,3}`: a set, so in order. */
function set(ids: readonly BrokerId[]): string {
  return `{${[...ids].sort(byNumber).join(",")}}`;
}
