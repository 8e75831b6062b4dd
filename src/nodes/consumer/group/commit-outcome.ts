/**
 * How a commit ended. `again`: it may be tried again with hope. `lost`: the member is not in the group as it
 * thought (`CommitFailedException`); `rebalance`: it will know where it stands once it has polled.
 */
export type CommitOutcome = "done" | "again" | "rebalance" | "lost" | "refused";
