import type { Instant } from "../base/time.ts";
import type { BrokerId, PartitionName } from "../kafka/ids.ts";
import { NO_LEADER } from "../kafka/ids.ts";
import type { PartitionChanged } from "../trace/fact.ts";
import { brokerName } from "./broker-name.ts";
import type { BrokerStates } from "./broker-states.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import { listed } from "./wording.ts";

export const LEADER_IN_ISR: Guarantee = {
  name: "leader-in-isr",
  sentence:
    "A partition's leader, if it has one, is in its ISR; ISR and ELR are replicas, share none, and the ELR is empty while the ISR is large enough; who is fenced is not in the ISR, unless it is alone there and nobody leads.",
  source: "KIP-841, KIP-966, PartitionRegistration; M3 and M4",
  kinds: ["leader-not-in-isr"],
  condition: "Always, of what the controller has committed.",
  testedBy: "changes of a partition after its creation",
  example: [
    "leader-not-in-isr   orders-0   at 10.391s, event 8211",
    "  The controller made broker-2 leader in epoch 5 with the ISR {1,3}, where it is not.",
  ],
  create: (context) => new LeaderInIsr(context),
};

class LeaderInIsr implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  /** By partition: its last change. */
  readonly #known = new Map<PartitionName, PartitionChanged>();
  readonly #brokers: BrokerStates;

  constructor({ facts, brokers }: CheckContext) {
    this.#brokers = brokers;
    facts.on("partition-changed", (fact, at, event) => this.#change(fact, at, event));
    facts.on("broker-fenced", ({ broker }, at, event) => this.#fence(broker, at, event));
    facts.on("broker-registered", ({ broker }, at, event) => this.#fence(broker, at, event));
  }

  /** What it leads, and which ISRs it is in, has to change before, in the same decision. */
  #fence(broker: BrokerId, at: Instant, event: number): void {
    for (const fact of this.#known.values()) {
      if (fact.isr.includes(broker)) this.#check(fact, at, event);
    }
  }

  #change(fact: PartitionChanged, at: Instant, event: number): void {
    this.evaluations++;
    if (this.#known.has(fact.partition)) this.interesting++;
    this.#known.set(fact.partition, fact);
    this.#check(fact, at, event);
  }

  #check(fact: PartitionChanged, at: Instant, event: number): void {
    const text = faults(fact);
    const fenced = fact.isr.filter(
      (member) => fact.replicas.includes(member) && this.#brokers.isFenced(member),
    );
    if (fenced.length > 0 && (fact.isr.length > 1 || fact.leader !== NO_LEADER)) {
      text.push(`${named(fenced)} in the ISR ${set(fact.isr)}, though fenced.`);
    }
    if (text.length === 0) return;
    this.violations.push({
      guarantee: LEADER_IN_ISR.name,
      kind: "leader-not-in-isr",
      partition: fact.partition,
      client: "",
      at,
      event,
      text,
      offsets: undefined,
      count: text.length,
      permitted: undefined,
      cause: event,
      follows: undefined,
    });
  }
}

function faults(fact: PartitionChanged): string[] {
  const { replicas, isr, elr, leader, leaderEpoch } = fact;
  const text: string[] = [];
  if (leader !== NO_LEADER && !isr.includes(leader)) {
    text.push(
      `The controller made ${brokerName(leader)} leader in epoch ${leaderEpoch} with the ISR ${set(isr)}, where it is not.`,
    );
  }
  const strangers = [...isr, ...elr].filter((member) => !replicas.includes(member));
  if (strangers.length > 0) {
    text.push(
      `${named(strangers)} in ISR ${set(isr)} or ELR ${set(elr)}, but not among the replicas ${set(replicas)}.`,
    );
  }
  const inBoth = elr.filter((member) => isr.includes(member));
  if (inBoth.length > 0) {
    text.push(`${named(inBoth)} both in the ISR ${set(isr)} and in the ELR ${set(elr)}.`);
  }
  if (new Set(isr).size < isr.length) text.push(`The ISR ${set(isr)} names a replica twice.`);
  const enough = Math.min(fact.minInsyncReplicas, replicas.length);
  if (isr.length >= enough && elr.length > 0) {
    text.push(`The ELR is ${set(elr)} although the ISR ${set(isr)} has ${enough} or more.`);
  }
  return text;
}

function named(brokers: readonly BrokerId[]): string {
  const names = listed([...new Set(brokers)].map(brokerName));
  return `${names} ${new Set(brokers).size === 1 ? "is" : "are"}`;
}

function set(brokers: readonly BrokerId[]): string {
  return `{${brokers.join(",")}}`;
}
