import type {
  BrokerEpoch,
  BrokerId,
  LeaderEpoch,
  Offset,
  PartitionEpoch,
  PartitionName,
  QuorumEpoch,
} from "../kafka/ids.ts";
import type { RecordBatch } from "../kafka/log/record-batch.ts";

/**
 * The one vocabulary of what happened. Checkers, triggers, tables and reports read facts and
 * nothing else. A fact is noted by the part that cannot lie about it: what is in a log by the log,
 * what a client was told by the client, what died by the host that ran it.
 *
 * Facts carry no time: the recorder gives each its instant (true time) and the number of its event.
 */
export type Fact =
  // The world: noted by hosts and by the director of faults.
  | NodeStarted
  | NodeStopped
  | NodePaused
  | NodeResumed
  | FaultBegun
  | FaultEnded
  | CoreDrawn
  | UnflushedLost
  | DiskDisturbed
  | MessageDisturbed
  // The metadata quorum: noted by its members.
  | ControllerElected
  | ControllerResigned
  | BrokerRegistered
  | BrokerFenced
  | BrokerUnfenced
  | BrokerShuttingDown
  | PartitionChanged
  | MetadataLoaded
  | MetadataAppended
  | MetadataTruncated
  | MetadataApplied
  // Brokers and their logs.
  | LogLoaded
  | Appended
  | Truncated
  | LogStartMoved
  | LogCleaned
  | LogDirectoryFailed
  | HighWatermarkMoved
  | LastStableOffsetMoved
  | BecameLeader
  | BecameFollower
  | IsrProposed
  | IsrAdopted
  // Coordinators.
  | CoordinatorLoaded
  | CoordinatorUnloaded
  | GroupStateChanged
  | GroupMigrated
  | GroupMemberJoined
  | GroupMemberLeft
  | GroupAssigned
  | GroupMemberAssigned
  | OffsetsCommitted
  | OffsetsRemoved
  | ZookeeperSessionEnded
  | ZookeeperRebalanceEnded
  | TransactionStateChanged
  // Clients.
  | RecordSent
  | SendEnded
  | TransactionBegun
  | TransactionEnded
  | ProducerFenced
  | ProducerIdRotated
  | HangingTransactionFound
  | RequestFailed
  | Polled
  | RecordsProcessed
  | RecordDerived
  | RowStored
  | PartitionsAssigned
  | PartitionsRevoked
  | PartitionsLost
  | CommitEnded
  | OffsetAsked
  | OffsetTold
  | CallFailed
  | PositionReset;

export type FactKind = Fact["kind"];
export type FactOf<K extends FactKind> = Extract<Fact, { readonly kind: K }>;

/** Where facts go. */
export interface FactSink {
  note(fact: Fact): void;
}

export interface NodeStarted {
  readonly kind: "node-started";
  readonly node: string;
  readonly incarnation: number;
}

export interface NodeStopped {
  readonly kind: "node-stopped";
  readonly node: string;
  /** A crash keeps the page cache, a power-off loses it, an exit is the process's own doing. */
  readonly how: "crash" | "power-off" | "exit";
  readonly reason: string;
}

export interface NodePaused {
  readonly kind: "node-paused";
  readonly node: string;
}

export interface NodeResumed {
  readonly kind: "node-resumed";
  readonly node: string;
}

export interface FaultBegun {
  readonly kind: "fault-begun";
  /** The number of the fault in the plan, from 0. */
  readonly fault: number;
  /** The word for the timeline: `crash`, `partition`, `mark`, ... */
  readonly verb: string;
  /** What it does to whom, targets resolved: `broker-2, leader of orders-0`. */
  readonly text: string;
  /** The scenario's name for it, without brackets; empty if it has none. */
  readonly name: string;
}

export interface FaultEnded {
  readonly kind: "fault-ended";
  readonly fault: number;
  readonly verb: string;
  readonly text: string;
  readonly name: string;
}

