import type { Instant } from "../base/time.ts";
import type { PartitionChanged } from "../trace/fact.ts";
import { brokerName } from "./broker-name.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import { listed } from "./wording.ts";

export const ISR_GROWS_BY_REQUEST: Guarantee = {
  name: "isr-grows-by-request",
  sentence:
    "A replica joins the ISR only because the leader of the current epoch asked for just that ISR, knowing the current partition epoch and the replica's registration, and only while it is neither fenced nor shutting down.",
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
    const { isr, leaderEpoch } = fact;
    const { partitionEpoch } = before;
    const { brokers, views, logs } = this.#context;
    const partition = logs.partition(fact.partition);
    const asked = views.proposedAt(partition, isr, before.leaderEpoch, partitionEpoch);
    const who = `The controller let ${listed(joined.map(brokerName))} into the ISR {${isr.join(",")}}`;
    const tell = (what: string) => this.#report(fact, `${who}, ${what}.`, at, event);
    for (const member of joined) {
      const name = brokerName(member);
      if (brokers.isFenced(member)) tell(`though ${name} is fenced`);
      if (brokers.isShuttingDown(member)) tell(`though ${name} is shutting down`);
      if (asked >= 0 && asked < brokers.registeredAt(member)) {
        tell(`which the leader asked for before ${name} registered anew`);
      }
    }
    if (asked >= 0) return;
    tell(
      `which the leader of epoch ${leaderEpoch} never asked for, knowing partition epoch ${partitionEpoch}`,
    );
  }

  #report({ partition }: PartitionChanged, text: string, at: Instant, event: number): void {
    this.violations.push(violationOf(ISR_GROWS_BY_REQUEST, { partition, at, event, text: [text] }));
  }
}
