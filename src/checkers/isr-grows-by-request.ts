import type { Instant } from "../base/time.ts";
import type { PartitionChanged } from "../trace/fact.ts";
import { brokerName } from "./broker-name.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import { listed } from "./wording.ts";

export const ISR_GROWS_BY_REQUEST: Guarantee = {
  name: "isr-grows-by-request",
  sentence:
    "A replica joins the ISR only because the leader of the current epoch asked for just that ISR, knowing the current partition epoch and the replica's process, and only while it is neither fenced nor shutting down.",
  source: "KIP-497, KIP-841, KIP-903; M6",
  kinds: ["isr-grown-unasked"],
  condition:
    "Of what the controller has committed, elections apart. Permitted: of a replica that has started anew since, if it had fetched before it was registered. A broker that waits for the session of the process before to be over follows already (`BrokerServer.startup` publishes metadata first), and is known by no epoch then.",
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
    const tell = (what: string, permitted?: string) =>
      this.#report(fact, `${who}, ${what}.`, permitted, at, event);
    for (const member of joined) {
      const name = brokerName(member);
      if (brokers.isFenced(member)) tell(`though ${name} is fenced`);
      if (brokers.isShuttingDown(member)) tell(`though ${name} is shutting down`);
      if (asked >= 0 && brokers.hasNewLifeSince(member, asked)) {
        const isKnown = brokers.hadRegistered(member, asked);
        const gap = `${name} had fetched before it was registered, with no broker epoch to be known by`;
        tell(`which the leader asked for before ${name} started anew`, isKnown ? undefined : gap);
      }
    }
    if (asked >= 0) return;
    tell(
      `which the leader of epoch ${leaderEpoch} never asked for, knowing partition epoch ${partitionEpoch}`,
    );
  }

  #report(
    { partition }: PartitionChanged,
    text: string,
    permitted: string | undefined,
    at: Instant,
    event: number,
  ): void {
    const found = { partition, at, event, text: [text], permitted };
    this.violations.push(violationOf(ISR_GROWS_BY_REQUEST, found));
  }
}
