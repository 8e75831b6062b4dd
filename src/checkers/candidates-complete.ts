import type { Instant } from "../base/time.ts";
import type { BrokerId } from "../kafka/ids.ts";
import { brokerName } from "./broker-name.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import { earlierRule } from "./waivers/earlier-rule.ts";
import { counted } from "./wording.ts";

export const CANDIDATES_COMPLETE: Guarantee = {
  name: "candidates-complete",
  sentence:
    "Every replica that may be elected, in the ISR or in the ELR, has all that was ever below a leader's high watermark.",
  source: "KIP-966, Vanlightly's LeaderCandidate; R4",
  kinds: ["candidate-incomplete"],
  condition:
    "Looked at when ISR, ELR or leader change; of replicas that run, and have lost nothing in a restart since they joined; with what unclean elections have given up forgotten. Permitted: an earlier rule of the protocol.",
  testedBy: "candidates other than the leader, of partitions with something committed",
  example: [
    "candidate-incomplete   orders-0   at 10.391s, event 8211",
    "  broker-3, in the ELR {3}, lacks offsets 405..411, which were below the high watermark: 7 offsets.",
  ],
  create: (context) => new CandidatesComplete(context),
};

class CandidatesComplete implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;
  /** Told once, until what is committed has been cut: `<partition> <broker> <generation>`. */
  readonly #told = new Set<string>();

  constructor(context: CheckContext) {
    this.#context = context;
    context.facts.on("partition-changed", ({ partition }, at, event) => {
      this.#look(context.logs.partition(partition), at, event);
    });
  }

  #look(partition: PartitionGhost, at: Instant, event: number): void {
    const { registration, canon } = partition;
    if (registration === undefined) return;
    this.evaluations++;
    // What the leaders before an unclean election had committed nobody has to have.
    if (canon.count === 0 || partition.canonEpoch < partition.epochFloor) return;
    const { isr, elr, leader } = registration;
    for (const member of isr) {
      if (member !== leader) this.#check(partition, member, "ISR", isr, at, event);
    }
    for (const member of elr) this.#check(partition, member, "ELR", elr, at, event);
  }

  #check(
    partition: PartitionGhost,
    member: BrokerId,
    set: "ISR" | "ELR",
    members: readonly BrokerId[],
    at: Instant,
    event: number,
  ): void {
    const { canon, tree, trueHighWatermark } = partition;
    const log = partition.log(member);
    if (!this.#context.logs.isUp(member) || log.lossySinceJoin) return;
    this.interesting++;
    if (log.contains(canon.tip)) return;
    const key = `${partition.index} ${member} ${partition.canonGeneration}`;
    if (this.#told.has(key)) return;
    this.#told.add(key);
    const first = tree.baseOffset(canon.nodes[canon.commonCount(log)] as number);
    const last = Math.max(first, trueHighWatermark - 1);
    const waiver = earlierRule(partition, this.#context.setup, event);
    this.violations.push(
      violationOf(CANDIDATES_COMPLETE, {
        partition: partition.name,
        at,
        event,
        text: [
          `${brokerName(member)}, in the ${set} {${members.join(",")}}, lacks offsets ${first}..${last}, which were below the high watermark: ${counted(last - first + 1, "offset")}.`,
        ],
        offsets: [first, last],
        count: last - first + 1,
        permitted: waiver?.text,
        cause: waiver?.cause,
      }),
    );
  }
}
