import type { Instant } from "../base/time.ts";
import type { LeaderEpoch } from "../kafka/ids.ts";
import { brokerName } from "./broker-name.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { LogRole } from "./log-watch.ts";
import type { Cut, PartitionGhost } from "./partition-ghost.ts";
import type { ReplicaLog } from "./replica-log.ts";
import { earlierRule } from "./waivers/earlier-rule.ts";

export const PROMISE_KEPT: Guarantee = {
  name: "promise-kept",
  sentence:
    "A replica that has copied from the leader of an epoch takes nothing back of its log until it follows in a newer epoch, whoever leads takes nothing back at all, and none goes back to an older epoch.",
  source: "KIP-101, KIP-320, TigerBeetle's replica_head_max; R13",
  kinds: ["promise-broken"],
  condition:
    "A follower promises its log's end with each fetch, and fetches from there: what it copies says that the leader has all below. A power loss, or a disk that has damaged the log, ends the promise, as the leader hears of a new registration. Permitted: an earlier rule of the protocol.",
  testedBy: "logs that came to end earlier, and roles after a broker's first",
  example: [
    "promise-broken   orders-0   at 31.770s, event 18002",
    "  broker-2, which follows in epoch 5 and had copied in it, cut off its log from 418 to 405.",
  ],
  create: (context) => new PromiseKept(context),
};

/** What one replica is bound to since it took its role. */
class Bond {
  role: LogRole = "none";
  epoch: LeaderEpoch = -1;
  /** Batches in its log then, or after its last cut: if it has more, it has copied since. */
  count = 0;

  take(role: LogRole, epoch: LeaderEpoch, count: number): void {
    this.role = role;
    this.epoch = epoch;
    this.count = count;
  }
}

class PromiseKept implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;
  readonly #bonds = new Map<ReplicaLog, Bond>();

  constructor(context: CheckContext) {
    this.#context = context;
    const { facts, logs } = context;
    facts.on("became-leader", (fact, at, event) => {
      this.#take(
        logs.partition(fact.partition),
        fact.broker,
        "leader",
        fact.leaderEpoch,
        at,
        event,
      );
    });
    facts.on("became-follower", (fact, at, event) => {
      const { partition, broker, leaderEpoch } = fact;
      this.#take(logs.partition(partition), broker, "follower", leaderEpoch, at, event);
    });
    // Who starts anew learns what it is from the metadata, from where they are in its log.
    facts.on("log-loaded", ({ partition, broker }) => {
      const log = logs.partition(partition).log(broker);
      this.#of(log).take("none", -1, log.count);
    });
    logs.onCut((cut) => this.#cut(cut));
  }

  #of(log: ReplicaLog): Bond {
    const known = this.#bonds.get(log);
    if (known !== undefined) return known;
    const made = new Bond();
    this.#bonds.set(log, made);
    return made;
  }

  #take(
    partition: PartitionGhost,
    broker: number,
    role: LogRole,
    epoch: LeaderEpoch,
    at: Instant,
    event: number,
  ): void {
    const log = partition.log(broker);
    const bond = this.#of(log);
    this.evaluations++;
    if (bond.role !== "none") {
      this.interesting++;
      if (epoch < bond.epoch) {
        const text = `${brokerName(broker)} went from leader epoch ${bond.epoch} back to ${epoch}.`;
        this.#report(partition, text, undefined, at, event);
      }
      // The same term told again: what was promised in it stands.
      if (epoch === bond.epoch && role === bond.role) return;
    }
    bond.take(role, epoch, log.count);
  }

  #cut({ partition, log, how, excuse, from, to, tip, at, event }: Cut): void {
    const bond = this.#of(log);
    const before = (log.tree.depth[tip] as number) + 1;
    const hasCopied = before > bond.count;
    const { role, epoch } = bond;
    bond.count = log.count;
    this.evaluations++;
    this.interesting++;
    if (how === "loaded") {
      if (excuse !== "none") return;
      const text = `${brokerName(log.broker)} came back with a log that ends at ${to} instead of ${from}, though nothing was lost.`;
      this.#report(partition, text, [to, from - 1], at, event);
      return;
    }
    if (role === "none" || (role === "follower" && !hasCopied)) return;
    const is = role === "leader" ? "leads" : "follows";
    const had = role === "leader" ? "" : " and had copied in it";
    const text = `${brokerName(log.broker)}, which ${is} in epoch ${epoch}${had}, cut off its log from ${from} to ${to}.`;
    this.#report(partition, text, [to, from - 1], at, event);
  }

  #report(
    partition: PartitionGhost,
    text: string,
    offsets: readonly [number, number] | undefined,
    at: Instant,
    event: number,
  ): void {
    const waiver = earlierRule(partition, this.#context.setup, event);
    this.violations.push(
      violationOf(PROMISE_KEPT, {
        partition: partition.name,
        at,
        event,
        text: [text],
        offsets,
        count: offsets === undefined ? 1 : offsets[1] - offsets[0] + 1,
        permitted: waiver?.text,
        cause: waiver?.cause,
      }),
    );
  }
}
