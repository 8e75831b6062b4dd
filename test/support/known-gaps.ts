/**
 * What Kafka itself does not keep, within all that it promises otherwise. Each is known, and is asked for by the cause
 * that its waiver names.
 */
const GAPS = {
  /**
   * A broker that starts knows of each producer the last batch only, as producer snapshots hold no more: a retry of the
   * one before it is out of order, and the producer goes on with a new epoch, under which it is written again.
   */
  producerSnapshots: /had gone on with a new producer epoch/,
  /**
   * If the first batch of all to a partition is not written and the second is, the first can never be, and is tried
   * until delivery.timeout.ms is over (KAFKA-14359).
   */
  firstSequence: /having heard OUT_OF_ORDER_SEQUENCE_NUMBER/,
  /** A broker follows before it is registered, and has no broker epoch to be known by then (BrokerServer.startup, KIP-903). */
  unregisteredFollower: /had fetched before it was registered/,
  /**
   * A coordinator takes up its office with the first metadata after a start, though its broker's registration may have
   * to wait until the session of the process before is over; what it writes then has the epoch of what was there
   * (BrokerServer.startup).
   */
  unregisteredCoordinator:
    /as a coordinator at .*, before the controller had let it in after its start/,
  /**
   * A coordinator reads its log to the end, and not to the high watermark, and carries out what it finds decided there
   * (TransactionStateManager.loadTransactionMetadata).
   */
  uncommittedDecision: /from a record that was lost before it was committed/,
  /**
   * A follower that copies several batches in one fetch writes a last stable offset into its index of aborted
   * transactions with which searches stop too early (UnifiedLog.append).
   */
  abortedIndex: /its index of them passes over the second/,
  /**
   * A broker that stops in order writes the last entry of each time index after its last flush (LogSegment.close): if
   * the power fails then, records can seem to be from 1970 at the next start.
   */
  timeIndex: /which tore a time index/,
  /**
   * `__consumer_offsets` has min.insync.replicas=1 unless the cluster says otherwise: what the last of its ISR has not
   * flushed goes with its power.
   */
  lastOfOffsets: /power loss of .*, in __consumer_offsets-/,
  /**
   * Below transaction.version 2 many transactions have one epoch, and a late request is taken for one of the next
   * (KIP-890).
   */
  sharedEpoch: /a late request is taken for one of the next transaction, which has the same epoch/,
  /**
   * Below transaction.version 2, too, a producer that gives up what is in flight while it commits takes the sequence
   * back, though it may be written, and uses it again in the next transaction (Sender.completeBatch).
   */
  reusedSequence: /used its sequence again in the same epoch/,
  /** Without verification a leader takes records of transactions that are over (KAFKA-14402). */
  unverified: /transaction.partition.verification.enable is false/,
  /** A quorum's leader counts its own records before it has flushed them (KafkaRaftClient.flushLeaderLog). */
  unflushedMetadata: /while it flushed what it had written as the leader/,
} as const satisfies Readonly<Record<string, RegExp>>;

export type Gap = keyof typeof GAPS;

/** Is what these words tell one of the gaps? */
export function isGap(words: string, gaps: readonly Gap[]): boolean {
  return gaps.some((gap) => GAPS[gap].test(words));
}

/** What transactions come upon. */
export const TRANSACTION_GAPS: readonly Gap[] = [
  "producerSnapshots",
  "unregisteredFollower",
  "unregisteredCoordinator",
  "lastOfOffsets",
  "uncommittedDecision",
  "abortedIndex",
  "timeIndex",
  "unflushedMetadata",
];

/** What they come upon below transaction.version 2, besides. */
export const EARLIER_TRANSACTION_GAPS: readonly Gap[] = [
  ...TRANSACTION_GAPS,
  "sharedEpoch",
  "reusedSequence",
];