/** The cluster settles, and only a part of it is healed; noted once, after the fault-begun `settle`. */
export interface CoreDrawn {
  readonly kind: "core-drawn";
  /** Names of the brokers and controllers that are healed. */
  readonly core: readonly string[];
  /** Of the others, those of which something stays wrong for ever. */
  readonly frozen: readonly string[];
}

/** A power-off took what was in the page cache only. */
export interface UnflushedLost {
  readonly kind: "unflushed-lost";
  readonly node: string;
  readonly path: string;
  /** Bytes of the file that differ from what was written, or are gone. */
  readonly bytes: number;
}

/** A fault of a disk has bitten: a call failed, or bytes are not what was written. */
export interface DiskDisturbed {
  readonly kind: "disk-disturbed";
  readonly node: string;
  /** Of the file or directory; `/` for all of the disk. */
  readonly path: string;
  /** The partition in whose directory it lies; empty if there is none. */
  readonly partition: PartitionName | "";
  /**
   * The first six: a call failed; and `disk-lost` also, once: all on it is gone. `fsync-error`: besides, unflushed bytes were dropped. `fsync-lie`: an
   * fsync did nothing. `bit-rot`, `misdirected-read`: such bytes were read. `misdirected-write`: a page
   * was flushed to another place; or, later, what is missing or was hit was read.
   */
  readonly how:
    | "read-error"
    | "write-error"
    | "no-space"
    | "read-only"
    | "disk-lost"
    | "fsync-error"
    | "fsync-lie"
    | "bit-rot"
    | "misdirected-read"
    | "misdirected-write";
  /** In the file; -1 if it is about all of it. */
  readonly position: number;
  readonly bytes: number;
}

/** The network did to one message what TCP never would (the faults drop, duplicate and reorder). */
export interface MessageDisturbed {
  readonly kind: "message-disturbed";
  readonly how: "dropped" | "doubled" | "overtaken";
  /** Names of nodes. */
  readonly from: string;
  readonly to: string;
  readonly apiKey: number;
  readonly isResponse: boolean;
}

export interface ControllerElected {
  readonly kind: "controller-elected";
  readonly controller: BrokerId;
  readonly quorumEpoch: QuorumEpoch;
}

export interface ControllerResigned {
  readonly kind: "controller-resigned";
  readonly controller: BrokerId;
  readonly quorumEpoch: QuorumEpoch;
}

export interface BrokerRegistered {
  readonly kind: "broker-registered";
  readonly broker: BrokerId;
  readonly brokerEpoch: BrokerEpoch;
  readonly cleanShutdown: boolean;
}

export interface BrokerFenced {
  readonly kind: "broker-fenced";
  readonly broker: BrokerId;
  readonly brokerEpoch: BrokerEpoch;
}

export interface BrokerUnfenced {
  readonly kind: "broker-unfenced";
  readonly broker: BrokerId;
  readonly brokerEpoch: BrokerEpoch;
}

/** The controller has let it begin a controlled shutdown: it joins no ISR any more (KIP-841). */
export interface BrokerShuttingDown {
  readonly kind: "broker-shutting-down";
  readonly broker: BrokerId;
  readonly brokerEpoch: BrokerEpoch;
}

/** A partition's registration as committed to the metadata log; noted once, by the active controller. */
export interface PartitionChanged {
  readonly kind: "partition-changed";
  readonly partition: PartitionName;
  readonly replicas: readonly BrokerId[];
  readonly isr: readonly BrokerId[];
  readonly elr: readonly BrokerId[];
  /** NO_LEADER (-1) while it has none. */
  readonly leader: BrokerId;
  readonly leaderEpoch: LeaderEpoch;
  readonly partitionEpoch: PartitionEpoch;
  readonly recovering: boolean;
  /** What chose the leader; "none" if the leader did not change. */
  readonly election: "none" | "initial" | "clean" | "elr" | "last-known" | "unclean";
  /** The min.insync.replicas in force for the partition. */
  readonly minInsyncReplicas: number;
}

