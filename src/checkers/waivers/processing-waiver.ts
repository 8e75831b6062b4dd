import {
  GROUP_METADATA_TOPIC,
  TRANSACTION_STATE_TOPIC,
} from "../../kafka/coordinator/internal-topics.ts";
import type { Offset, PartitionName } from "../../kafka/ids.ts";
import { NO_NODE } from "../batch-tree.ts";
import type { ProcessorSetup } from "../check-setup.ts";
import { topicOf } from "../check-setup.ts";
import type { CheckContext } from "../guarantee.ts";
import type { PartitionGhost } from "../partition-ghost.ts";
import type { RecordId } from "../record-id.ts";
import { addressOfRecord, valueOfRecord } from "../record-id.ts";
import { waiveDuplicate } from "./duplicate-waiver.ts";
import { sameEpochWaiver, unfoundedEndWaiver, unverifiedWaiver } from "./transaction-waiver.ts";
import { vanishedRecord } from "./vanished-record.ts";

/** A record that was made of another, as its sender knows it. */
export interface Output {
  readonly id: RecordId;
  readonly client: string;
  readonly partition: PartitionGhost | undefined;
  /** -1 if it was not acknowledged, and not read. */
  readonly offset: Offset;
}

/**
 * Why an application has not kept its promise of one record, though it did nothing wrong: what it relies on was
 * lost, or its transactions were not what they should be, each for a reason that other guarantees know.
 */
export function waiveProcessing(
  context: CheckContext,
  input: PartitionName,
  { guarantee, to }: ProcessorSetup,
  outputs: readonly Output[],
  event: number,
): string | undefined {
  for (const output of outputs) {
    const text = waiveOutput(context, output, event);
    if (text !== undefined) return text;
  }
  for (const partition of context.logs.partitions) {
    const topic = topicOf(partition.name);
    const isNeeded =
      partition.name === input ||
      topic === to ||
      topic === GROUP_METADATA_TOPIC ||
      topic === TRANSACTION_STATE_TOPIC;
    if (isNeeded && partition.canonGeneration > 0) {
      return `${partition.name} has lost what was committed`;
    }
  }
  if (guarantee !== "exactly-once") return undefined;
  return unverifiedWaiver(context.setup) ?? sameEpochWaiver(context.setup);
}

function waiveOutput(context: CheckContext, output: Output, event: number): string | undefined {
  const { transactions } = context;
  const { id, client, partition, offset } = output;
  const value = valueOfRecord(id);
  const transaction = transactions?.clients.find(addressOfRecord(id), value);
  if (transactions !== undefined && transaction !== undefined) {
    const unfounded = unfoundedEndWaiver(transactions.states, transaction);
    if (unfounded !== undefined) return unfounded;
  }
  if (partition === undefined) return undefined;
  const vanished =
    offset < 0
      ? undefined
      : vanishedRecord(context, partition, [[id, offset]], event)?.waiver?.text;
  return vanished ?? waiveCopies(context, client, partition, value);
}

/** Does the record stand more than once, and is that permitted? */
function waiveCopies(
  context: CheckContext,
  client: string,
  partition: PartitionGhost,
  value: number,
): string | undefined {
  const { canon, tree } = partition;
  const address = context.setup.clients.get(client)?.address;
  let firstNode = NO_NODE;
  for (let i = 0; i < canon.count; i++) {
    const node = canon.nodes[i] as number;
    if (tree.writerOf(node).client !== address) continue;
    const last = tree.lastOffset[node] as Offset;
    for (let offset = tree.baseOffset(node); offset <= last; offset++) {
      if (tree.valueAt(node, offset) !== value) continue;
      if (firstNode === NO_NODE) {
        firstNode = node;
        continue;
      }
      return waiveDuplicate(context, { partition, client, value, firstNode, secondNode: node });
    }
  }
  return undefined;
}
