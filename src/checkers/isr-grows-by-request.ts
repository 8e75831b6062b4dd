import type { Instant } from "../base/time.ts";
import type { PartitionChanged } from "../trace/fact.ts";
import { brokerName } from "./broker-name.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import { listed } from "./wording.ts";

export const ISR_GROWS_BY_REQUEST: Guarantee = {
  name: "isr-grows-by-request",
  sentence:
    "A replica joins the ISR only because the leader of the current epoch asked for just that ISR, knowing the current partition epoch, and only while it is not fenced.",
  source: "KIP-497, KIP-841, KIP-903; M6",
  kinds: ["isr-grown-unasked"],
  condition: "Of what the controller has committed, elections apart.",
  testedBy: "ISRs that grew",
  example: [
    "isr-grown-unasked   orders-0   at 10.391s, event 8211",
    "  The controller let broker-3 into the ISR {1,2,3}, which the leader of epoch 5 never asked for.",
  ],
  create: (context) => new IsrGrowsByRequest(context),
};

class IsrGrowsByRequest implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;
  readonly #known = new Map<string, PartitionChanged>();

  constructor(context: CheckContext) {
    this.#context = context;
    context.facts.on("partition-changed", (fact, at, event) => this.#change(fact, at, event));
  }

  #change(fact: PartitionChanged, at: Instant, event: number): void {
    const before = this.#known.get(fact.partition);
    this.#known.set(fact.partition, fact);
    this.evaluations++;
    if (before === undefined || fact.election !== "none") return;
    const joined = fact.isr.filter((member) => !before.isr.includes(member));
    if (joined.length === 0) return;
    this.interesting++;
    const { brokers, views, logs } = this.#context;
    const { isr, leaderEpoch } = fact;
    const who = `The controller let ${listed(joined.map(brokerName))} into the ISR {${isr.join(",")}}`;
    const fenced = joined.filter((member) => brokers.isFenced(member));
    if (fenced.length > 0) {
      const are = fenced.length === 1 ? "is" : "are";
      this.#report(
        fact,
        `${who}, though ${listed(fenced.map(brokerName))} ${are} fenced.`,
        at,
        event,
      );
    }
    const partition = logs.partition(fact.partition);
    if (views.hasProposed(partition, isr, before.leaderEpoch, before.partitionEpoch)) return;
    const text = `${who}, which the leader of epoch ${leaderEpoch} never asked for, knowing partition epoch ${before.partitionEpoch}.`;
    this.#report(fact, text, at, event);
  }

  #report({ partition }: PartitionChanged, text: string, at: Instant, event: number): void {
    this.violations.push(violationOf(ISR_GROWS_BY_REQUEST, { partition, at, event, text: [text] }));
  }
}
