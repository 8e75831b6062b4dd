import { invariant } from "../../base/invariant.ts";
import { ERRORS } from "../../kafka/error-code.ts";
import type { BrokerId, Offset, QuorumEpoch } from "../../kafka/ids.ts";
import { METADATA_TOPIC, METADATA_TOPIC_ID, partitionName } from "../../kafka/ids.ts";
import type { RecordBatch } from "../../kafka/log/record-batch.ts";
import { decodeMetadataRecord } from "../../kafka/metadata/record-codec.ts";
import type { MetadataRecord } from "../../kafka/metadata/records.ts";
import type { EpochEndOffset } from "../../kafka/protocol/fetch.ts";
import type { LogEnd } from "../../kafka/quorum/quorum-rules.ts";
import type { World } from "../../ports/node.ts";
import { DEFAULT_LOG_CONFIG } from "../../storage/log-config.ts";
import { PartitionLog } from "../../storage/partition-log.ts";
import type { TicketBook } from "../../storage/ticket-book.ts";
import type { FactSink } from "../../trace/fact.ts";
import { FatalFault } from "./fatal-fault.ts";

/** Where in `metadata.log.dir` the metadata log lies, and `quorum-state` with it. */
export function metadataLogDirectory(logDirectory: string): string {
  return `${logDirectory}/${partitionName(METADATA_TOPIC, 0)}`;
}

/**
 * Opens a node's replica of the metadata log in its `metadata.log.dir`. Kafka keeps no checkpoints of
 * it: it is scanned whole at each start, as after an unclean stop with recovery point 0.
 *
 * Simplified: the files of segments that are cut off go at once, not after a minute.
 */
export function openMetadataLog(
  world: World,
  tickets: TicketBook,
  logDirectory: string,
): PartitionLog {
  return PartitionLog.open({
    disk: world.disk,
    clock: world.clock,
    tickets,
    directory: metadataLogDirectory(logDirectory),
    topic: METADATA_TOPIC,
    partition: 0,
    topicId: METADATA_TOPIC_ID,
    config: DEFAULT_LOG_CONFIG,
    recoveryPoint: 0,
    logStartOffset: 0,
    cleanShutdown: false,
  });
}

/** Hears of committed batches, each once and in order. */
export interface CommitListener {
  onCommitted(
    records: readonly MetadataRecord[],
    baseOffset: Offset,
    lastOffset: Offset,
    epoch: QuorumEpoch,
  ): void;
}

const NO_RECORDS: readonly MetadataRecord[] = [];
const NO_BATCHES: readonly RecordBatch[] = [];

/** `KafkaRaftClient.MAX_FETCH_SIZE`: how much is read at a time. */
const MAX_READ_BYTES = 1024 * 1024;

/**
 * One replica of the metadata log: what the quorum asks of it beyond a partition's log (Kafka's
 * `KafkaMetadataLog`). Every method can throw `DiskError`; `FatalFault` says that what is committed is
 * not there.
 */
export class MetadataLog {
  readonly #log: PartitionLog;
  readonly #listener: CommitListener;
  readonly #facts: FactSink;
  readonly #nodeId: BrokerId;
  #highWatermark: Offset = 0;
  /** The next offset that the listener has not heard of. */
  #delivered: Offset = 0;
  /** What was appended and not delivered, up to the end of the log: most is delivered from here. */
  #undelivered: RecordBatch[] = [];

  constructor(
    log: PartitionLog,
    listener: CommitListener,
    facts: FactSink,
    nodeId: BrokerId,
    isVoter: boolean,
  ) {
    this.#log = log;
    this.#listener = listener;
    this.#facts = facts;
    this.#nodeId = nodeId;
    const { endOffset, endEpoch } = this;
    facts.note({
      kind: "metadata-loaded",
      node: nodeId,
      isVoter,
      logEndOffset: endOffset,
      lastEpoch: endEpoch,
    });
  }

  get end(): LogEnd {
    return { epoch: this.endEpoch, offset: this.#log.logEndOffset };
  }

  /** Epoch of the last record; 0 in an empty log. */
  get endEpoch(): QuorumEpoch {
    return this.#log.latestEpoch ?? 0;
  }

  get endOffset(): Offset {
    return this.#log.logEndOffset;
  }

  get startOffset(): Offset {
    return this.#log.logStartOffset;
  }

  /** Below it all is committed. Lives in memory only, as in Kafka. */
  get highWatermark(): Offset {
    return this.#highWatermark;
  }

  get delivered(): Offset {
    return this.#delivered;
  }

  /** Where this log parts from one whose last record is of `epoch` and ends at `offset`, if it does. */
  divergence(offset: Offset, epoch: QuorumEpoch): EpochEndOffset | undefined {
    if (offset === 0 && epoch === 0) return undefined;
    // Who follows is nearly always in the epoch in which the log grows.
    if (epoch === this.#log.latestEpoch && offset <= this.endOffset) return undefined;
    const own = this.#endOfEpoch(epoch);
    return own.epoch !== epoch || own.endOffset < offset ? own : undefined;
  }

  /** Cuts this log to what it shares with a leader that answered with a diverging epoch. */
  truncateTo(diverging: EpochEndOffset): void {
    let offset = Math.min(diverging.endOffset, this.endOffset);
    if (diverging.epoch !== 0) {
      const own = this.#endOfEpoch(diverging.epoch);
      offset =
        own.epoch === diverging.epoch
          ? Math.min(own.endOffset, diverging.endOffset)
          : own.endOffset;
    }
    if (offset < this.#highWatermark) {
      throw new FatalFault(
        `it is to be cut at ${offset}, below the ${this.#highWatermark} committed`,
      );
    }
    const from = this.endOffset;
    if (this.#log.truncateTo(offset)) {
      this.#facts.note({
        kind: "metadata-truncated",
        node: this.#nodeId,
        from,
        to: this.endOffset,
      });
    }
    this.#undelivered = this.#undelivered.filter((batch) => batch.baseOffset < offset);
  }

