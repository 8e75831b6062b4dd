/** What the command's exit code says. */
export const EXIT = {
  /** All expectations met; an expected violation counts. */
  ok: 0,
  /** What was asked to hold does not: an expectation, or a bug of the protocol. */
  failed: 1,
  /** Bad arguments or scenario; nothing ran. */
  usage: 2,
  /** Inconclusive: a fault never fired, nothing was acked, the budget was spent. */
  inconclusive: 3,
  /** A replay is not the run that was recorded. */
  diverged: 4,
  /** A bug of the simulator itself. */
  bug: 70,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
