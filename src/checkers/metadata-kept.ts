import type { Instant } from "../base/time.ts";
import { NO_NODE } from "./batch-tree.ts";
import { nodeName } from "./broker-name.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { MetadataApply, MetadataCut, QuorumTerm } from "./metadata-logs.ts";

export const METADATA_KEPT: Guarantee = {
  name: "metadata-kept",
  sentence:
    "Committed metadata is in the logs of a majority of the voters when it is first taken for committed, in that of every later leader of the quorum, and no voter loses it.",
  source:
    "KIP-595, KAFKA-10533, KAFKA-12460; RaftEventSimulationTest's MajorityReachedHighWatermark",
  kinds: ["committed-metadata-lost"],
  condition:
    "Voters flush before they say what they have, so that a power loss is no excuse, unless it comes in the step that wrote. Permitted: a power cut of the leader, which counts what it writes before that is flushed, as in Kafka; what the disk of a voter has damaged, dropped or lost.",
  testedBy:
    "batches taken for committed first, elections of the quorum, logs of voters cut or loaded",
  judges: true,
  example: [
    "committed-metadata-lost   at 10.391s, event 8211",
    "  controller-2 leads the quorum in epoch 5 without the committed metadata from offset 405 on.",
  ],
  create: (context) => new MetadataKept(context),
};

class MetadataKept implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;
  /** By place in the committed log: the latest quorum epoch in which it can have been committed. */
  readonly #committedIn: number[] = [];
  /** The quorum epoch in which a batch was last told to be committed too early. */
  #toldEpoch = -1;
  /** The last power cut that took a leader's tail, in words. */
  #lostTail: string | undefined = undefined;

  constructor(context: CheckContext) {
    this.#context = context;
    const { metadata } = context;
    metadata.onApplied((apply) => this.#apply(apply));
    metadata.onTerm((term) => this.#lead(term));
    metadata.onCut((cut) => this.#cut(cut));
  }

  #apply({ replica, node, offset, isFirst, at, event }: MetadataApply): void {
    if (!isFirst || node === NO_NODE) return;
    const { tree, tip } = replica.log;
    this.#committedIn[tree.depth[node] as number] = tree.leaderEpoch[tip] as number;
    this.evaluations++;
    this.interesting++;
    let voters = 0;
    let holders = 0;
    for (const { isVoter, log } of this.#context.metadata.replicas.values()) {
      if (!isVoter) continue;
      voters++;
      if (log.contains(node)) holders++;
    }
    if (2 * holders > voters) return;
    // As long as an epoch commits too early each batch does so again.
    const epoch = tree.leaderEpoch[node] as number;
    if (epoch === this.#toldEpoch) return;
    this.#toldEpoch = epoch;
    const text = `${nodeName(replica.node)} takes offset ${offset} of the metadata log for committed, which ${holders} of ${voters} voters have.`;
    this.#report(text, offset, undefined, at, event);
  }

  #lead({ epoch, replica, at, event }: QuorumTerm): void {
    const { metadata, disks } = this.#context;
    const { canon, tree } = metadata;
    this.evaluations++;
    if (canon.count === 0) return;
    this.interesting++;
    const { log, node } = replica;
    if (log.contains(canon.tip)) return;
    // Votes can come late: what later epochs have committed meanwhile a leader need not have.
    let index = canon.commonCount(log);
    while (index < canon.count && (this.#committedIn[index] as number) >= epoch) index++;
    if (index === canon.count) return;
    const first = tree.baseOffset(canon.nodes[index] as number);
    const text = `${nodeName(node)} leads the quorum in epoch ${epoch} without the committed metadata from offset ${first} on.`;
    const permitted = this.#lostTail ?? disks.waive(nodeName(node));
    if (permitted !== undefined) metadata.loss ??= { event, excuse: permitted };
    this.#report(text, first, permitted, at, event);
  }

  #cut(cut: MetadataCut): void {
    const { replica, how, to, applied, owed, committed, at, event } = cut;
    if (!replica.isVoter && how === "loaded") return;
    this.evaluations++;
    this.interesting++;
    const name = nodeName(replica.node);
    if (how === "truncated" && to < applied) {
      const text = `${name} cut its metadata log at offset ${to}, of which it had taken all below ${applied} for committed.`;
      this.#report(text, to, undefined, at, event);
      return;
    }
    // What it had not applied, or still flushed, it may not have told anybody of either.
    if (committed === NO_NODE || (how === "loaded" && to >= owed)) return;
    const first = this.#context.metadata.tree.baseOffset(committed);
    const did = how === "loaded" ? "came back without" : "cut off";
    const text = `${name} ${did} committed metadata, from offset ${first} on.`;
    if (cut.isLeadersTail) {
      this.#lostTail = `power cut of ${name} while it flushed what it had written as the leader`;
    }
    const permitted = cut.isLeadersTail ? this.#lostTail : this.#context.disks.waive(name);
    this.#report(text, first, permitted, at, event);
  }

  #report(
    text: string,
    first: number,
    permitted: string | undefined,
    at: Instant,
    event: number,
  ): void {
    this.violations.push(
      violationOf(METADATA_KEPT, { at, event, text: [text], offsets: [first, first], permitted }),
    );
  }
}