  appendAsLeader(batches: readonly RecordBatch[], epoch: QuorumEpoch): void {
    const { error, appended } = this.#log.appendAsLeader(batches, epoch, "raft");
    invariant(error === ERRORS.NONE, () => `the metadata log refused its leader: ${error.name}`);
    for (const batch of appended) this.#appended(batch, true);
  }

  /** Takes what a leader of up to `epoch` sent; what is corrupt or out of place is left out. */
  appendAsFollower(batches: readonly RecordBatch[], epoch: QuorumEpoch): void {
    const from = this.endOffset;
    try {
      for (const batch of this.#log.appendAsFollower(batches, epoch).appended) {
        this.#appended(batch, false);
      }
    } catch (problem) {
      // What went to the disk before it failed is in the log, and may be found there one day.
      for (const batch of batches) {
        if (batch.baseOffset < from || batch.nextOffset > this.endOffset) continue;
        this.#appended(batch, false);
      }
      throw problem;
    }
  }

  #appended(batch: RecordBatch, asLeader: boolean): void {
    this.#undelivered.push(batch);
    this.#facts.note({ kind: "metadata-appended", node: this.#nodeId, batch, asLeader });
  }

  flush(): void {
    this.#log.flush();
  }

  /** Batches from `offset` up to the end of the log, committed or not. */
  read(offset: Offset): readonly RecordBatch[] {
    if (offset >= this.endOffset) return NO_BATCHES;
    return this.#log.read(offset, MAX_READ_BYTES, this.endOffset, true).batches;
  }

  /** More is committed than was known, maybe; tells the listener. It never falls. */
  committedTo(offset: Offset): void {
    if (offset <= this.#highWatermark) return;
    this.#highWatermark = offset;
    while (this.#delivered < this.#highWatermark) this.#deliverSome();
  }

  #deliverSome(): void {
    const from = this.#delivered;
    const next = this.#undelivered[0];
    if (next !== undefined && next.baseOffset === from) {
      this.#undelivered.shift();
      this.#deliver(next);
      return;
    }
    // What was there at the start, or came behind it.
    const { batches } = this.#log.read(from, MAX_READ_BYTES, this.#highWatermark, true);
    for (const batch of batches) {
      if (batch.baseOffset < from) continue;
      if (!batch.isValid()) throw new FatalFault(`it is damaged at ${batch.baseOffset}`);
      this.#deliver(batch);
    }
    if (this.#delivered === from) throw new FatalFault(`it has nothing to read at ${from}`);
    while ((this.#undelivered[0]?.baseOffset ?? this.#delivered) < this.#delivered) {
      this.#undelivered.shift();
    }
  }

  #deliver(batch: RecordBatch): void {
    // Before the call: the listener may ask how far it has got.
    this.#delivered = batch.nextOffset;
    this.#facts.note({ kind: "metadata-applied", node: this.#nodeId, batch });
    this.#listener.onCommitted(
      recordsOf(batch),
      batch.baseOffset,
      batch.lastOffset,
      batch.partitionLeaderEpoch,
    );
  }

  #endOfEpoch(epoch: QuorumEpoch): EpochEndOffset {
    const end = this.#log.endOffsetForEpoch(epoch);
    if (end.epoch >= 0) return end;
    return { epoch: this.end.epoch, endOffset: this.endOffset };
  }
}

/** The batch that was decoded last, by any node: one after another delivers the very same. */
let decodedBatch: RecordBatch | undefined;
let decodedRecords = NO_RECORDS;

function recordsOf(batch: RecordBatch): readonly MetadataRecord[] {
  if (batch !== decodedBatch) {
    decodedRecords = batch.isControl ? NO_RECORDS : decode(batch);
    decodedBatch = batch;
  }
  return decodedRecords;
}

function decode(batch: RecordBatch): readonly MetadataRecord[] {
  const records: MetadataRecord[] = [];
  for (const { value } of batch.records()) {
    invariant(value !== undefined, () => `a metadata record without value in ${batch.baseOffset}`);
    records.push(decodeMetadataRecord(value));
  }
  return records;
}