/** A node's replica of the metadata log is open after a start; noted even if it is empty. */
export interface MetadataLoaded {
  readonly kind: "metadata-loaded";
  /** The `node.id`, of a controller or a broker. */
  readonly node: BrokerId;
  /** Has it a vote, so that what is committed must be on a majority of its like? */
  readonly isVoter: boolean;
  readonly logEndOffset: Offset;
  /** The quorum epoch of its last batch; 0 if it is empty. */
  readonly lastEpoch: QuorumEpoch;
}

/** One batch entered a node's replica of the metadata log. */
export interface MetadataAppended {
  readonly kind: "metadata-appended";
  readonly node: BrokerId;
  readonly batch: RecordBatch;
  readonly asLeader: boolean;
}

export interface MetadataTruncated {
  readonly kind: "metadata-truncated";
  readonly node: BrokerId;
  /** The log end offset before and after. */
  readonly from: Offset;
  readonly to: Offset;
}

/** A node holds a batch of metadata for committed: it is in its image from now on. */
export interface MetadataApplied {
  readonly kind: "metadata-applied";
  readonly node: BrokerId;
  readonly batch: RecordBatch;
}

/** A replica's log is open after a start; noted even if it is empty. */
export interface LogLoaded {
  readonly kind: "log-loaded";
  readonly broker: BrokerId;
  readonly partition: PartitionName;
  readonly logStartOffset: Offset;
  readonly logEndOffset: Offset;
  /**
   * The leader epoch of its last batch, -1 if it is empty. With the end it tells which log this is:
   * a power-off can also bring back what had been cut off or written over.
   */
  readonly lastEpoch?: LeaderEpoch;
  readonly highWatermark: Offset;
  /** False if the log was scanned because the last stop was unclean. */
  readonly cleanShutdown: boolean;
  /** Bytes cut off because a batch was torn or failed its CRC. */
  readonly truncatedBytes: number;
}

/** One batch entered a replica's log. */
export interface Appended {
  readonly kind: "appended";
  readonly broker: BrokerId;
  readonly partition: PartitionName;
  /** The batch as stored: offsets and leader epoch assigned. */
  readonly batch: RecordBatch;
  readonly asLeader: boolean;
}

export interface Truncated {
  readonly kind: "truncated";
  readonly broker: BrokerId;
  readonly partition: PartitionName;
  /** The log end offset before and after. */
  readonly from: Offset;
  readonly to: Offset;
  /** `diverging-epoch`, `high-watermark`, `offset-out-of-range`, ... */
  readonly reason: string;
}

/** Records below an offset are gone from a replica by intent: nobody may read them there any more. */
export interface LogStartMoved {
  readonly kind: "log-start-moved";
  readonly broker: BrokerId;
  readonly partition: PartitionName;
  readonly from: Offset;
  readonly to: Offset;
  /**
   * `retention-time`, `retention-size`: whole old segments; `delete-records`: a client asked;
   * `leader`: a follower does as its leader did; `fully-truncated`: the log was emptied to begin at `to`.
   */
  readonly reason: string;
}

/** Compaction rewrote a stretch of a replica's log. */
export interface LogCleaned {
  readonly kind: "log-cleaned";
  readonly broker: BrokerId;
  readonly partition: PartitionName;
  /** The stretch [from, to), and all that is left of it, in order. */
  readonly from: Offset;
  readonly to: Offset;
  readonly batches: readonly RecordBatch[];
}

/** A broker gave up one of its log directories after an I/O error; its logs there are offline. */
export interface LogDirectoryFailed {
  readonly kind: "log-directory-failed";
  readonly broker: BrokerId;
  /** As in `log.dirs`. */
  readonly directory: string;
  /** What failed: `EIO: data/orders-0/00000000000000000000.log`. */
  readonly reason: string;
}

