/** The kinds of a broker's timers. */
export const BROKER_TIMER = {
  rpcTimeout: 0,
  quorum: 1,
  heartbeat: 2,
  isrScan: 3,
  delayedProduce: 4,
  delayedFetch: 5,
  fetcherBackoff: 6,
  alterPartitionRetry: 7,
  controllerRetry: 8,
  highWatermarkCheckpoint: 9,
  recoveryPointCheckpoint: 10,
  producerExpiry: 11,
  flushCheck: 12,
  lifecycleDeadline: 13,
  directoryFailureDeadline: 14,
  directoryAssignments: 15,
} as const;
