import type { Instant } from "../base/time.ts";
import type { BrokerId, LeaderEpoch, PartitionName } from "../kafka/ids.ts";
import type { Appended } from "../trace/fact.ts";
import { brokerName } from "./broker-name.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { ReplicaLog } from "./replica-log.ts";

export const APPENDS_IN_ROLE: Guarantee = {
  name: "appends-in-role",
  sentence:
    "A leader writes in the leader epoch it leads in and copies from nobody; a follower copies, and nothing of a leader epoch above the one it follows in.",
  source: "KIP-320, KAFKA-18723, ReplicaManager.applyDelta; R14 and R15",
  kinds: ["append-out-of-role"],
  condition: "Of a broker as it told last what it is.",
  testedBy: "appends after a change of leader",
  example: [
    "append-out-of-role   orders-0   at 10.391s, event 8211",
    "  broker-1 leads in epoch 5, but copied offset 412 of leader epoch 5.",
  ],
  create: (context) => new AppendsInRole(context),
};

interface Role {
  readonly leads: boolean;
  readonly epoch: LeaderEpoch;
}

class AppendsInRole implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;
  readonly #roles = new Map<ReplicaLog, Role>();
  /** Told once until the role changes. */
  readonly #told = new Set<ReplicaLog>();

  constructor(context: CheckContext) {
    this.#context = context;
    const { facts, logs } = context;
    facts.on("became-leader", ({ partition, broker, leaderEpoch }) =>
      this.#take(partition, broker, { leads: true, epoch: leaderEpoch }),
    );
    facts.on("became-follower", ({ partition, broker, leaderEpoch }) =>
      this.#take(partition, broker, { leads: false, epoch: leaderEpoch }),
    );
    facts.on("log-loaded", ({ partition, broker }) => {
      this.#roles.delete(logs.partition(partition).log(broker));
    });
    facts.on("appended", (fact, at, event) => {
      this.evaluations++;
      const partition = logs.partition(fact.partition);
      const isLeading = partition.leader === fact.broker && partition.leading;
      const { partitionLeaderEpoch } = fact.batch;
      if (partition.leaderChanges > 0) this.interesting++;
      // As it mostly is: the leader in office, or who copies what that wrote.
      const isPlain = fact.asLeader
        ? isLeading && partitionLeaderEpoch === partition.leaderEpoch
        : !isLeading && partition.leaderChanges === 0;
      if (!isPlain) this.#check(partition.log(fact.broker), fact, at, event);
    });
  }

  #take(partition: PartitionName, broker: BrokerId, role: Role): void {
    const log = this.#context.logs.partition(partition).log(broker);
    this.#roles.set(log, role);
    this.#told.delete(log);
  }

  #check(log: ReplicaLog, fact: Appended, at: Instant, event: number): void {
    const role = this.#roles.get(log);
    if (role === undefined) return;
    const epoch = fact.batch.partitionLeaderEpoch;
    const isInRole =
      fact.asLeader === role.leads && (role.leads ? epoch === role.epoch : epoch <= role.epoch);
    if (isInRole || this.#told.has(log)) return;
    this.#told.add(log);
    const is = role.leads ? "leads" : "follows";
    const did = fact.asLeader ? "wrote" : "copied";
    const { baseOffset, lastOffset } = fact.batch;
    this.violations.push(
      violationOf(APPENDS_IN_ROLE, {
        partition: fact.partition,
        at,
        event,
        text: [
          `${brokerName(fact.broker)} ${is} in epoch ${role.epoch}, but ${did} offset ${baseOffset} of leader epoch ${epoch}.`,
        ],
        offsets: [baseOffset, lastOffset],
      }),
    );
  }
}
