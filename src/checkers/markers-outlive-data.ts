import type { BatchNode } from "./batch-tree.ts";
import { brokerName } from "./broker-name.ts";
import type { Cleaning } from "./cleaning.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { ReplicaLog } from "./replica-log.ts";
import type { TransactionPart } from "./transaction-parts.ts";
import { offsetsText } from "./wording.ts";

export const MARKERS_OUTLIVE_DATA: Guarantee = {
  name: "markers-outlive-data",
  sentence:
    "Compaction takes the marker that ended a transaction only once nothing of that transaction is left in the same log.",
  source: "LogCleaner (CleanedTransactionMetadata), KAFKA-14055, KAFKA-13727; K3",
  kinds: ["marker-cleaned-early"],
  condition: "Of every replica that cleans its log.",
  testedBy: "markers that cleanings took",
  example: [
    "marker-cleaned-early   orders-0   at 45.030s, event 22810",
    "  broker-2 cleaned away the marker at offset 19 of producer 7, but holds offsets 17..18 of that transaction.",
  ],
  create: (context) => new MarkersOutliveData(context),
};

class MarkersOutliveData implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  /** By the partition's index: what each marker ended. */
  readonly #ended: Map<BatchNode, readonly TransactionPart[]>[] = [];

  constructor({ logs, transactions }: CheckContext) {
    transactions?.parts.onAppended(({ partition, node, marker }, others) => {
      const { index, tree } = partition;
      if (marker === undefined || tree.keys === undefined) return;
      this.#ended[index] ??= new Map();
      this.#ended[index].set(node, [...others]);
    });
    logs.onCleaned((cleaning) => this.#clean(cleaning));
  }

  #clean({ partition, log, removed, at, event }: Cleaning): void {
    this.evaluations++;
    const ended = this.#ended[partition.index];
    // After a power loss it is not known which of them has come back.
    if (ended === undefined || log.absences?.areUncertain === true) return;
    for (const { node, offset } of removed) {
      const parts = ended.get(node);
      if (parts === undefined) continue;
      this.interesting++;
      const left = parts.find((part) => isLeft(log, part));
      if (left === undefined) continue;
      const { producerId, baseOffset, lastOffset } = left;
      const where = offsetsText(baseOffset, lastOffset);
      this.violations.push(
        violationOf(MARKERS_OUTLIVE_DATA, {
          partition: partition.name,
          at,
          event,
          text: [
            `${brokerName(log.broker)} cleaned away the marker at offset ${offset} of producer ${producerId}, but holds ${where} of that transaction.`,
          ],
          offsets: [baseOffset, offset],
        }),
      );
    }
  }
}

/** Does the log hold a record of the batch? */
function isLeft(log: ReplicaLog, { node, baseOffset, lastOffset }: TransactionPart): boolean {
  if (!log.contains(node)) return false;
  for (let offset = Math.max(baseOffset, log.start); offset <= lastOffset; offset++) {
    if (log.hasRecord(log.tree.placeOf(node, offset))) return true;
  }
  return false;
}