export interface HighWatermarkMoved {
  readonly kind: "high-watermark-moved";
  readonly broker: BrokerId;
  readonly partition: PartitionName;
  readonly highWatermark: Offset;
  readonly leaderEpoch: LeaderEpoch;
  readonly asLeader: boolean;
}

/**
 * Up to where readers of committed records may read is elsewhere, with a leader's high watermark. While no transaction
 * keeps it back it is the high watermark, and nothing is noted.
 */
export interface LastStableOffsetMoved {
  readonly kind: "last-stable-offset-moved";
  readonly broker: BrokerId;
  readonly partition: PartitionName;
  readonly lastStableOffset: Offset;
  readonly leaderEpoch: LeaderEpoch;
}

export interface BecameLeader {
  readonly kind: "became-leader";
  readonly broker: BrokerId;
  readonly partition: PartitionName;
  readonly leaderEpoch: LeaderEpoch;
  readonly partitionEpoch: PartitionEpoch;
  readonly logEndOffset: Offset;
  readonly highWatermark: Offset;
  readonly isr: readonly BrokerId[];
}

export interface BecameFollower {
  readonly kind: "became-follower";
  readonly broker: BrokerId;
  readonly partition: PartitionName;
  readonly leader: BrokerId;
  readonly leaderEpoch: LeaderEpoch;
  readonly logEndOffset: Offset;
}

/** A leader asked the controller for another ISR (AlterPartition). */
export interface IsrProposed {
  readonly kind: "isr-proposed";
  readonly broker: BrokerId;
  readonly partition: PartitionName;
  readonly isr: readonly BrokerId[];
  readonly leaderEpoch: LeaderEpoch;
  readonly partitionEpoch: PartitionEpoch;
}

/**
 * A leader goes by another ISR than before, or is no longer waiting for one that it proposed: it was
 * committed, or another was, or it was refused. In between it goes by the larger of the two.
 */
export interface IsrAdopted {
  readonly kind: "isr-adopted";
  readonly broker: BrokerId;
  readonly partition: PartitionName;
  readonly isr: readonly BrokerId[];
  /** The controller's answer, its refusal, or its metadata. */
  readonly by: "answer" | "refusal" | "metadata";
  readonly leaderEpoch: LeaderEpoch;
  readonly partitionEpoch: PartitionEpoch;
}

/** A broker has read a partition of a coordinator's topic that it leads: it coordinates what is kept there. */
export interface CoordinatorLoaded {
  readonly kind: "coordinator-loaded";
  readonly broker: BrokerId;
  readonly partition: PartitionName;
  readonly leaderEpoch: LeaderEpoch;
}

/** It does so no more. */
export interface CoordinatorUnloaded {
  readonly kind: "coordinator-unloaded";
  readonly broker: BrokerId;
  readonly partition: PartitionName;
  readonly leaderEpoch: LeaderEpoch;
}

export interface GroupStateChanged {
  readonly kind: "group-state-changed";
  /** The coordinator. */
  readonly broker: BrokerId;
  readonly group: string;
  /** Kafka's names: `Empty`, `PreparingRebalance`, ...; empty if the group was not there. */
  readonly from: string;
  readonly to: string;
  /** The generation, or the group epoch (KIP-848), as it is now. */
  readonly generation: number;
  /** What brought it about, in a few words. */
  readonly reason: string;
}

/** A group goes over to the other protocol, with its members (KIP-848's online migration); noted when it is committed. */
export interface GroupMigrated {
  readonly kind: "group-migrated";
  readonly broker: BrokerId;
  readonly group: string;
  readonly to: "consumer" | "classic";
  /** The generation that became the group epoch, or the other way round. */
  readonly generation: number;
}

export interface GroupMemberJoined {
  readonly kind: "group-member-joined";
  readonly broker: BrokerId;
  readonly group: string;
  /** The member id. */
  readonly member: string;
  /** The `group.instance.id` of a static member; empty if it is none. */
  readonly instance: string;
}

