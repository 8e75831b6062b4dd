import type { Instant } from "../base/time.ts";
import { formatSeconds } from "../base/time.ts";
import type { BrokerId } from "../kafka/ids.ts";
import { brokerName } from "./broker-name.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import { isLed, whyBehind } from "./stuck-replica.ts";
import { stuckWaiver } from "./waivers/stuck-waiver.ts";

export const ISR_REFILLS: Guarantee = {
  name: "isr-refills",
  sentence: "When nothing is left to heal, every replica comes back into the ISR.",
  source: "Partition.maybeExpandIsr; LV1",
  kinds: ["isr-stays-small"],
  condition:
    "At the end, if the cluster has settled for as long as a step of it may take by its configs, and no step was made in that time; of brokers that run unfenced, and partitions with a leader. Permitted: faults that stay with a leader or an in-sync replica that is relied on, a log directory given up, a damaged disk, an earlier rule of the protocol.",
  testedBy: "partitions that had a replica out of the ISR once",
  example: [
    "isr-stays-small   orders-0   at 120.000s, event 81220",
    "  broker-3 has not come back into the ISR {1,2} for 60.000s: it has fetched nothing for 60.000s: its log ends at 310, its high watermark is 310; broker-1's are 415 and 415.",
  ],
  create: (context) => new IsrRefills(context),
};

class IsrRefills implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;

  constructor(context: CheckContext) {
    this.#context = context;
  }

  atEnd(at: Instant, event: number): void {
    const { liveness, logs } = this.#context;
    if (!liveness.isJudged(at)) return;
    for (const partition of logs.partitions) {
      if (!isLed(this.#context, partition)) continue;
      this.evaluations++;
      if (liveness.wasShrunk(partition)) this.interesting++;
      const { replicas = [], isr = [] } = partition.registration ?? {};
      for (const replica of replicas) {
        if (!isr.includes(replica)) this.#look(partition, replica, isr, at, event);
      }
    }
  }

  #look(
    partition: PartitionGhost,
    replica: BrokerId,
    isr: readonly BrokerId[],
    at: Instant,
    event: number,
  ): void {
    const { liveness, brokers } = this.#context;
    if (!liveness.isWell(replica) || brokers.isFenced(replica)) return;
    const last = Math.max(
      liveness.steppedAt,
      liveness.isrStepAt(partition),
      liveness.movedAt(partition, replica),
    );
    if (!liveness.isOverdue(last, at)) return;
    const waiver = stuckWaiver(this.#context, partition, [replica, partition.leader]);
    const time = formatSeconds(liveness.quietFor(liveness.isrStepAt(partition), at));
    const why = whyBehind(this.#context, partition, replica, at);
    this.violations.push(
      violationOf(ISR_REFILLS, {
        partition: partition.name,
        at,
        event,
        text: [
          `${brokerName(replica)} has not come back into the ISR {${isr.join(",")}} for ${time}: it ${why}.`,
        ],
        permitted: waiver?.text,
        cause: waiver?.cause ?? liveness.settledIn,
      }),
    );
  }
}
