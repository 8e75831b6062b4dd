import type { Offset } from "../../kafka/ids.ts";
import type { BatchNode } from "../batch-tree.ts";
import { NO_NODE } from "../batch-tree.ts";
import type { CheckContext } from "../guarantee.ts";
import type { PartitionGhost } from "../partition-ghost.ts";
import type { RecordId } from "../record-id.ts";
import { valueOfRecord } from "../record-id.ts";
import { findRecord } from "./vanished-record.ts";

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
 * if the producer has none (a retry whose first attempt had arrived), nor if it took a new id between
 * the two, or a new epoch because it had to; nor if a broker has rebuilt what it knows from a log in which the first is no
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
  const firstOffset = partition.tree.lastOffset[firstNode] as number;
  if (firstOffset < context.idle.forgottenBelow(partition.name, before.producerId)) {
    return `${client} had written nothing for producer.id.expiration.ms, and brokers forget a producer then`;
  }
  if (before.producerEpoch === after.producerEpoch) {
    const hasExpired = firstOffset < context.expiry.permitted(partition);
    return hasExpired ? "the first copy had expired, and brokers may forget it then" : undefined;
  }
  const isExcused =
    hadToGoOn(context, partition, client) ||
    beginsLate(partition, before.producerId) ||
    mayBeForgotten(context, duplicate);
  if (!isExcused) return undefined;
  return `${client} had gone on with a new producer epoch, ${before.producerEpoch} to ${after.producerEpoch}`;
}

/** As `waiveDuplicate`, of a record that clients saw at these offsets. */
export function waiveSeenTwice(
  context: CheckContext,
  partition: PartitionGhost,
  id: RecordId,
  first: Offset,
  second: Offset,
): string | undefined {
  const firstNode = findRecord(partition.tree, id, first);
  const secondNode = findRecord(partition.tree, id, second);
  if (firstNode === NO_NODE || secondNode === NO_NODE) return undefined;
  const client = context.history.writerOf(id)?.name ?? "";
  const value = valueOfRecord(id);
  return waiveDuplicate(context, { partition, client, value, firstNode, secondNode });
}

/**
 * Did anything befall the producer or the log that leaves sequences which cannot be continued? Without
 * it, a broker that refused one for being out of order is what made the producer go on.
 */
function hadToGoOn(context: CheckContext, partition: PartitionGhost, client: string): boolean {
  const { retries, expiry, setup } = context;
  if (retries.hasGivenUp(client, partition.name)) return true;
  if (retries.wasDropped(client) || retries.wasDoubled(client) || retries.wasOvertaken(client)) {
    return true;
  }
  const isAckedEarly = setup.clients.get(client)?.acks !== -1 && partition.leaderChanges > 0;
  return isAckedEarly || partition.canonGeneration > 0 || expiry.permitted(partition) > 0;
}

/**
 * Is the first batch of this producer in the log not its first of all? A broker that knows nothing of a producer
 * takes whatever sequence comes (KAFKA-14359), and what came before can never be written: after a change of
 * leader, say, for what is in flight to the old one when the producer begins on a connection to the new.
 */
function beginsLate({ canon, tree }: PartitionGhost, producerId: number): boolean {
  for (let i = 0; i < canon.count; i++) {
    const node = canon.nodes[i] as BatchNode;
    if (tree.writerOf(node).producerId === producerId) return (tree.baseSequence[node] ?? 0) > 0;
  }
  return false;
}

/**
 * May a leader that refused a sequence have forgotten the first of the batches that were numbered anew with
 * this one? It knows the last five of a producer (KIP-98); after a start, or when its log was cut, only the
 * last. More than five can follow although no connection has more in flight: with a new leader the producer
 * begins on another, while the answers of the last are still out.
 */
function mayBeForgotten({ retries }: CheckContext, duplicate: Duplicate): boolean {
  const { partition, client, firstNode, secondNode } = duplicate;
  const firstOffset = partition.tree.lastOffset[firstNode] as number;
  for (const broker of retries.refusedBy(client, partition.name)) {
    if (retries.rebuilt.endOf(partition.name, broker) > firstOffset) return true;
  }
  const later = batchesBeside(partition, firstNode, (i, at) => i > at);
  const numberedBefore = batchesBeside(partition, secondNode, (i, at) => i < at);
  return later + Math.min(numberedBefore, MOST_IN_FLIGHT - 1) >= BATCHES_KNOWN_AGAIN;
}

/** How many other committed batches of the same producer and epoch lie on that side of it. O(committed). */
function batchesBeside(
  { canon, tree }: PartitionGhost,
  node: BatchNode,
  isThere: (i: number, at: number) => boolean,
): number {
  const { producerId, producerEpoch } = tree.writerOf(node);
  const at = canon.nodes.indexOf(node);
  let count = 0;
  for (let i = 0; i < canon.count; i++) {
    const writer = tree.writerOf(canon.nodes[i] as number);
    const isSame = writer.producerId === producerId && writer.producerEpoch === producerEpoch;
    if (isSame && isThere(i, at)) count++;
  }
  return count;
}

// What brokers and producers are held to, and so not asked of them.
const BATCHES_KNOWN_AGAIN = 5;
const MOST_IN_FLIGHT = 5;