export interface GroupMemberLeft {
  readonly kind: "group-member-left";
  readonly broker: BrokerId;
  readonly group: string;
  readonly member: string;
  readonly instance: string;
  /** `left`, `session-expired`, `rebalance-timeout`, `replaced` by another of its instance id, ... */
  readonly reason: string;
}

/** What a generation, or a target epoch (KIP-848), gives to whom: all members; noted when it is committed. */
export interface GroupAssigned {
  readonly kind: "group-assigned";
  readonly broker: BrokerId;
  readonly group: string;
  readonly generation: number;
  readonly assignments: readonly MemberAssignment[];
}

export interface MemberAssignment {
  readonly member: string;
  /** What it subscribes to, by name. */
  readonly topics: readonly string[];
  readonly partitions: readonly PartitionName[];
}

/** What a member of a KIP-848 group owns by right from now on, on its way to its target; noted when that is committed. */
export interface GroupMemberAssigned {
  readonly kind: "group-member-assigned";
  readonly broker: BrokerId;
  readonly group: string;
  readonly member: string;
  readonly memberEpoch: number;
  readonly partitions: readonly PartitionName[];
  /** What it must still give back: nobody else gets these before. */
  readonly revoking: readonly PartitionName[];
}

/** Offsets of a group are committed: what a coordinator answers from now on. */
export interface OffsetsCommitted {
  readonly kind: "offsets-committed";
  readonly broker: BrokerId;
  readonly group: string;
  /** Empty if no member of the group did it. */
  readonly member: string;
  /** The generation or member epoch that was named; -1 if none was. */
  readonly generation: number;
  readonly offsets: readonly CommittedOffset[];
  /** NO_PRODUCER_ID, or whose transaction has brought them, at its end. */
  readonly producerId: number;
}

/** Offsets that nobody has used for `offsets.retention.minutes` are gone; noted when that is committed. */
export interface OffsetsRemoved {
  readonly kind: "offsets-removed";
  readonly broker: BrokerId;
  readonly group: string;
  readonly partitions: readonly PartitionName[];
}

/** A session with ZooKeeper is over: its client has closed it, or was not heard of for too long, and need not know yet. */
export interface ZookeeperSessionEnded {
  readonly kind: "zookeeper-session-ended";
  readonly session: number;
  readonly how: "closed" | "expired";
  /** The ephemeral znodes that went with it. */
  readonly znodes: readonly string[];
}

/** A member has tried to take what the registries in ZooKeeper leave to it (groups: zookeeper-2011). */
export interface ZookeeperRebalanceEnded {
  readonly kind: "zookeeper-rebalance-ended";
  readonly client: string;
  readonly group: string;
  readonly member: string;
  /** From 1; `failed` after the last that `rebalance.max.retries` allows. */
  readonly attempt: number;
  /** `conflict`: others still own some of it, and it has taken nothing. `stale`: what it read has changed meanwhile. */
  readonly outcome: "owned" | "conflict" | "stale" | "failed";
  /** What it owns; of a conflict, what others own. */
  readonly partitions: readonly PartitionName[];
}

export interface CommittedOffset {
  readonly partition: PartitionName;
  readonly offset: Offset;
}

/** What a coordinator knows of a transactional id is another: the record that says so is committed. */
export interface TransactionStateChanged {
  readonly kind: "transaction-state-changed";
  /** The coordinator. */
  readonly broker: BrokerId;
  /** The leader epoch in which it coordinates. */
  readonly coordinatorEpoch: LeaderEpoch;
  readonly transactionalId: string;
  readonly producerId: number;
  readonly producerEpoch: number;
  /** Kafka's names: `Empty`, `Ongoing`, `PrepareCommit`, ...; empty if it was just read from the log. */
  readonly from: string;
  readonly to: string;
  /** What takes part, and has no marker yet. */
  readonly partitions: readonly PartitionName[];
  /** What brought it about, in a few words. */
  readonly reason: string;
}

