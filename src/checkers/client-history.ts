import type { Instant } from "../base/time.ts";
import { PAYLOAD_MIN_BYTES, payloadClient, payloadValue } from "../kafka/client/payload.ts";
import type { Offset } from "../kafka/ids.ts";
import type { RecordBatch } from "../kafka/log/record-batch.ts";
import { RecordCursor } from "../kafka/log/record-cursor.ts";
import type { Polled, PositionReset, RecordSent, SendEnded } from "../trace/fact.ts";
import type { FactRecorder } from "../trace/recorder.ts";
import type { BatchNode } from "./batch-tree.ts";
import { NO_NODE, NO_VALUE } from "./batch-tree.ts";
import type { CheckSetup } from "./check-setup.ts";
import { readsCommitted } from "./check-setup.ts";
import type { SendsPart } from "./client-sends.ts";
import {
  ACKED,
  ClientSends,
  FAILED,
  indexOfSend,
  READ,
  READ_COMMITTED,
  UNKNOWN,
} from "./client-sends.ts";
import type { ConsumerReads } from "./consumer-reads.ts";
import type { PartitionReader } from "./observed-partition.ts";
import { ObservedPartition, SEEN_ACKED, SEEN_READ } from "./observed-partition.ts";
import type { RecordId } from "./record-id.ts";
import { addressOfRecord, NO_RECORD, recordId, valueOfRecord } from "./record-id.ts";
import type { ReplicaLogs } from "./replica-logs.ts";

/** Something that a client saw and that does not go with what was seen before. */
export interface Oddity {
  readonly partition: ObservedPartition;
  /** Who saw it. */
  readonly client: string;
  /** What was seen, and where. */
  readonly id: RecordId;
  readonly offset: Offset;
  /** What it contradicts, and where that was seen. */
  readonly otherId: RecordId;
  readonly otherOffset: Offset;
  /** For `branch`: after which offset. */
  readonly after: Offset;
  /** Was it read, or told to the one who sent it? */
  readonly wasRead: boolean;
  readonly at: Instant;
  readonly event: number;
}

/**
 * - `changed`: at this offset another record was seen before.
 * - `twice`: this record was seen at another offset before.
 * - `failed`: this record was read, and its client was told that it is not written.
 * - `early`: the record stands at or below an offset that was known when it was sent.
 * - `branch`: after the record at `after` others were given another offset next.
 * - `back`: the consumer had come further, and nobody set its position back.
 */
export type OddityKind = "changed" | "twice" | "failed" | "early" | "branch" | "back";
export type OddityListener = (oddity: Oddity) => void;

/** A consumer went over offsets without being given what stood there, if anything did. */
export interface Leap {
  readonly partition: ObservedPartition;
  readonly client: string;
  readonly from: Offset;
  readonly to: Offset;
  /** Why its position was set anew; empty if it was not. */
  readonly reset: string;
  readonly at: Instant;
  readonly event: number;
}

/**
 * What clients saw, and nothing else: which records were sent, how the sends ended, what was read
 * where, in Jepsen's manner (its workload for Kafka). No log is looked into; where a batch is one that
 * stands in a log, its values are taken from there, since they are decoded already.
 *
 * O(1) a record. Contradictions are told as they come; what only the end shows, guarantees look up.
 */
