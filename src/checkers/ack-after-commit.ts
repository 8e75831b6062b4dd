import type { Instant } from "../base/time.ts";
import type { SendEnded } from "../trace/fact.ts";
import type { AckedRecords } from "./acked-records.ts";
import type { BatchNode } from "./batch-tree.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import { RecordRun } from "./record-run.ts";

export const ACK_AFTER_COMMIT: Guarantee = {
  name: "ack-after-commit",
  sentence:
    "A client with acks=all is told that a record is written only once it is below a leader's high watermark.",
  source: "Partition.checkEnoughReplicasReachOffset; R11",
  kinds: ["ack-before-commit"],
  condition: "Always.",
  testedBy: "acknowledgements with acks=all",
  example: [
    "ack-before-commit   orders-0   at 8.002s, event 5120",
    "  p1 was told that offsets 412..418 are written, before they were below a high watermark: 7 records.",
  ],
  create: (context) => new AckAfterCommit(context),
};

class AckAfterCommit implements Checker {
  readonly #findings: EarlyAcks[] = [];
  readonly #acked: AckedRecords;

  constructor({ acked }: CheckContext) {
    this.#acked = acked;
    acked.onEarly((partition, node, fact, at, event) =>
      this.#note(partition, node, fact, at, event),
    );
  }

  get evaluations(): number {
    return this.#acked.placedAll;
  }

  get interesting(): number {
    return this.#acked.placedAll;
  }

  get violations(): readonly Violation[] {
    return this.#findings.map((finding) => finding.toViolation());
  }

  /** One for each client, partition and leader epoch. */
  #note(
    partition: PartitionGhost,
    node: BatchNode,
    { client, baseOffset, values }: SendEnded,
    at: Instant,
    event: number,
  ): void {
    const epoch = partition.tree.leaderEpoch[node] as number;
    let finding = this.#findings.find(
      (one) => one.partition === partition && one.client === client && one.epoch === epoch,
    );
    if (finding === undefined) {
      finding = new EarlyAcks(partition, client, epoch, at, event);
      this.#findings.push(finding);
    }
    finding.run.add(baseOffset, baseOffset + values.length - 1, values.length);
  }
}

class EarlyAcks {
  readonly partition: PartitionGhost;
  readonly client: string;
  readonly epoch: number;
  readonly run = new RecordRun();
  readonly #at: Instant;
  readonly #event: number;

  constructor(
    partition: PartitionGhost,
    client: string,
    epoch: number,
    at: Instant,
    event: number,
  ) {
    this.partition = partition;
    this.client = client;
    this.epoch = epoch;
    this.#at = at;
    this.#event = event;
  }

  toViolation(): Violation {
    const { run, client } = this;
    const are = run.count === 1 ? "is" : "are";
    const they = run.count === 1 ? "it was" : "they were";
    return violationOf(ACK_AFTER_COMMIT, {
      partition: this.partition.name,
      client,
      at: this.#at,
      event: this.#event,
      text: [
        `${client} was told that ${run.text} ${are} written, before ${they} below a high watermark: ${run.size}.`,
      ],
      offsets: run.offsets,
      count: run.count,
    });
  }
}