/** A transactional id goes on with another producer id, since the epochs of the last one are used up. */
export interface ProducerIdRotated {
  readonly kind: "producer-id-rotated";
  /** The coordinator. */
  readonly broker: BrokerId;
  readonly transactionalId: string;
  readonly from: number;
  readonly to: number;
}

/** An application began a transaction; what it sends from now on belongs to it. */
export interface TransactionBegun {
  readonly kind: "transaction-begun";
  readonly client: string;
  readonly transactionalId: string;
  /** Counted by the client: 0, 1, ...; a process that starts anew goes on elsewhere. */
  readonly transaction: number;
  readonly producerId: number;
  readonly producerEpoch: number;
}

/** It heard how the transaction ended. `unknown`: it asked for a commit, and may or may not have got it. */
export interface TransactionEnded {
  readonly kind: "transaction-ended";
  readonly client: string;
  readonly transactionalId: string;
  readonly transaction: number;
  readonly outcome: "committed" | "aborted" | "unknown";
  /** Why it did not end as it was to; "NONE" if it did. */
  readonly error: string;
}

/** A producer was told that another has its transactional id: it can do no more. */
export interface ProducerFenced {
  readonly kind: "producer-fenced";
  readonly client: string;
  readonly transactionalId: string;
  readonly producerId: number;
  readonly producerEpoch: number;
}

/** An administrator found a transaction that no coordinator will end, and asks for its abort (KIP-664). */
export interface HangingTransactionFound {
  readonly kind: "hanging-transaction-found";
  readonly client: string;
  readonly partition: PartitionName;
  readonly producerId: number;
  readonly producerEpoch: number;
  readonly firstOffset: Offset;
}

/** An application handed one record to its producer. */
export interface RecordSent {
  readonly kind: "record-sent";
  readonly client: string;
  readonly partition: PartitionName;
  /** The record's number among this client's sends, from 0: its identity (see kafka/client/payload). */
  readonly value: number;
}

/**
 * The end of a batch's sends as the application was told. `acked`: it is written, at baseOffset + i
 * (-1 if unknown, as with acks=0 and duplicates). `failed`: it is definitely not written.
 * `unknown`: it may be.
 */
export interface SendEnded {
  readonly kind: "send-ended";
  readonly client: string;
  readonly partition: PartitionName;
  readonly outcome: "acked" | "failed" | "unknown";
  /** Values in batch order, as in RecordSent. */
  readonly values: readonly number[];
  readonly baseOffset: Offset;
  readonly acks: -1 | 0 | 1;
  /** Kafka's error name; "NONE" if acked. */
  readonly error: string;
  /** Attempts made, 0 if it never left the client. */
  readonly attempts: number;
}

/** A client's request came back with an error, or its connection broke (then `NETWORK_EXCEPTION`). */
export interface RequestFailed {
  readonly kind: "request-failed";
  readonly client: string;
  readonly api: string;
  readonly broker: BrokerId;
  /** Empty if the error is the whole request's. */
  readonly partition: PartitionName;
  readonly error: string;
  /** Will the client try again by itself? */
  readonly retried: boolean;
}

/** The application received records, in this order; offsets may have holes where the log has. */
export interface Polled {
  readonly kind: "polled";
  readonly client: string;
  readonly partition: PartitionName;
  readonly firstOffset: Offset;
  readonly lastOffset: Offset;
  /** The batches the records came from; records outside [firstOffset, lastOffset] were not handed over. */
  readonly batches: readonly RecordBatch[];
}

/** The application has done its work on records that it was given: all of those between the offsets. */
export interface RecordsProcessed {
  readonly kind: "records-processed";
  readonly client: string;
  readonly group: string;
  readonly partition: PartitionName;
  readonly firstOffset: Offset;
  readonly lastOffset: Offset;
}