export class ClientHistory {
  readonly partitions: ObservedPartition[] = [];
  readonly clients: Map<string, ClientSends> = new Map();
  readonly leaps: Leap[] = [];
  /** Records that consumers were given. */
  reads = 0;
  /** Acknowledgements with offsets, and reads, of records that are known. */
  sightings = 0;
  /** Of them, those of a record that had been seen before. */
  repeated = 0;
  readonly #logs: ReplicaLogs;
  readonly #setup: CheckSetup;
  readonly #byAddress: (ClientSends | undefined)[] = [];
  readonly #listeners: Readonly<Record<OddityKind, OddityListener[]>> = {
    changed: [],
    twice: [],
    failed: [],
    early: [],
    branch: [],
    back: [],
  };
  #lastClient: ClientSends | undefined = undefined;
  #cursor: RecordCursor | undefined = undefined;

  constructor(recorder: FactRecorder, logs: ReplicaLogs, reads: ConsumerReads, setup: CheckSetup) {
    this.#logs = logs;
    this.#setup = setup;
    recorder.on("record-sent", (fact, at) => this.#send(fact, at));
    recorder.on("send-ended", (fact, at, event) => this.#end(fact, at, event));
    recorder.on("position-reset", (fact, at, event) => this.#reset(fact, at, event));
    recorder.on("node-stopped", ({ node }) => this.#stop(node));
    reads.onRead((partition, client, batch, node, at, event, fact) => {
      this.#read(this.#observed(partition.index), fact, client, batch, node, at, event);
    });
  }

  on(kind: OddityKind, listener: OddityListener): void {
    this.#listeners[kind].push(listener);
  }

  /** Who wrote a record. */
  writerOf(id: RecordId): ClientSends | undefined {
    return this.#byAddress[addressOfRecord(id)];
  }

  #client(name: string): ClientSends {
    if (this.#lastClient?.name === name) return this.#lastClient;
    let client = this.clients.get(name);
    if (client === undefined) {
      client = new ClientSends(name, this.#setup.clients.get(name)?.address ?? -1);
      this.clients.set(name, client);
      if (client.address >= 0) this.#byAddress[client.address] = client;
    }
    this.#lastClient = client;
    return client;
  }

  #observed(index: number): ObservedPartition {
    const known = this.partitions[index];
    if (known !== undefined) return known;
    for (let i = this.partitions.length; i <= index; i++) {
      const ghost = this.#logs.partitions[i];
      if (ghost !== undefined) this.partitions[i] = new ObservedPartition(ghost);
    }
    return this.partitions[index] as ObservedPartition;
  }

  #reader(partition: ObservedPartition, client: string): PartitionReader {
    const known = partition.findReader(client);
    if (known !== undefined) return known;
    const isCommitted = readsCommitted(this.#setup, client);
    return partition.addReader(client, isCommitted ? READ | READ_COMMITTED : READ);
  }

  #send({ client: name, partition: named, value }: RecordSent, at: Instant): void {
    const ghost = this.#logs.partition(named);
    const part = this.#client(name).partOf(value);
    const index = indexOfSend(value);
    part.frontiers[index] = this.#observed(ghost.index).frontier;
    part.sentAt[index] = at;
    part.partitions[index] = ghost;
  }

  #end(fact: SendEnded, at: Instant, event: number): void {
    const { client: name, values, outcome, baseOffset } = fact;
    const client = this.#client(name);
    const isPlaced = outcome === "acked" && baseOffset >= 0 && fact.acks !== 0;
    const partition = this.#observed(this.#logs.partition(fact.partition).index);
    for (let i = 0; i < values.length; i++) {
      const value = values[i] as number;
      const part = client.partOf(value);
      const index = indexOfSend(value);
      part.partitions[index] ??= partition.ghost;
      part.outcomes[index] = outcome === "acked" ? ACKED : outcome === "failed" ? FAILED : UNKNOWN;
      if (client.address < 0) continue;
      const id = recordId(client.address, value);
      if (isPlaced) {
        const offset = baseOffset + i;
        this.#see(partition, client, part, name, id, offset, false, at, event);
        partition.seen[offset] = (partition.seen[offset] as number) | SEEN_ACKED;
      } else if (outcome === "failed" && (part.offsets[index] as number) >= 0) {
        const offset = part.offsets[index] as number;
        this.#tell("failed", partition, name, id, offset, NO_RECORD, -1, false, at, event);
      }
    }
  }

  /** The batch is one of those of `fact`; the records outside its range were not handed over. */
  #read(
    partition: ObservedPartition,
    fact: Polled,
    client: string,
    batch: RecordBatch,
    node: BatchNode,
    at: Instant,
    event: number,
  ): void {
    const reader = this.#reader(partition, client);
    const first = Math.max(batch.baseOffset, fact.firstOffset);
    const last = Math.min(batch.lastOffset, fact.lastOffset);
    const { tree } = partition.ghost;
    const isWhole = batch.recordCount === batch.lastOffset - batch.baseOffset + 1;
    if (node === NO_NODE || !isWhole) {
      this.#readRecords(partition, reader, batch, first, last, at, event);
      return;
    }
    const { client: address } = tree.writerOf(node);
    const { values } = tree;
    let place = tree.placeOf(node, first);
    for (let offset = first; offset <= last; offset++) {
      const value = address < 0 ? NO_VALUE : (values[place++] as number);
      const id = value === NO_VALUE ? NO_RECORD : recordId(address, value);
      this.#take(partition, reader, id, offset, at, event);
    }
  }

  /** As `#read`, of a batch with holes, or one that stands in no log. */
  #readRecords(
    partition: ObservedPartition,
    reader: PartitionReader,
    batch: RecordBatch,
    first: Offset,
    last: Offset,
    at: Instant,
    event: number,
  ): void {
    const cursor = this.#cursor ?? new RecordCursor(batch);
    this.#cursor = cursor;
    cursor.moveTo(batch);
    while (cursor.next()) {
      const { offset, valueStart, valueEnd, buffer } = cursor;
      if (offset < first || offset > last) continue;
      const hasId = valueStart >= 0 && valueEnd - valueStart >= PAYLOAD_MIN_BYTES;
      const id = hasId
        ? recordId(payloadClient(buffer, valueStart), payloadValue(buffer, valueStart))
        : NO_RECORD;
      this.#take(partition, reader, id, offset, at, event);
    }
  }

  /** A consumer was given a record. */
  #take(
    partition: ObservedPartition,
    reader: PartitionReader,
    id: RecordId,
    offset: Offset,
    at: Instant,
    event: number,
  ): void {
    this.reads++;
    partition.makeRoom(offset);
    if (offset !== reader.position) this.#leap(partition, reader, id, offset, at, event);
    const { last } = reader;
    if (last >= 0) {
      const step = partition.steps[last] as number;
      if (step === 0) partition.steps[last] = offset - last;
      else if (step !== offset - last) {
        const next = last + step;
        const other = partition.at(next);
        const { client } = reader;
        this.#tell("branch", partition, client, id, offset, other, next, true, at, event, last);
        partition.steps[last] = offset - last;
      }
    }
    reader.last = offset;
    reader.position = offset + 1;
    partition.seen[offset] = (partition.seen[offset] as number) | SEEN_READ;
    if (id === NO_RECORD) return;
    const writer = this.#byAddress[addressOfRecord(id)];
    if (writer === undefined) return;
    const value = valueOfRecord(id);
    const part = writer.partOf(value);
    this.#see(partition, writer, part, reader.client, id, offset, true, at, event);
    const index = indexOfSend(value);
    part.reads[index] = (part.reads[index] as number) | reader.flags;
    if (part.outcomes[index] === FAILED) {
      this.#tell("failed", partition, reader.client, id, offset, NO_RECORD, -1, true, at, event);
    }
  }

  /** Not where the consumer stood. */
  #leap(
    partition: ObservedPartition,
    reader: PartitionReader,
    id: RecordId,
    offset: Offset,
    at: Instant,
    event: number,
  ): void {
    const { client, position } = reader;
    if (position < 0) {
      reader.jump(offset);
    } else if (offset > position) {
      const leap = { partition, client, from: position, to: offset, reset: "", at, event };
      this.leaps.push(leap);
    } else {
      this.#tell("back", partition, client, id, offset, NO_RECORD, position, true, at, event);
      reader.jump(offset);
    }
  }

  /** A record was seen at an offset, be it by who sent it or by who read it. */
  #see(
    partition: ObservedPartition,
    writer: ClientSends,
    part: SendsPart,
    client: string,
    id: RecordId,
    offset: Offset,
    wasRead: boolean,
    at: Instant,
    event: number,
  ): void {
    this.sightings++;
    partition.makeRoom(offset);
    const before = partition.ids[offset] as number;
    if (before === id) {
      this.repeated++;
      return;
    }
    partition.ids[offset] = id;
    if (before !== NO_RECORD) {
      this.#tell("changed", partition, client, id, offset, before, offset, wasRead, at, event);
    }
    const index = indexOfSend(id - recordId(writer.address, 0));
    const known = part.offsets[index] as number;
    if (known >= 0 && known !== offset) {
      this.#tell("twice", partition, client, id, offset, id, known, wasRead, at, event);
    }
    part.offsets[index] = offset;
    const frontier = part.frontiers[index] as number;
    if (offset <= frontier) {
      const other = offset === frontier ? before : (partition.ids[frontier] as number);
      this.#tell("early", partition, client, id, offset, other, frontier, wasRead, at, event);
    }
  }

  #reset(fact: PositionReset, at: Instant, event: number): void {
    const partition = this.#observed(this.#logs.partition(fact.partition).index);
    const { client, from, to } = fact;
    const reader = this.#reader(partition, client);
    const { position } = reader;
    reader.jump(to);
    // From nowhere: it had given the partition up, and what it left unread then is no matter.
    if (from >= 0 && position >= 0 && to > position) {
      const leap = { partition, client, from: position, to, reset: fact.reason, at, event };
      this.leaps.push(leap);
    }
  }

  /** A consumer that starts again has no position. */
  #stop(node: string): void {
    for (const partition of this.partitions) {
      for (const reader of partition?.readers ?? []) if (reader.client === node) reader.jump(-1);
    }
  }

  #tell(
    kind: OddityKind,
    partition: ObservedPartition,
    client: string,
    id: RecordId,
    offset: Offset,
    otherId: RecordId,
    otherOffset: Offset,
    wasRead: boolean,
    at: Instant,
    event: number,
    after: Offset = -1,
  ): void {
    const oddity = {
      partition,
      client,
      id,
      offset,
      otherId,
      otherOffset,
      after,
      wasRead,
      at,
      event,
    };
    for (const listener of this.#listeners[kind]) listener(oddity);
  }
}
