import type { Offset } from "../../kafka/ids.ts";
import type { BatchNode } from "../batch-tree.ts";
import { NO_NODE } from "../batch-tree.ts";
import { indexOfSend, UNKNOWN } from "../client-sends.ts";
import type { CheckContext } from "../guarantee.ts";
import type { PartitionGhost } from "../partition-ghost.ts";
import type { RecordId } from "../record-id.ts";
import { addressOfRecord, valueOfRecord } from "../record-id.ts";

/**
 * Was the record acknowledged because the leader took it for another, which stands where its client was told? A
 * producer that must give up what is in flight while it commits takes the sequence back, though it may be written
 * (`Sender.completeBatch`), and asks for no new epoch (`TransactionManager.maybeTransitionToErrorState`); below
 * transaction.version 2 its next transaction has the same, and begins with a sequence that is known already.
 */
export function reusedSequenceWaiver(
  { history, setup, transactions }: CheckContext,
  { tree, leaderLog }: PartitionGhost,
  id: RecordId,
  offset: Offset,
): string | undefined {
  const version = setup.features["transaction.version"];
  if (version >= 2 || transactions === undefined || leaderLog === undefined) return undefined;
  const node: BatchNode = leaderLog.nodeAt(offset);
  const address = addressOfRecord(id);
  if (node === NO_NODE || tree.writerOf(node).client !== address) return undefined;
  const known = tree.valueAt(node, offset);
  const before = transactions.clients.find(address, known);
  const after = transactions.clients.find(address, valueOfRecord(id));
  const isNext = before?.outcome === "aborted" && after !== undefined && after !== before;
  if (!isNext || after.producerEpoch !== before.producerEpoch) return undefined;
  const outcome = history.writerOf(id)?.partOf(known).outcomes[indexOfSend(known)];
  if (outcome !== UNKNOWN) return undefined;
  return `${after.client} had given up record ${known} while it committed, and used its sequence again in the same epoch (transaction.version is ${version})`;
}
