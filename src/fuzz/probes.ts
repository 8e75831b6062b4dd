import { groupOf, isTransactional } from "../scenario/check-topology.ts";
import type { Scenario } from "../scenario/scenario.ts";
import type { Fact } from "../trace/fact.ts";

/** A situation that a campaign should have been in: one that none of its runs reached has tested little. */
export interface Probe {
  /** `unclean election` */
  readonly name: string;
  /** Why it may be that it is never reached, as half a sentence. */
  readonly needs: string;
  isReached(fact: Fact): boolean;
  /** Is it about something that the scenario has? By default about what all have. */
  readonly isOf?: (scenario: Scenario) => boolean;
}

export const PROBES: readonly Probe[] = [
  {
    name: "leader change",
    needs: "a leader that fails or is cut off",
    isReached: (fact) =>
      fact.kind === "partition-changed" && fact.election !== "none" && fact.election !== "initial",
  },
  {
    name: "unclean election",
    needs: "unclean.leader.election.enable",
    isReached: (fact) => fact.kind === "partition-changed" && fact.election === "unclean",
  },
  {
    name: "election from the ELR",
    needs: "an ISR that has become empty",
    isReached: (fact) => fact.kind === "partition-changed" && fact.election === "elr",
  },
  {
    name: "no leader",
    needs: "all of an ISR down at once",
    isReached: (fact) => fact.kind === "partition-changed" && fact.leader < 0,
  },
  {
    name: "isr below min.insync.replicas",
    needs: "followers that fall behind or fail",
    isReached: (fact) =>
      fact.kind === "partition-changed" && fact.isr.length < fact.minInsyncReplicas,
  },
  {
    name: "isr of one",
    needs: "followers that all fall behind or fail",
    isReached: (fact) =>
      fact.kind === "partition-changed" && fact.isr.length === 1 && fact.replicas.length > 1,
  },
  {
    name: "leader epoch >= 3",
    needs: "leaders that change again and again",
    isReached: (fact) => fact.kind === "partition-changed" && fact.leaderEpoch >= 3,
  },
  {
    name: "controller failover",
    needs: "an active controller that fails, and another",
    isReached: (fact) => fact.kind === "controller-resigned",
  },
  {
    name: "broker fenced",
    needs: "a broker whose heartbeats stop",
    isReached: (fact) => fact.kind === "broker-fenced",
  },
  {
    name: "truncation",
    needs: "a follower whose log parts from its leader's",
    isReached: (fact) => fact.kind === "truncated",
  },
  {
    name: "unclean start",
    needs: "a broker that is killed",
    isReached: (fact) => fact.kind === "log-loaded" && !fact.cleanShutdown && fact.logEndOffset > 0,
  },
  {
    name: "torn tail",
    needs: "a loss of power in the middle of a write",
    isReached: (fact) => fact.kind === "log-loaded" && fact.truncatedBytes > 0,
  },
  {
    name: "unflushed data lost",
    needs: "a loss of power",
    isReached: (fact) => fact.kind === "unflushed-lost",
  },
  {
    name: "disk trouble",
    needs: "a fault of a disk",
    isReached: (fact) => fact.kind === "disk-disturbed" || fact.kind === "log-directory-failed",
  },
  {
    name: "retry",
    needs: "a request that fails",
    isReached: (fact) => fact.kind === "send-ended" && fact.attempts > 1,
  },
  {
    name: "outcome unknown",
    needs: "a send whose time runs out",
    isReached: (fact) => fact.kind === "send-ended" && fact.outcome === "unknown",
  },
  {
    name: "consumer truncated",
    needs: "a consumer that has read what its leader loses",
    isReached: (fact) => fact.kind === "position-reset" && fact.reason === "truncation",
  },
  {
    name: "rebalance",
    needs: "members of a group that come and go",
    isReached: (fact) => fact.kind === "group-state-changed" && fact.generation > 2,
    isOf: hasGroups,
  },
  {
    name: "member expelled",
    needs: "a member that is not heard of for its session timeout",
    isReached: (fact) => fact.kind === "group-member-left" && fact.reason === "session-expired",
    isOf: hasGroups,
  },
  {
    name: "coordinator fail-over",
    needs: "a broker that fails as a coordinator",
    isReached: (fact) => fact.kind === "coordinator-loaded" && fact.leaderEpoch > 0,
    isOf: (scenario) => hasGroups(scenario) || hasTransactions(scenario),
  },
  {
    name: "transaction aborted",
    needs: "`abort`, or an application whose transaction fails",
    isReached: (fact) => fact.kind === "transaction-ended" && fact.outcome === "aborted",
    isOf: hasTransactions,
  },
  {
    name: "transaction timed out",
    needs: "a producer that is away for transaction.timeout.ms",
    isReached: (fact) =>
      fact.kind === "transaction-state-changed" && fact.reason === "transaction.timeout.ms is over",
    isOf: hasTransactions,
  },
  {
    name: "producer fenced",
    needs: "another with its transactional.id, or a timeout",
    isReached: (fact) => fact.kind === "producer-fenced",
    isOf: hasTransactions,
  },
  {
    name: "decided at a fail-over",
    needs: "a coordinator that fails between a decision and its markers",
    isReached: (fact) =>
      fact.kind === "transaction-state-changed" &&
      fact.from === "" &&
      fact.to.startsWith("Prepare"),
    isOf: hasTransactions,
  },
];

function hasGroups({ clients }: Scenario): boolean {
  return clients.some((client) => groupOf(client) !== undefined);
}

function hasTransactions({ clients }: Scenario): boolean {
  return clients.some(isTransactional);
}

/** Which probes one run has reached: bits in their order. */
export class ProbeWatch {
  /** Bit n: the probe numbered n was reached. */
  reached = 0;

  note(fact: Fact): void {
    for (let i = 0; i < PROBES.length; i++) {
      const bit = 1 << i;
      if ((this.reached & bit) === 0 && PROBES[i]?.isReached(fact) === true) this.reached |= bit;
    }
  }
}
