import type {
  CheckSetup,
  ClientSetup,
  MemberSetup,
  TopicSetup,
} from "../../src/checkers/check-setup.ts";
import type { CheckerSet } from "../../src/checkers/checker-set.ts";
import { createCheckers } from "../../src/checkers/checker-set.ts";
import type { Guarantee, Violation } from "../../src/checkers/guarantee.ts";
import { GUARANTEES } from "../../src/checkers/registry.ts";
import { encodePayload } from "../../src/kafka/client/payload.ts";
import { BROKER_CONFIGS } from "../../src/kafka/config/broker-configs.ts";
import { resolveConfigs } from "../../src/kafka/config/config-table.ts";
import { CONSUMER_CONFIGS } from "../../src/kafka/config/consumer-configs.ts";
import { PRODUCER_CONFIGS } from "../../src/kafka/config/producer-configs.ts";
import { controlKey, encodeEndTransaction } from "../../src/kafka/log/control-record.ts";
import type { BatchOptions, RecordBatch } from "../../src/kafka/log/record-batch.ts";
import { buildBatch, buildEmptyBatch } from "../../src/kafka/log/record-batch.ts";
import { PRODUCE } from "../../src/kafka/protocol/apis.ts";
import type { ProtocolSwitches } from "../../src/kafka/protocol-switches.ts";
import { PRESENT_FEATURES, PRESENT_RULES } from "../../src/kafka/protocol-switches.ts";
import type { Fact, PartitionChanged, SendEnded } from "../../src/trace/fact.ts";
import { FactRecorder } from "../../src/trace/recorder.ts";

export const ORDERS = "orders-0";

export interface HistoryOptions {
  readonly guarantees?: readonly Guarantee[];
  readonly clients?: Readonly<Record<string, Partial<ClientSetup>>>;
  readonly topic?: Partial<TopicSetup>;
  readonly switches?: Partial<ProtocolSwitches>;
  /** eligible.leader.replicas.version */
  readonly elr?: number;
  readonly minInsyncReplicas?: number;
  readonly members?: readonly (readonly [client: string, MemberSetup])[];
  /** Consumers whose application works on what it reads. */
  readonly working?: readonly string[];
  /** Consumers whose application commits before it works. */
  readonly commitsEarly?: readonly string[];
  /** c1's `isolation.level`. */
  readonly isolation?: string;
}

/** A batch that is not p1's, or whose records have keys or no values. */
interface BatchMore extends BatchOptions {
  readonly client?: number;
  /** One for each record. */
  readonly keys?: readonly string[];
  /** Which records have no value, by their place in the batch. */
  readonly tombstones?: readonly number[];
  /** Milliseconds. */
  readonly timestamp?: number;
}

interface ElectOptions {
  readonly isr: readonly number[];
  readonly election?: PartitionChanged["election"];
  readonly epoch?: number;
  readonly elr?: readonly number[];
}

/**
 * A history of facts about the partition orders-0 on brokers 1, 2 and 3, written by hand: each
 * method is what one node, client or controller would have noted. Each fact is an event of its own,
 * one second after the one before.
 */
export class History {
  readonly checkers: CheckerSet;
  readonly recorder: FactRecorder;
  now = 0;
  event = 0;
  leader = 1;
  epoch = 0;
  isr: readonly number[] = [1, 2, 3];
  readonly logs = new Map<number, RecordBatch[]>([1, 2, 3].map((broker) => [broker, []]));
  readonly starts = new Map<number, number>();
  /** The epoch of which each broker has heard. */
  readonly #followed = new Map<number, number>();
  readonly #minInsyncReplicas: number;
  #partitionEpoch = 0;

