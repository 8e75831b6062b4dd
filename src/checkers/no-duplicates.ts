import type { Instant } from "../base/time.ts";
import type { Offset } from "../kafka/ids.ts";
import { ClientNames } from "./client-names.ts";
import { CommittedValues } from "./committed-values.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import { RecordRun } from "./record-run.ts";
import type { Duplicate } from "./waivers/duplicate-waiver.ts";
import { waiveDuplicate } from "./waivers/duplicate-waiver.ts";

export const NO_DUPLICATES: Guarantee = {
  name: "no-duplicates",
  sentence: "A record that was sent once stands in the committed log at most once.",
  source:
    "KIP-98, the idempotent producer; P2; Jepsen's duplicate (reading a record twice is none)",
  kinds: ["duplicate-record"],
  condition:
    "Permitted: with enable.idempotence=false, if the record was sent again or the network doubled a request; if the producer took a new id between the two, or a new epoch after it had given up a record, the network had lost, doubled or overtaken one of its requests, the log had lost something, brokers know the first copy no more, since five batches of the producer followed or they have started since, or the log does not begin with the producer's first sequence; if the first copy had expired, or the producer had written nothing for producer.id.expiration.ms.",
  testedBy: "batches committed from a producer that had sent something again",
  example: [
    "duplicate-record   orders-0   at 12.480s, event 9120",
    "  p1's record 118 stands at offset 118 and again at offset 123: 1 record.",
  ],
  create: (context) => new NoDuplicates(context),
};

interface FoundDuplicate extends Duplicate {
  readonly before: Offset;
  readonly offset: Offset;
  readonly at: Instant;
  readonly event: number;
}

class NoDuplicates implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly #context: CheckContext;
  readonly #names: ClientNames;
  readonly #committed: CommittedValues[] = [];
  readonly #found: FoundDuplicate[] = [];

  constructor(context: CheckContext) {
    this.#context = context;
    this.#names = new ClientNames(context.setup);
    context.logs.onCommitted((partition, from, to, at, event) =>
      this.#commit(partition, from, to, at, event),
    );
  }

  /** One for each partition, client and reason: every retry is the same lesson. */
  get violations(): readonly Violation[] {
    const groups = new Map<string, FoundDuplicate[]>();
    for (const duplicate of this.#found) {
      const permitted = waiveDuplicate(this.#context, duplicate) ?? "";
      const key = `${duplicate.partition.index} ${duplicate.client} ${permitted}`;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [duplicate]);
      else group.push(duplicate);
    }
    return [...groups.values()].map((group) => this.#describe(group));
  }

  #commit(partition: PartitionGhost, from: number, to: number, at: Instant, event: number): void {
    let committed = this.#committed[partition.index];
    if (committed === undefined) {
      committed = new CommittedValues(partition);
      this.#committed[partition.index] = committed;
    }
    const { canon, tree } = partition;
    for (let i = from; i < to; i++) {
      this.evaluations++;
      const secondNode = canon.nodes[i] as number;
      const client = this.#names.of(tree.writerOf(secondNode).client);
      if (this.#context.retries.hasRetried(client, partition.name)) this.interesting++;
      for (const { value, before, offset } of committed.take(i)) {
        const firstNode = canon.nodeAt(before);
        this.#found.push({
          partition,
          client,
          value,
          firstNode,
          secondNode,
          before,
          offset,
          at,
          event,
        });
      }
    }
  }

  #describe(group: readonly FoundDuplicate[]): Violation {
    const first = group[0] as FoundDuplicate;
    const { partition, client, value, before, offset, at, event } = first;
    const run = new RecordRun();
    for (const duplicate of group) run.add(duplicate.offset, duplicate.offset, 1);
    const others = run.count === 1 ? "" : " (the first of them)";
    return {
      guarantee: NO_DUPLICATES.name,
      kind: "duplicate-record",
      partition: partition.name,
      client,
      at,
      event,
      text: [
        `${client}'s record ${value}${others} stands at offset ${before} and again at offset ${offset}: ${run.size}.`,
      ],
      offsets: run.offsets,
      count: run.count,
      permitted: waiveDuplicate(this.#context, first),
      cause: event,
      follows: undefined,
    };
  }
}
