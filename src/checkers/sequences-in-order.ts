import type { Instant } from "../base/time.ts";
import { incrementSequence } from "../kafka/log/record-batch.ts";
import type { BatchNode } from "./batch-tree.ts";
import { ClientNames } from "./client-names.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { PartitionGhost } from "./partition-ghost.ts";

export const SEQUENCES_IN_ORDER: Guarantee = {
  name: "sequences-in-order",
  sentence:
    "In the committed log each batch of an idempotent producer goes on where the last one of its epoch ended, a new epoch begins at 0, and no epoch comes back.",
  source: "KIP-98, KIP-360; P1, P2 (no-duplicates judges the same by what the records say)",
  kinds: ["sequence-out-of-order", "epoch-fallen"],
  condition:
    "Of producers that the partition knows. Permitted: if the batch before has expired, or the producer had written nothing for producer.id.expiration.ms: brokers may forget it then.",
  testedBy: "batches after the first of their producer",
  tellsDeed: true,
  example: [
    "sequence-out-of-order   orders-0   at 12.480s, event 9120",
    "  p1's batch at offset 412 begins with sequence 40; the one before it, of producer 7 epoch 0, ended with 34.",
  ],
  create: (context) => new SequencesInOrder(context),
};

/** The last batch of a producer in the committed log. */
interface LastBatch {
  producerEpoch: number;
  lastSequence: number;
  node: BatchNode;
}

class Sequences {
  readonly producers = new Map<number, LastBatch>();
  generation = 0;
}

class SequencesInOrder implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;
  readonly #names: ClientNames;
  readonly #partitions: Sequences[] = [];

  constructor(context: CheckContext) {
    this.#context = context;
    this.#names = new ClientNames(context.setup);
    context.logs.onCommitted((partition, from, to, at, event) =>
      this.#commit(partition, from, to, at, event),
    );
  }

  #commit(partition: PartitionGhost, from: number, to: number, at: Instant, event: number): void {
    let known = this.#partitions[partition.index];
    if (known === undefined) {
      known = new Sequences();
      this.#partitions[partition.index] = known;
    }
    const { canon } = partition;
    if (known.generation !== partition.canonGeneration) {
      known.generation = partition.canonGeneration;
      known.producers.clear();
      for (let i = 0; i < from; i++) {
        this.#take(known, partition, canon.nodes[i] as number, at, undefined);
      }
    }
    for (let i = from; i < to; i++) {
      this.#take(known, partition, canon.nodes[i] as number, at, event);
    }
  }

  /** Without an event the batch is only taken note of. */
  #take(
    known: Sequences,
    partition: PartitionGhost,
    node: BatchNode,
    at: Instant,
    event: number | undefined,
  ): void {
    const { tree } = partition;
    const { producerId, producerEpoch } = tree.writerOf(node);
    const first = tree.baseSequence[node] as number;
    if (producerId < 0 || first < 0) return;
    this.evaluations++;
    const length = tree.length[node] as number;
    const lastSequence = incrementSequence(first, length - 1);
    const before = known.producers.get(producerId);
    if (before === undefined) {
      known.producers.set(producerId, { producerEpoch, lastSequence, node });
      return;
    }
    if (event !== undefined) {
      this.interesting++;
      const isSame = producerEpoch === before.producerEpoch;
      const next = isSame ? incrementSequence(before.lastSequence, 1) : 0;
      if (producerEpoch < before.producerEpoch || first !== next) {
        this.#tell(partition, node, before, at, event);
      }
    }
    before.producerEpoch = producerEpoch;
    before.lastSequence = lastSequence;
    before.node = node;
  }

  #tell(
    partition: PartitionGhost,
    node: BatchNode,
    before: LastBatch,
    at: Instant,
    event: number,
  ): void {
    const { tree } = partition;
    const { client, producerId, producerEpoch } = tree.writerOf(node);
    const name = this.#names.of(client);
    const offset = tree.baseOffset(node);
    const isFallen = producerEpoch < before.producerEpoch;
    const what = isFallen
      ? `has epoch ${producerEpoch}`
      : `begins with sequence ${tree.baseSequence[node]}`;
    const batch = producerEpoch === before.producerEpoch ? "" : ` epoch ${producerEpoch}`;
    const than = isFallen
      ? `had epoch ${before.producerEpoch}`
      : `had epoch ${before.producerEpoch} and ended with ${before.lastSequence}`;
    this.violations.push(
      violationOf(SEQUENCES_IN_ORDER, {
        kind: isFallen ? "epoch-fallen" : "sequence-out-of-order",
        partition: partition.name,
        client: name,
        at,
        event,
        text: [
          `${name === "" ? "A" : `${name}'s`} batch${batch} at offset ${offset} ${what}; the one before it of producer ${producerId} ${than}.`,
        ],
        offsets: [offset, tree.lastOffset[node] as number],
        count: tree.length[node] as number,
        permitted: this.#waive(partition, before),
      }),
    );
  }

  #waive(partition: PartitionGhost, { node }: LastBatch): string | undefined {
    const { expiry, idle } = this.#context;
    const { producerId } = partition.tree.writerOf(node);
    const lastOffset = partition.tree.lastOffset[node] as number;
    if (lastOffset < expiry.permitted(partition)) {
      return "the batch before had expired, and brokers may forget its producer then";
    }
    if (lastOffset >= idle.forgottenBelow(partition.name, producerId)) return undefined;
    return "the producer had written nothing for producer.id.expiration.ms, and brokers forget it then";
  }
}
