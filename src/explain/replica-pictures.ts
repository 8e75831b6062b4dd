import { byNumber } from "../base/order.ts";
import type { BrokerId, LeaderEpoch, Offset, PartitionName } from "../kafka/ids.ts";
import { NO_LEADER } from "../kafka/ids.ts";
import type { Fact } from "../trace/fact.ts";

/** One replica's log as a person would draw it: the epoch of each record, and what was cut off. */
class ReplicaPicture {
  readonly broker: BrokerId;
  readonly records = new Map<Offset, LeaderEpoch>();
  /** What stood there last, and does no more. */
  readonly cut = new Map<Offset, LeaderEpoch>();

  constructor(broker: BrokerId) {
    this.broker = broker;
  }

  append(from: Offset, to: Offset, epoch: LeaderEpoch): void {
    for (let offset = from; offset <= to; offset++) {
      this.records.set(offset, epoch);
      this.cut.delete(offset);
    }
  }

  cutFrom(end: Offset): void {
    for (const [offset, epoch] of this.records) {
      if (offset < end) continue;
      this.records.delete(offset);
      this.cut.set(offset, epoch);
    }
  }

  /** After a start: what lies beyond is gone, and what had been cut off may be back. */
  load(start: Offset, end: Offset): void {
    this.cutFrom(end);
    for (const [offset, epoch] of this.cut) {
      if (offset >= start && offset < end) this.append(offset, offset, epoch);
    }
  }
}

/** What one replica has at one offset: the record's epoch, or that of one that was cut off there. */
export interface DrawnCell {
  readonly epoch: LeaderEpoch | undefined;
  readonly isCut: boolean;
  /** A producer was told that this very record is written. */
  readonly isAcked: boolean;
}

export interface DrawnReplica {
  readonly broker: BrokerId;
  readonly cells: readonly DrawnCell[];
  readonly isLeader: boolean;
  readonly isDown: boolean;
}

/** The logs of a partition's replicas around some offsets. */
export interface LogDrawing {
  readonly partition: PartitionName;
  readonly offsets: readonly Offset[];
  readonly replicas: readonly DrawnReplica[];
}

/** Columns beside each other on 80 characters. */
const MOST_COLUMNS = 10;
/** Columns of what lies before. */
const BEFORE = 3;

/** One partition's logs and leader, drawn from facts: to be told of all, in order. */
export class ReplicaPictures {
  readonly partition: PartitionName;
  readonly #logs = new Map<BrokerId, ReplicaPicture>();
  readonly #acked = new Map<Offset, LeaderEpoch>();
  readonly #down = new Set<string>();
  #leader: BrokerId = NO_LEADER;

  constructor(partition: PartitionName) {
    this.partition = partition;
  }

  note(fact: Fact): void {
    if (fact.kind === "node-stopped") this.#down.add(fact.node);
    if (fact.kind === "node-started") this.#down.delete(fact.node);
    if (!("partition" in fact) || fact.partition !== this.partition) return;
    switch (fact.kind) {
      case "partition-changed":
        this.#leader = fact.leader;
        break;
      case "appended": {
        const { baseOffset, lastOffset, partitionLeaderEpoch } = fact.batch;
        this.#log(fact.broker).append(baseOffset, lastOffset, partitionLeaderEpoch);
        break;
      }
      case "truncated":
        this.#log(fact.broker).cutFrom(fact.to);
        break;
      case "log-loaded":
        this.#log(fact.broker).load(fact.logStartOffset, fact.logEndOffset);
        break;
      case "log-start-moved":
        this.#expire(fact.broker, fact.to);
        break;
      case "log-cleaned":
        this.#clean(fact.broker, fact);
        break;
      case "send-ended":
        if (fact.outcome === "acked" && fact.baseOffset >= 0) {
          this.#acknowledge(fact.baseOffset, fact.values.length);
        }
        break;
      default:
    }
  }

  /** Who has a record of this epoch there, ascending. Of any epoch, if none is given. */
  holders(offset: Offset, epoch?: LeaderEpoch): BrokerId[] {
    const holders: BrokerId[] = [];
    for (const { broker, records } of this.#logs.values()) {
      const found = records.get(offset);
      if (found !== undefined && (epoch === undefined || found === epoch)) holders.push(broker);
    }
    return holders.sort(byNumber);
  }

  draw(first: Offset, last: Offset): LogDrawing {
    const from = Math.max(0, first - BEFORE);
    const to = Math.max(from, Math.min(last + 1, from + MOST_COLUMNS - 1));
    const offsets = Array.from({ length: to - from + 1 }, (_, at) => from + at);
    const inOrder = [...this.#logs.values()].sort((a, b) => a.broker - b.broker);
    const replicas = inOrder.map((log): DrawnReplica => {
      const cells = offsets.map((offset) => this.#cell(log, offset));
      const isDown = this.#down.has(`broker-${log.broker}`);
      return { broker: log.broker, cells, isLeader: log.broker === this.#leader, isDown };
    });
    return { partition: this.partition, offsets, replicas };
  }

  #cell(log: ReplicaPicture, offset: Offset): DrawnCell {
    const there = log.records.get(offset);
    const epoch = there ?? log.cut.get(offset);
    const isAcked = epoch !== undefined && this.#acked.get(offset) === epoch;
    return { epoch, isCut: there === undefined && epoch !== undefined, isAcked };
  }

  #log(broker: BrokerId): ReplicaPicture {
    const known = this.#logs.get(broker);
    if (known !== undefined) return known;
    const made = new ReplicaPicture(broker);
    this.#logs.set(broker, made);
    return made;
  }

  #expire(broker: BrokerId, start: Offset): void {
    const { records, cut } = this.#log(broker);
    for (const offset of records.keys()) if (offset < start) records.delete(offset);
    for (const offset of cut.keys()) if (offset < start) cut.delete(offset);
  }

  #clean(broker: BrokerId, { from, to, batches }: Extract<Fact, { kind: "log-cleaned" }>): void {
    const log = this.#log(broker);
    for (let offset = from; offset < to; offset++) log.records.delete(offset);
    for (const batch of batches) {
      for (const { offset } of batch.records())
        log.append(offset, offset, batch.partitionLeaderEpoch);
    }
  }

  /** The epoch is that of whoever has the record: the leader of the acknowledgement, if it has it still. */
  #acknowledge(first: Offset, count: number): void {
    for (let offset = first; offset < first + count; offset++) {
      const [holder] = this.holders(offset);
      const logs = [this.#logs.get(this.#leader), this.#logs.get(holder ?? NO_LEADER)];
      const epoch = logs[0]?.records.get(offset) ?? logs[1]?.records.get(offset);
      if (epoch !== undefined) this.#acked.set(offset, epoch);
    }
  }
}
