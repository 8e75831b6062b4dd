import type { Instant } from "../base/time.ts";
import type { BrokerId, Offset } from "../kafka/ids.ts";
import type { HighWatermarkMoved } from "../trace/fact.ts";
import { brokerName } from "./broker-name.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import type { ReplicaLog } from "./replica-log.ts";
import { earlierRule } from "./waivers/earlier-rule.ts";
import { counted } from "./wording.ts";

export const HW_WITHIN_ISR: Guarantee = {
  name: "hw-within-isr",
  sentence: "Every member of the ISR has all that is below the leader's high watermark.",
  source: "KIP-497; R3 (StrongIsr), and so R7",
  kinds: ["hw-beyond-isr"],
  condition:
    "Of the ISR as the controller committed it, while its leader epoch is that of the leader, and of members that run and have lost nothing in a restart since they joined. Permitted: an earlier rule of the protocol.",
  testedBy: "high watermarks of a leader with other members in the ISR",
  example: [
    "hw-beyond-isr   orders-0   at 8.002s, event 5120",
    "  broker-1 leads in epoch 4 and moved its high watermark to 419; broker-3, of the ISR {1,3}, has the log only up to 412: 7 offsets short.",
  ],
  create: (context) => new HwWithinIsr(context),
};

class HwWithinIsr implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly #context: CheckContext;
  readonly #findings: Shortfall[] = [];
  /** By partition: the finding that the current epoch's leader has made, if any. */
  readonly #open: (Shortfall | undefined)[] = [];

  constructor(context: CheckContext) {
    this.#context = context;
    context.logs.onLeaderHighWatermark((partition, log, index, fact, at, event) =>
      this.#check(partition, log, index, fact, at, event),
    );
  }

  get violations(): readonly Violation[] {
    return this.#findings.map((finding) => finding.toViolation());
  }

  #check(
    partition: PartitionGhost,
    log: ReplicaLog,
    index: number,
    fact: HighWatermarkMoved,
    at: Instant,
    event: number,
  ): void {
    const { registration } = partition;
    if (registration === undefined || registration.leaderEpoch !== fact.leaderEpoch) return;
    this.evaluations++;
    if (fact.highWatermark === 0) return;
    const { isr } = registration;
    if (isr.length > 1) this.interesting++;
    for (const member of isr) {
      const end = this.#heldBy(partition, log, index, member);
      if (end === undefined) continue;
      this.#report(partition, fact, isr, member, end, at, event);
      return;
    }
  }

  /** Up to where the member has the leader's log, if that is not far enough; undefined if all is well. */
  #heldBy(
    partition: PartitionGhost,
    log: ReplicaLog,
    index: number,
    member: BrokerId,
  ): Offset | undefined {
    if (member === log.broker) return index < 0 ? log.end : undefined;
    const copy = partition.log(member);
    if (index >= 0 && copy.nodes[index] === log.nodes[index] && index < copy.count)
      return undefined;
    if (copy.lossySinceJoin || !this.#context.logs.isUp(member)) return undefined;
    const common = log.commonCount(copy);
    return common === 0 ? 0 : (log.tree.lastOffset[log.nodes[common - 1] as number] as number) + 1;
  }

  /** One finding for each leader epoch: as long as the rule is broken, each step breaks it again. */
  #report(
    partition: PartitionGhost,
    fact: HighWatermarkMoved,
    isr: readonly BrokerId[],
    member: BrokerId,
    end: Offset,
    at: Instant,
    event: number,
  ): void {
    const open = this.#open[partition.index];
    if (open !== undefined && open.fact.leaderEpoch === fact.leaderEpoch) {
      open.last = Math.max(open.last, fact.highWatermark - 1);
      return;
    }
    const waiver = earlierRule(partition, this.#context.setup, event);
    const finding = new Shortfall(fact, isr, member, end, waiver?.text, at, event);
    this.#open[partition.index] = finding;
    this.#findings.push(finding);
  }
}

class Shortfall {
  readonly fact: HighWatermarkMoved;
  last: Offset;
  readonly #isr: readonly BrokerId[];
  readonly #member: BrokerId;
  readonly #end: Offset;
  readonly #permitted: string | undefined;
  readonly #at: Instant;
  readonly #event: number;

  constructor(
    fact: HighWatermarkMoved,
    isr: readonly BrokerId[],
    member: BrokerId,
    end: Offset,
    permitted: string | undefined,
    at: Instant,
    event: number,
  ) {
    this.fact = fact;
    this.last = fact.highWatermark - 1;
    this.#isr = isr;
    this.#member = member;
    this.#end = end;
    this.#permitted = permitted;
    this.#at = at;
    this.#event = event;
  }

  toViolation(): Violation {
    const { broker, leaderEpoch, highWatermark, partition } = this.fact;
    const short = counted(highWatermark - this.#end, "offset");
    return {
      guarantee: HW_WITHIN_ISR.name,
      kind: "hw-beyond-isr",
      partition,
      client: "",
      at: this.#at,
      event: this.#event,
      text: [
        `${brokerName(broker)} leads in epoch ${leaderEpoch} and moved its high watermark to ${highWatermark}; ${brokerName(this.#member)}, of the ISR {${this.#isr.join(",")}}, has the log only up to ${this.#end}: ${short} short.`,
      ],
      offsets: [this.#end, this.last],
      count: this.last - this.#end + 1,
      permitted: this.#permitted,
      cause: this.#event,
      follows: undefined,
    };
  }
}
