import type { Instant } from "../base/time.ts";
import type { Offset } from "../kafka/ids.ts";
import type { SendEnded } from "../trace/fact.ts";
import type { BatchNode } from "./batch-tree.ts";
import { ACKED_ALL, ACKED_ONE, LOST, NO_NODE } from "./batch-tree.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import { RecordRun } from "./record-run.ts";

export const NO_REORDER: Guarantee = {
  name: "no-reorder",
  sentence:
    "What one producer sent to one partition, and was told is written, stands in the order sent.",
  source:
    "KafkaProducer's documentation, max.in.flight.requests.per.connection; Jepsen's nonmonotonic-send",
  kinds: ["record-reordered"],
  condition:
    "Among acknowledged records that are not lost, and stand in one log. Permitted: with enable.idempotence=false, if one of the two was sent again or the network changed the order of requests; if the network lost an answer and the producer took a new epoch between the two.",
  testedBy: "acknowledgements to a producer that had sent something again",
  example: [
    "record-reordered   orders-0   at 12.480s, event 9120",
    "  p1 sent record 118 before record 121, but they stand at offsets 123 and 120: 3 records.",
  ],
  create: (context) => new NoReorder(context),
};

/** A batch of one client's records, where it stands. */
interface Placed {
  readonly value: number;
  readonly offset: Offset;
  readonly count: number;
  readonly producerEpoch: number;
}

interface Inversion {
  readonly partition: PartitionGhost;
  readonly client: string;
  readonly earlier: Placed;
  readonly later: Placed;
  /** The one whose acknowledgement showed it. */
  readonly shownBy: Placed;
  readonly at: Instant;
  readonly event: number;
}

class NoReorder implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly #context: CheckContext;
  readonly #orders: Map<string, ClientOrder>[] = [];
  readonly #found: Inversion[] = [];

  constructor(context: CheckContext) {
    this.#context = context;
    context.acked.onAcked((partition, node, fact, at, event) =>
      this.#ack(partition, node, fact, at, event),
    );
  }

  /** One for each partition, client and reason. */
  get violations(): readonly Violation[] {
    const groups = new Map<string, Inversion[]>();
    for (const inversion of this.#found) {
      const permitted = this.#waive(inversion) ?? "";
      const key = `${inversion.partition.index} ${inversion.client} ${permitted}`;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [inversion]);
      else group.push(inversion);
    }
    return [...groups.values()].map((group) => this.#describe(group));
  }

  #ack(
    partition: PartitionGhost,
    node: BatchNode,
    fact: SendEnded,
    at: Instant,
    event: number,
  ): void {
    const { client } = fact;
    this.evaluations++;
    if (this.#context.retries.hasRetried(client, partition.name)) this.interesting++;
    // Nothing but tombstones: which they are cannot be told.
    if (partition.tree.writerOf(node).client < 0) return;
    const order = this.#orderOf(partition, client);
    const { generation } = this.#context.acked.of(partition);
    if (order.generation !== generation) order.restart(partition, node, generation);
    else if (order.takes(partition, node)) return;
    const other = contradicting(partition, node);
    if (other === NO_NODE) return;
    const shownBy = placed(partition, node);
    const against = placed(partition, other);
    const [earlier, later] =
      shownBy.value < against.value ? [shownBy, against] : [against, shownBy];
    this.#found.push({ partition, client, earlier, later, shownBy, at, event });
  }

  #orderOf(partition: PartitionGhost, client: string): ClientOrder {
    let orders = this.#orders[partition.index];
    if (orders === undefined) {
      orders = new Map();
      this.#orders[partition.index] = orders;
    }
    const known = orders.get(client);
    if (known !== undefined) return known;
    const order = new ClientOrder();
    orders.set(client, order);
    return order;
  }

  #waive({ partition, client, earlier, later }: Inversion): string | undefined {
    const { retries, setup } = this.#context;
    if (setup.clients.get(client)?.idempotent !== false) {
      // Over a connection that keeps all answers no later one comes while an earlier is awaited.
      if (earlier.producerEpoch === later.producerEpoch || !retries.wasDropped(client)) {
        return undefined;
      }
      return `the network lost an answer, and ${client} had gone on with a new producer epoch`;
    }
    const again =
      retries.wasRetried(client, earlier.value, partition.name) ||
      retries.wasRetried(client, later.value, partition.name);
    if (again) return `${client} sent one of them again, with enable.idempotence=false`;
    if (!retries.wasOvertaken(client) && !retries.wasDoubled(client)) return undefined;
    return "the network changed their order, with enable.idempotence=false";
  }

  #describe(group: readonly Inversion[]): Violation {
    const first = group[0] as Inversion;
    const { partition, client, earlier, later, at, event } = first;
    const run = new RecordRun();
    for (const { shownBy } of group) {
      const { offset, count } = shownBy;
      run.add(offset, offset + count - 1, count);
    }
    return {
      guarantee: NO_REORDER.name,
      kind: "record-reordered",
      partition: partition.name,
      client,
      at,
      event,
      text: [
        `${client} sent record ${earlier.value} before record ${later.value}, but they stand at offsets ${earlier.offset} and ${later.offset}: ${run.size}.`,
      ],
      offsets: run.offsets,
      count: run.count,
      permitted: this.#waive(first),
      cause: event,
      follows: undefined,
    };
  }
}