  constructor(options: HistoryOptions = {}) {
    const history = this;
    this.recorder = new FactRecorder({
      get now() {
        return history.now;
      },
      get event() {
        return history.event;
      },
      mixFact: () => undefined,
    });
    this.#minInsyncReplicas = options.minInsyncReplicas ?? 2;
    this.checkers = createCheckers(
      this.recorder,
      setupOf(options),
      options.guarantees ?? GUARANTEES,
    );
    for (const broker of [1, 2, 3]) {
      this.#aside({ kind: "broker-registered", broker, brokerEpoch: broker, cleanShutdown: true });
      this.#aside({ kind: "broker-unfenced", broker, brokerEpoch: broker });
    }
    for (const broker of [1, 2, 3]) this.load(broker, 0);
    this.registered("initial");
    this.note({ ...this.#leads(), leaderEpoch: 0 });
    for (const broker of [2, 3]) this.#follows(broker);
  }

  note(fact: Fact): this {
    this.event++;
    this.now += 1_000_000;
    this.recorder.note(fact);
    return this;
  }

  /** Notes what goes without saying: no event of its own. */
  #aside(fact: Fact): void {
    this.recorder.note(fact);
  }

  /** The producer's batch as the leader stores it at the end of its log; p1's by default. */
  batch(values: readonly number[], at: BatchMore = {}): RecordBatch {
    const records = values.map((value, i) => ({
      timestamp: at.timestamp ?? 0,
      key: at.keys === undefined ? undefined : Uint8Array.from(at.keys[i] ?? "", toCode),
      value:
        at.tombstones?.includes(i) === true ? undefined : encodePayload(at.client ?? 1, value, 12),
    }));
    return buildBatch(records, {
      baseOffset: this.end(this.leader),
      partitionLeaderEpoch: this.epoch,
      producerId: 1000,
      producerEpoch: 0,
      baseSequence: values[0] ?? 0,
      ...at,
    });
  }

  end(broker: number): number {
    return this.logs.get(broker)?.at(-1)?.nextOffset ?? this.starts.get(broker) ?? 0;
  }

  append(broker: number, batch: RecordBatch, asLeader = broker === this.leader): this {
    this.logs.get(broker)?.push(batch);
    if (!asLeader && (this.#followed.get(broker) ?? 0) < batch.partitionLeaderEpoch) {
      this.#aside(this.#following(broker));
    }
    return this.note({ kind: "appended", broker, partition: ORDERS, batch, asLeader });
  }

  /** The leader writes the marker that ends p1's transaction. */
  endTransaction(type: "ABORT" | "COMMIT"): RecordBatch {
    const record = { timestamp: 1, key: controlKey(type), value: encodeEndTransaction(0) };
    const marker = buildBatch([record], {
      baseOffset: this.end(this.leader),
      partitionLeaderEpoch: this.epoch,
      producerId: 1000,
      producerEpoch: 0,
      isTransactional: true,
      isControl: true,
    });
    this.append(this.leader, marker);
    return marker;
  }

  /** The leader, or a broker that thinks it is, writes one batch. */
  write(values: readonly number[], options: BatchMore = {}): RecordBatch {
    const batch = this.batch(values, options);
    this.append(this.leader, batch);
    return batch;
  }

  /** The brokers fetch all that they lack from another, the leader by default. */
  copy(brokers: readonly number[], from: number = this.leader): this {
    for (const broker of brokers) {
      const end = this.end(broker);
      for (const batch of this.logs.get(from) ?? []) {
        if (batch.baseOffset >= end) this.append(broker, batch);
      }
    }
    return this;
  }

  highWatermark(broker: number, highWatermark: number, leaderEpoch: number = this.epoch): this {
    const asLeader = broker === this.leader;
    return this.moved(broker, highWatermark, leaderEpoch, asLeader);
  }

  moved(broker: number, highWatermark: number, leaderEpoch: number, asLeader: boolean): this {
    const partition = ORDERS;
    return this.note({
      kind: "high-watermark-moved",
      broker,
      partition,
      highWatermark,
      leaderEpoch,
      asLeader,
    });
  }

  /** Written by the leader, copied by the others of the ISR, below the high watermark everywhere. */
  commit(values: readonly number[], options: BatchMore = {}): RecordBatch {
    const batch = this.write(values, options);
    const others = this.isr.filter((broker) => broker !== this.leader);
    this.copy(others).highWatermark(this.leader, batch.nextOffset);
    for (const broker of others) this.highWatermark(broker, batch.nextOffset);
    return batch;
  }

  ack(values: readonly number[], baseOffset: number, more: Partial<SendEnded> = {}): this {
    return this.note({
      kind: "send-ended",
      client: "p1",
      partition: ORDERS,
      outcome: "acked",
      values,
      baseOffset,
      acks: -1,
      error: "NONE",
      attempts: 1,
      ...more,
    });
  }

  failedAttempt(client = "p1", error = "NETWORK_EXCEPTION"): this {
    return this.note({
      kind: "request-failed",
      client,
      api: PRODUCE.name,
      broker: this.leader,
      partition: ORDERS,
      error,
      retried: true,
    });
  }

  poll(batches: readonly RecordBatch[], client = "c1"): this {
    const firstOffset = batches[0]?.baseOffset ?? 0;
    const lastOffset = batches.at(-1)?.lastOffset ?? 0;
    return this.note({
      kind: "polled",
      client,
      partition: ORDERS,
      firstOffset,
      lastOffset,
      batches,
    });
  }

  truncate(broker: number, to: number, reason = "diverging-epoch"): this {
    const from = this.end(broker);
    this.#cut(broker, to);
    return this.note({ kind: "truncated", broker, partition: ORDERS, from, to, reason });
  }

  /** The broker's log now begins at `to`. */
  moveStart(broker: number, to: number, reason: string): this {
    const from = this.starts.get(broker) ?? 0;
    this.starts.set(broker, to);
    this.logs.set(
      broker,
      (this.logs.get(broker) ?? []).filter((batch) => batch.lastOffset >= to),
    );
    return this.note({ kind: "log-start-moved", broker, partition: ORDERS, from, to, reason });
  }

  /** The broker's log is emptied, and begins at `to`. */
  emptyTo(broker: number, to: number): this {
    const from = this.end(broker);
    this.logs.set(broker, []);
    this.note({
      kind: "truncated",
      broker,
      partition: ORDERS,
      from,
      to,
      reason: "offset-out-of-range",
    });
    return this.moveStart(broker, to, "fully-truncated");
  }

  /** Compaction of [from, to) leaves the records at these offsets, and of other batches nothing. */
  clean(broker: number, from: number, to: number, left: readonly number[]): this {
    const log = this.logs.get(broker) ?? [];
    const isClean = ({ baseOffset }: RecordBatch) => baseOffset >= from && baseOffset < to;
    const batches = log.filter(isClean).flatMap((batch) => leftOf(batch, left) ?? []);
    return this.cleaned(broker, from, to, batches);
  }

  /** Compaction of [from, to) leaves just these batches. */
  cleaned(broker: number, from: number, to: number, batches: readonly RecordBatch[]): this {
    const log = this.logs.get(broker) ?? [];
    this.logs.set(broker, [
      ...log.filter(({ baseOffset }) => baseOffset < from),
      ...batches,
      ...log.filter(({ baseOffset }) => baseOffset >= to),
    ]);
    return this.note({ kind: "log-cleaned", broker, partition: ORDERS, from, to, batches });
  }

  stop(broker: number, how: "crash" | "power-off" | "exit" = "crash"): this {
    return this.note({ kind: "node-stopped", node: `broker-${broker}`, how, reason: "test" });
  }

  /** The broker is back, with its log up to `end`; all of it by default. */
  restart(broker: number, end: number = this.end(broker)): this {
    this.note({ kind: "node-started", node: `broker-${broker}`, incarnation: 1 });
    return this.load(broker, end);
  }

  load(broker: number, logEndOffset: number, logStartOffset = 0): this {
    this.#cut(broker, logEndOffset);
    this.starts.set(broker, logStartOffset);
    return this.note({
      kind: "log-loaded",
      broker,
      partition: ORDERS,
      logStartOffset,
      logEndOffset,
      highWatermark: 0,
      cleanShutdown: false,
      truncatedBytes: 0,
    });
  }

  /** The controller's word alone: another ISR, or a leader that does not know yet. */
  registered(election: PartitionChanged["election"], more: Partial<PartitionChanged> = {}): this {
    this.#partitionEpoch++;
    return this.note({
      kind: "partition-changed",
      partition: ORDERS,
      replicas: [1, 2, 3],
      isr: this.isr,
      elr: [],
      leader: this.leader,
      leaderEpoch: this.epoch,
      partitionEpoch: this.#partitionEpoch,
      recovering: election === "unclean" || election === "last-known",
      election,
      minInsyncReplicas: this.#minInsyncReplicas,
      ...more,
    });
  }

  /** The leader asks for another ISR, and the controller agrees. */
  shrink(isr: readonly number[]): this {
    const asked = { broker: this.leader, partition: ORDERS, isr, leaderEpoch: this.epoch };
    this.#aside({ kind: "isr-proposed", ...asked, partitionEpoch: this.#partitionEpoch });
    this.isr = isr;
    this.registered("none");
    const partitionEpoch = this.#partitionEpoch;
    this.#aside({ kind: "isr-adopted", ...asked, partitionEpoch, by: "answer" });
    return this;
  }

  /** The controller elects, the elected takes office. */
  elect(leader: number, options: ElectOptions): this {
    this.leader = leader;
    this.epoch = options.epoch ?? this.epoch + 1;
    this.isr = options.isr;
    this.registered(options.election ?? "clean", { elr: options.elr ?? [] });
    return this.note(this.#leads());
  }

  /** The broker hears of the leader. */
  follow(broker: number): this {
    return this.#follows(broker);
  }

  /** Violations, after the guarantees' last look. */
  violations(): readonly Violation[] {
    this.checkers.atEnd(this.now, this.event);
    return this.checkers.violations();
  }

  #cut(broker: number, to: number): void {
    const log = this.logs.get(broker) ?? [];
    this.logs.set(
      broker,
      log.filter((batch) => batch.lastOffset < to),
    );
  }

  #leads(): Extract<Fact, { kind: "became-leader" }> {
    return {
      kind: "became-leader",
      broker: this.leader,
      partition: ORDERS,
      leaderEpoch: this.epoch,
      partitionEpoch: this.#partitionEpoch,
      logEndOffset: this.end(this.leader),
      highWatermark: 0,
      isr: this.isr,
    };
  }

  #follows(broker: number): this {
    return this.note(this.#following(broker));
  }

  #following(broker: number): Extract<Fact, { kind: "became-follower" }> {
    this.#followed.set(broker, this.epoch);
    return {
      kind: "became-follower",
      broker,
      partition: ORDERS,
      leader: this.leader,
      leaderEpoch: this.epoch,
      logEndOffset: this.end(broker),
    };
  }
}

