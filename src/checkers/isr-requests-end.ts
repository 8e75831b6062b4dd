import type { Instant } from "../base/time.ts";
import { formatSeconds } from "../base/time.ts";
import type { IsrAdopted, IsrProposed } from "../trace/fact.ts";
import { brokerName } from "./broker-name.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import { isLed } from "./stuck-replica.ts";
import { stuckWaiver } from "./waivers/stuck-waiver.ts";
import { counted } from "./wording.ts";

export const ISR_REQUESTS_END: Guarantee = {
  name: "isr-requests-end",
  sentence:
    "When nothing is left to heal, what a leader asks of the controller (AlterPartition) is granted or refused, and not refused for ever.",
  source: "KIP-497, KAFKA-12367, KAFKA-14154; LV7",
  kinds: ["isr-request-pending"],
  condition:
    "At the end, of leaders in office that have asked for longer than a step may take by the configs; not for replicas with faults that stay. Permitted: faults that stay with the leader or the active controller, an earlier rule of the protocol.",
  testedBy: "requests made while the cluster settled, or waiting then",
  example: [
    "isr-request-pending   orders-0   at 120.000s, event 81220",
    "  broker-1 has asked for the ISR {1,2,3} since 61.204s, and has had no answer.",
  ],
  create: (context) => new IsrRequestsEnd(context),
};

/** What a leader asks for, since it last got what it asked for. */
interface Asking {
  fact: IsrProposed;
  readonly first: Instant;
  last: Instant;
  refusals: number;
  isWaiting: boolean;
}

class IsrRequestsEnd implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;
  readonly #asking = new Map<PartitionGhost, Asking>();

  constructor(context: CheckContext) {
    this.#context = context;
    const { facts, logs, liveness } = context;
    facts.on("isr-proposed", (fact, at) => this.#ask(logs.partition(fact.partition), fact, at));
    facts.on("isr-adopted", (fact) => this.#answer(logs.partition(fact.partition), fact));
    facts.on("fault-begun", ({ verb }) => {
      if (verb !== "settle" || liveness.settledAt === undefined) return;
      for (const { isWaiting } of this.#asking.values()) if (isWaiting) this.evaluations++;
    });
  }

  #ask(partition: PartitionGhost, fact: IsrProposed, at: Instant): void {
    if (this.#context.liveness.settledAt !== undefined) this.evaluations++;
    const known = this.#asking.get(partition);
    if (known?.fact.broker !== fact.broker || known.fact.leaderEpoch !== fact.leaderEpoch) {
      this.#asking.set(partition, { fact, first: at, last: at, refusals: 0, isWaiting: true });
      return;
    }
    known.fact = fact;
    known.last = at;
    known.isWaiting = true;
  }

  #answer(partition: PartitionGhost, { broker, leaderEpoch, by }: IsrAdopted): void {
    const asking = this.#asking.get(partition);
    if (asking?.fact.broker !== broker || asking.fact.leaderEpoch !== leaderEpoch) return;
    if (by === "refusal") {
      asking.refusals++;
      asking.isWaiting = false;
    } else this.#asking.delete(partition);
  }

  atEnd(at: Instant, event: number): void {
    if (!this.#context.liveness.isJudged(at)) return;
    this.interesting = this.evaluations;
    for (const [partition, asking] of this.#asking) {
      if (this.#isStuck(partition, asking, at)) this.#report(partition, asking, at, event);
    }
  }

  #isStuck(
    partition: PartitionGhost,
    { fact, first, last, isWaiting }: Asking,
    at: Instant,
  ): boolean {
    const { liveness } = this.#context;
    const { leader, leaderEpoch } = partition;
    if (!isLed(this.#context, partition)) return false;
    if (fact.broker !== leader || fact.leaderEpoch !== leaderEpoch) return false;
    if (fact.isr.some((member) => liveness.isFrozen(brokerName(member)))) return false;
    // Refused, it asks again at once or not at all.
    const isAsking = isWaiting || !liveness.isQuiet(last, at);
    return isAsking && liveness.isQuiet(isWaiting ? last : first, at);
  }

  #report(partition: PartitionGhost, asking: Asking, at: Instant, event: number): void {
    const { liveness } = this.#context;
    const { fact, first, refusals } = asking;
    const waiver = stuckWaiver(this.#context, partition, [fact.broker]);
    const answer =
      refusals === 0 ? "has had no answer" : `was refused ${counted(refusals, "time")}`;
    this.violations.push(
      violationOf(ISR_REQUESTS_END, {
        partition: partition.name,
        at,
        event,
        text: [
          `${brokerName(fact.broker)} has asked for the ISR {${fact.isr.join(",")}} since ${formatSeconds(first)}, and ${answer}.`,
        ],
        permitted: waiver?.text,
        cause: waiver?.cause ?? liveness.settledIn,
      }),
    );
  }
}
