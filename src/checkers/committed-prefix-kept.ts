import type { Instant } from "../base/time.ts";
import { brokerName } from "./broker-name.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { Cut, PartitionGhost } from "./partition-ghost.ts";
import type { ReplicaLog } from "./replica-log.ts";
import type { Election } from "./replica-logs.ts";
import { waiveLoss } from "./waivers/loss-waiver.ts";
import { counted, offsetsText } from "./wording.ts";

export const COMMITTED_PREFIX_KEPT: Guarantee = {
  name: "committed-prefix-kept",
  sentence:
    "What was below a leader's high watermark is in the log of every later leader, and no replica cuts it off.",
  source: "KIP-101, KIP-279, KIP-320; R5, R9 and R10",
  kinds: ["committed-record-truncated"],
  condition:
    "A log that comes back shorter from a power loss, or from a disk that has damaged it, is no violation, unless it then leads, nor is one that has cut off what had expired. Permitted: as for no-acked-loss, acks aside.",
  testedBy:
    "elections with something committed, truncations that removed something, restarts with something committed",
  example: [
    "committed-record-truncated   orders-0   at 31.770s, event 18002",
    "  broker-2 cut off its log offsets 405..411 (high-watermark), which were below the high watermark: 7 offsets.",
  ],
  create: (context) => new CommittedPrefixKept(context),
};

class CommittedPrefixKept implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;

  constructor(context: CheckContext) {
    this.#context = context;
    const { logs, facts } = context;
    logs.onElected((election) => this.#elect(election));
    logs.onCut((cut) => this.#cut(cut));
    logs.onCommitted((partition, _from, _to, at, event) => this.#commit(partition, at, event));
    facts.on("log-loaded", (fact) => {
      this.evaluations++;
      const { canon } = logs.partition(fact.partition);
      if (canon.count > 0 && fact.logEndOffset > 0) this.interesting++;
    });
  }

  #elect({ partition, log, previousEpoch, at, event }: Election): void {
    const { canon } = partition;
    this.evaluations++;
    if (canon.count === 0) return;
    this.interesting++;
    if (log.contains(canon.tip)) return;
    const subject = `The elected leader ${brokerName(log.broker)} does not have`;
    this.#report(partition, log, subject, "", previousEpoch, at, event);
  }

  /** A leader that is none any more can still commit: then the one in office must have it. */
  #commit(partition: PartitionGhost, at: Instant, event: number): void {
    const { leaderLog, canon } = partition;
    if (!partition.leading || leaderLog === undefined || leaderLog.contains(canon.tip)) return;
    const subject = `The leader in office, ${brokerName(leaderLog.broker)}, does not have`;
    this.#report(partition, leaderLog, subject, "", partition.canonEpoch, at, event);
  }

  #cut(cut: Cut): void {
    const { partition, log, at, event } = cut;
    if (cut.how === "truncated") {
      this.evaluations++;
      this.interesting++;
    }
    const { canon } = partition;
    const removed = log.count;
    // Still there: what was removed lies behind the end.
    if (removed >= canon.count || canon.nodes[removed] !== log.nodes[removed]) return;
    if (cut.excuse !== "none") return;
    // All that it had left had expired elsewhere.
    if (cut.from <= this.#context.expiry.permitted(partition)) return;
    const name = brokerName(log.broker);
    const [subject, reason] =
      cut.how === "truncated"
        ? [`${name} cut off its log`, ` (${cut.reason})`]
        : [`${name} came back, without a power loss, without`, ""];
    this.#report(partition, log, subject, reason, partition.leaderEpoch, at, event);
  }

  #report(
    partition: PartitionGhost,
    log: ReplicaLog,
    subject: string,
    reason: string,
    keptInEpoch: number,
    at: Instant,
    event: number,
  ): void {
    const { canon, tree, trueHighWatermark } = partition;
    const common = canon.commonCount(log);
    const node = canon.nodes[common] as number;
    const first = tree.baseOffset(node);
    const last = Math.max(first, trueHighWatermark - 1);
    const count = last - first + 1;
    const were = count === 1 ? "was" : "were";
    const waiver = waiveLoss(
      partition,
      {
        node,
        broker: log.broker,
        keptInEpoch,
        goneInEpoch: partition.leaderEpoch,
        acks: undefined,
      },
      this.#context.setup,
      event,
    );
    this.violations.push({
      guarantee: COMMITTED_PREFIX_KEPT.name,
      kind: "committed-record-truncated",
      partition: partition.name,
      client: "",
      at,
      event,
      text: [
        `${subject} ${offsetsText(first, last)}${reason}, which ${were} below the high watermark: ${counted(count, "offset")}.`,
      ],
      offsets: [first, last],
      count,
      permitted: waiver?.text,
      cause: waiver?.cause ?? event,
      follows: undefined,
    });
  }
}
