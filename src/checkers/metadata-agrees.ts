import { NO_NODE } from "./batch-tree.ts";
import { nodeName } from "./broker-name.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { MetadataApply } from "./metadata-logs.ts";

export const METADATA_AGREES: Guarantee = {
  name: "metadata-agrees",
  sentence:
    "All nodes, controllers and brokers, take the same metadata into their images in the same order, without a gap, from their own logs.",
  source:
    "KIP-595; RaftEventSimulationTest's ConsistentCommittedData and MonotonicHighWatermark; M7",
  kinds: ["metadata-diverged"],
  condition: "Always.",
  testedBy: "batches of metadata that another node had taken before",
  example: [
    "metadata-diverged   at 10.391s, event 8211",
    "  broker-2 took other metadata at offset 412 than the nodes before it.",
  ],
  create: (context) => new MetadataAgrees(context),
};

class MetadataAgrees implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  /** Each node is told once. */
  readonly #told = new Set<number>();

  constructor({ metadata }: CheckContext) {
    metadata.onApplied((apply) => this.#apply(apply));
  }

  #apply(apply: MetadataApply): void {
    const { replica, node, offset, isFirst, taken, at, event } = apply;
    this.evaluations++;
    if (!isFirst) this.interesting++;
    const fault = faultOf(apply);
    if (fault === undefined || this.#told.has(replica.node)) return;
    this.#told.add(replica.node);
    const known = node === NO_NODE ? taken : node;
    const last = known === NO_NODE ? offset : (replica.log.tree.lastOffset[known] as number);
    this.violations.push(
      violationOf(METADATA_AGREES, {
        at,
        event,
        text: [`${nodeName(replica.node)} took ${fault}.`],
        offsets: [offset, last],
        count: last - offset + 1,
      }),
    );
  }
}

function faultOf({ replica, node, offset, isFirst, taken }: MetadataApply): string | undefined {
  const { applied } = replica;
  if (offset !== applied) return `metadata from offset ${offset} on, having come to ${applied}`;
  if (node === NO_NODE) return `metadata at offset ${offset} that its log does not hold`;
  if (isFirst || node === taken) return undefined;
  return `other metadata at offset ${offset} than the nodes before it`;
}