/** The furthest of one client's acknowledged sends to one partition, in both orders. */
class ClientOrder {
  generation = 0;
  #highestValue = -1;
  #highestOffset: Offset = -1;

  /** Is it after all that went before, in both orders? Then nothing contradicts it. */
  takes({ tree }: PartitionGhost, node: BatchNode): boolean {
    const last = tree.lastOffset[node] as number;
    const isAfter = tree.firstValueOf(node) > this.#highestValue && last > this.#highestOffset;
    this.#highestValue = Math.max(this.#highestValue, tree.lastValueOf(node));
    this.#highestOffset = Math.max(this.#highestOffset, last);
    return isAfter;
  }

  /** Some are lost: takes those that are not anew, `newest` among them. */
  restart(partition: PartitionGhost, newest: BatchNode, generation: number): void {
    this.generation = generation;
    this.#highestValue = -1;
    this.#highestOffset = -1;
    const { tree } = partition;
    for (let node = 0; node < tree.count; node++) {
      if (isComparable(partition, node, newest)) this.takes(partition, node);
    }
  }
}

/** A batch that was sent on one side of this one and stands on the other in its log; or NO_NODE. O(batches). */
function contradicting(partition: PartitionGhost, node: BatchNode): BatchNode {
  const one = placed(partition, node);
  for (let other = partition.tree.count - 1; other >= 0; other--) {
    if (other === node || !isComparable(partition, other, node)) continue;
    const { value, offset } = placed(partition, other);
    if (value < one.value === offset < one.offset) continue;
    // Of two logs that part, only one will be read.
    if (standTogether(partition, node, other)) return other;
  }
  return NO_NODE;
}

/** Is there a log that holds both? */
function standTogether({ tree }: PartitionGhost, one: BatchNode, other: BatchNode): boolean {
  return tree.isBelow(one, other) || tree.isBelow(other, one);
}

/** Was it acknowledged to the same client, and is it not lost? */
function isComparable({ tree }: PartitionGhost, one: BatchNode, other: BatchNode): boolean {
  if (!tree.has(one, ACKED_ALL | ACKED_ONE) || tree.has(one, LOST)) return false;
  return tree.writerOf(one).client === tree.writerOf(other).client;
}

function placed({ tree }: PartitionGhost, node: BatchNode): Placed {
  const offset = tree.baseOffset(node);
  const { producerEpoch } = tree.writerOf(node);
  const count = tree.length[node] as number;
  return { value: tree.firstValueOf(node), offset, count, producerEpoch };
}