/** An application that reads and writes made a record of one that it was given, and sent it. */
export interface RecordDerived {
  readonly kind: "record-derived";
  readonly client: string;
  readonly group: string;
  readonly partition: PartitionName;
  readonly offset: Offset;
  /** Of the record that is sent, as in RecordSent. */
  readonly value: number;
}

/** An application wrote a row for a record that it was given, outside of Kafka; it is durable. */
export interface RowStored {
  readonly kind: "row-stored";
  readonly client: string;
  readonly group: string;
  readonly store: string;
  readonly partition: PartitionName;
  readonly offset: Offset;
  /** False if the row took the place of another with its key. */
  readonly isNew: boolean;
}

/** A member of a group owns these besides what it has kept, and reads them from now on (`onPartitionsAssigned`). */
export interface PartitionsAssigned {
  readonly kind: "partitions-assigned";
  readonly client: string;
  readonly group: string;
  /** The member id; empty if it is no member and has assigned them to itself (`assign`). */
  readonly member: string;
  /** The generation or member epoch; -1 if it is no member. */
  readonly generation: number;
  readonly partitions: readonly PartitionName[];
}

/** It gives these up, and could still commit how far it came (`onPartitionsRevoked`). */
export interface PartitionsRevoked {
  readonly kind: "partitions-revoked";
  readonly client: string;
  readonly group: string;
  readonly member: string;
  readonly generation: number;
  readonly partitions: readonly PartitionName[];
}

/** It has heard that these are not its own any more; another may have them already (`onPartitionsLost`). */
export interface PartitionsLost {
  readonly kind: "partitions-lost";
  readonly client: string;
  readonly group: string;
  /** Empty, and -1, if it is no member any more. */
  readonly member: string;
  readonly generation: number;
  readonly partitions: readonly PartitionName[];
}

/** How a member's commit ended, as the member was told. `unknown`: it may have been carried out. */
export interface CommitEnded {
  readonly kind: "commit-ended";
  readonly client: string;
  readonly group: string;
  readonly member: string;
  readonly generation: number;
  /** By enable.auto.commit, or by the application's commitSync or commitAsync. */
  readonly how: "auto" | "sync" | "async";
  /** Each the next to be read. */
  readonly offsets: readonly CommittedOffset[];
  readonly outcome: "committed" | "failed" | "unknown";
  /** Kafka's error, or the exception if nothing was sent; "NONE" if it is committed. */
  readonly error: string;
}

/** A consumer asks a leader where its log begins or ends, or what it had at a time. */
export interface OffsetAsked {
  readonly kind: "offset-asked";
  readonly client: string;
  readonly partition: PartitionName;
  /** Who is asked: the leader as the consumer knows it. */
  readonly broker: BrokerId;
  readonly which: "earliest" | "latest" | "by-duration" | "by-timestamp";
  /** The answer is to be its position, or what a call of its application returns. */
  readonly purpose: "position" | "answer";
}

/** A call of the application has returned: `beginningOffsets`, `endOffsets`, `offsetsForTimes`. */
export interface OffsetTold {
  readonly kind: "offset-told";
  readonly client: string;
  readonly partition: PartitionName;
  /** Kafka's name of the method. */
  readonly call: string;
  /** Undefined: no record has that timestamp, or a later one. */
  readonly offset: Offset | undefined;
}

/** A call of the application has thrown, and it goes on. */
export interface CallFailed {
  readonly kind: "call-failed";
  readonly client: string;
  /** Kafka's name of the method. */
  readonly call: string;
  /** Empty: it was about no partition, or about several. */
  readonly partition: PartitionName;
  readonly error: string;
}

/** A consumer's position was set anew rather than moved by reading. */
export interface PositionReset {
  readonly kind: "position-reset";
  readonly client: string;
  readonly partition: PartitionName;
  /** The position before; -1 if there was none. */
  readonly from: Offset;
  readonly to: Offset;
  /** `initial`, `committed` by its group, `out-of-range`, `truncation`. */
  readonly reason: string;
}
