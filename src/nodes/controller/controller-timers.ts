/** The kinds of a controller's timers. */
export const CONTROLLER_TIMER = {
  rpcTimeout: 0,
  quorum: 1,
  /** The active controller's periodic tasks. */
  noOp: 2,
  fenceStale: 3,
  preferredElections: 4,
  uncleanElections: 5,
  /** An orderly stop waits no longer for the next leader. */
  shutdown: 6,
} as const;
