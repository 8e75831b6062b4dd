import type { BatchNode } from "../batch-tree.ts";
import type { CheckContext } from "../guarantee.ts";
import type { PartitionGhost } from "../partition-ghost.ts";

/** A record of a client that stands in two batches. */
export interface Duplicate {
  readonly partition: PartitionGhost;
  readonly client: string;
  readonly value: number;
  readonly firstNode: BatchNode;
  readonly secondNode: BatchNode;
}

/**
 * Why a second copy is no bug. Brokers recognise it by producer id, epoch and sequence: they cannot
 * if the producer has none (a retry whose first attempt had arrived), nor if it took a new id or
 * epoch between the two; nor if a broker has rebuilt what it knows from a log in which the first is no
 * more.
 */
export function waiveDuplicate(context: CheckContext, duplicate: Duplicate): string | undefined {
  const { partition, client, value, firstNode, secondNode } = duplicate;
  const setup = context.setup.clients.get(client);
  if (setup?.idempotent === false) {
    const { retries } = context;
    if (retries.wasRetried(client, value, partition.name)) {
      return `${client} sent it again, with enable.idempotence=false`;
    }
    if (!retries.wasDoubled(client)) return undefined;
    return `the network delivered it twice, with enable.idempotence=false`;
  }
  const before = partition.tree.writerOf(firstNode);
  const after = partition.tree.writerOf(secondNode);
  if (before.producerId !== after.producerId) return `${client} had gone on with a new producer id`;
  if (before.producerEpoch === after.producerEpoch) {
    const hasExpired =
      (partition.tree.lastOffset[firstNode] as number) < context.expiry.permitted(partition);
    return hasExpired ? "the first copy had expired, and brokers may forget it then" : undefined;
  }
  return `${client} had gone on with a new producer epoch, ${before.producerEpoch} to ${after.producerEpoch}`;
}