function toCode(letter: string): number {
  return letter.charCodeAt(0);
}

/** What compaction leaves of a batch, if it keeps the records at these offsets. */
export function leftOf(batch: RecordBatch, offsets: readonly number[]): RecordBatch | undefined {
  const { baseOffset, lastOffset, partitionLeaderEpoch } = batch;
  const { producerId, producerEpoch, baseSequence } = batch;
  const records = batch
    .records()
    .filter(({ offset }) => offsets.includes(offset))
    .map((record) => ({ ...record, offsetDelta: record.offset - baseOffset }));
  if (records.length === 0) return undefined;
  if (records.length === batch.recordCount) return batch;
  return buildBatch(records, {
    baseOffset,
    lastOffset,
    partitionLeaderEpoch,
    producerId,
    producerEpoch,
    baseSequence,
  });
}

/** A batch of which compaction kept nothing but its header. */
export function emptied(batch: RecordBatch): RecordBatch {
  const { baseOffset, lastOffset, partitionLeaderEpoch, maxTimestamp } = batch;
  const { producerId, producerEpoch, baseSequence } = batch;
  return buildEmptyBatch({
    baseOffset,
    lastOffset,
    partitionLeaderEpoch,
    maxTimestamp,
    producerId,
    producerEpoch,
    baseSequence,
  });
}

