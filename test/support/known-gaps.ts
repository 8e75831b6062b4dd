/** What Kafka itself does not keep, within all that it promises otherwise; each by the cause that its waiver names. */
export const KNOWN_GAPS: readonly { readonly why: string; readonly reason: RegExp }[] = [
  {
    why: "A broker that starts knows of each producer the last batch only, as producer snapshots hold no more: a retry of the one before it is out of order, and the producer goes on with a new epoch.",
    reason: /had gone on with a new producer epoch/,
  },
  {
    why: "A coordinator takes up its office with the first metadata after a start, though its broker's registration may have to wait until the session of the process before is over; what it writes then has the epoch of what was there (BrokerServer.startup).",
    reason: /as a coordinator at .*, before the controller had let it in after its start/,
  },
  {
    why: "A coordinator reads its log to the end, and not to the high watermark, and carries out what it finds decided there (TransactionStateManager.loadTransactionMetadata).",
    reason: /from a record that was lost before it was committed/,
  },
  {
    why: "A follower that copies several batches in one fetch writes a last stable offset into its index of aborted transactions with which searches stop too early (UnifiedLog.append).",
    reason: /its index of them passes over the second/,
  },
  {
    why: "A broker that stops in order writes the last entry of each time index after its last flush (LogSegment.close).",
    reason: /which tore a time index/,
  },
  {
    why: "A quorum's leader counts its own records before it has flushed them (KafkaRaftClient.flushLeaderLog).",
    reason: /while it flushed what it had written as the leader/,
  },
];