/** p1 and p2 write with acks=all and idempotence, unless told otherwise; Kafka's defaults elsewhere. */
export function setupOf(options: HistoryOptions): CheckSetup {
  const client = (address: number, name: string): [string, ClientSetup] => [
    name,
    {
      address,
      acks: -1,
      idempotent: true,
      configs: resolveConfigs(PRODUCER_CONFIGS),
      ...options.clients?.[name],
    },
  ];
  const topic: TopicSetup = {
    flushMessages: Number.MAX_SAFE_INTEGER,
    uncleanLeaderElection: false,
    deletesOldSegments: true,
    isCompacted: false,
    retentionMs: -1,
    retentionBytes: -1,
    deleteRetentionMs: 0,
    ...options.topic,
  };
  const isolation = options.isolation ?? "read_uncommitted";
  const consumerConfigs = resolveConfigs(CONSUMER_CONFIGS, { "isolation.level": isolation });
  return {
    brokers: [resolveConfigs(BROKER_CONFIGS)],
    clients: new Map([client(1, "p1"), client(2, "p2")]),
    members: new Map(options.members),
    working: new Set(options.working),
    commitsEarly: new Set(options.commitsEarly),
    consumers: new Map([["c1", { topic: "orders", configs: consumerConfigs }]]),
    processors: new Map(),
    topics: new Map([["orders", topic]]),
    switches: { ...PRESENT_RULES, ...options.switches },
    features: { ...PRESENT_FEATURES, "eligible.leader.replicas.version": options.elr ?? 1 },
    clockStart: 0,
  };
}
