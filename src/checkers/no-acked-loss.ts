import type { Instant } from "../base/time.ts";
import type { SendEnded } from "../trace/fact.ts";
import type { AckLoss } from "./acked-records.ts";
import type { BatchNode } from "./batch-tree.ts";
import { ACKED_ALL, KEPT, MUTE_CLIENT, NO_NODE, NO_VALUE } from "./batch-tree.ts";
import { brokerName } from "./broker-name.ts";
import { ClientNames } from "./client-names.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import { recordId } from "./record-id.ts";
import { RecordRun } from "./record-run.ts";
import { waiveLoss } from "./waivers/loss-waiver.ts";
import { reusedSequenceWaiver } from "./waivers/reused-sequence.ts";
import type { Waiver } from "./waivers/waiver.ts";
import { acksText, counted } from "./wording.ts";

export const NO_ACKED_LOSS: Guarantee = {
  name: "no-acked-loss",
  sentence: "A record that its client was told is written is in the log of every later leader.",
  source: "KIP-101, KIP-966; R5 and R12; Jepsen's lost-write, without waiting for a read",
  kinds: ["acked-record-lost"],
  condition:
    "acks=1 or all, and the offset was told; what expired by policy is not lost. Permitted: with acks=1, when the leader was replaced before the record was below the high watermark; an unclean election that is enabled, or that of the last known leader; a power loss, or a damaged disk, on more replicas than min.insync.replicas - 1, or on the last of the ISR without ELR; an earlier rule of the protocol; below transaction.version 2, a sequence that its producer took back, as it gave up what had it while it committed, and used again.",
  testedBy:
    "elections at which something was acknowledged, and the acknowledged records looked for at the end",
  judges: true,
  example: [
    "acked-record-lost   orders-0   at 55.031s, event 31402",
    "  p1 (acks=all) was told that offsets 412..418 are written: 7 records.",
    "  The elected leader broker-3 does not have them.",
  ],
  create: (context) => new NoAckedLoss(context),
};

class NoAckedLoss implements Checker {
  interesting = 0;
  #looks = 0;
  readonly #context: CheckContext;
  readonly #names: ClientNames;
  readonly #findings: LossFinding[] = [];

  constructor(context: CheckContext) {
    this.#context = context;
    this.#names = new ClientNames(context.setup);
    const { acked, logs } = context;
    acked.onLost((loss) => this.#lose(loss));
    logs.onElected(({ partition }) => {
      this.#looks++;
      if (acked.of(partition).count > 0) this.interesting++;
    });
  }

  get evaluations(): number {
    return this.#looks + this.#context.acked.placed;
  }

  get violations(): readonly Violation[] {
    return this.#findings.map((finding) => finding.toViolation());
  }

  atEnd(at: Instant, event: number): void {
    const { acked, logs } = this.#context;
    for (const partition of logs.partitions) {
      if (!partition.leading || acked.of(partition).count === 0) continue;
      this.#looks++;
      this.interesting++;
    }
    acked.recheck(at, event);
    if (acked.unplaced.length > 0) this.#seekUnplaced(at, event);
  }

  #lose(loss: AckLoss): void {
    const { partition, stray } = loss;
    const { tree } = partition;
    for (const node of loss.nodes) {
      const acks = tree.has(node, ACKED_ALL) ? -1 : 1;
      const client = this.#names.of(tree.writerOf(node).client);
      const waiver = this.#waive(loss, node, acks);
      partition.judged.set(node, { waiver, cause: waiver?.cause ?? loss.cause });
      const finding = this.#findingOf(loss, waiver);
      finding.add(client, acks, tree.baseOffset(node), tree.length[node] as number);
    }
    if (stray === undefined) return;
    const finding = this.#findingOf(loss, this.#waiveStray(loss, stray));
    finding.add(stray.client, stray.acks, stray.baseOffset, stray.values.length);
  }

  #waive(loss: AckLoss, node: BatchNode, acks: -1 | 0 | 1): Waiver | undefined {
    const { partition } = loss;
    const { tree, leader, leaderEpoch } = partition;
    let keptInEpoch = -1;
    if (node !== NO_NODE) {
      // If no later leader had it, that of its own epoch did.
      keptInEpoch = tree.has(node, KEPT) ? loss.keptInEpoch : (tree.leaderEpoch[node] as number);
    }
    const gone = { node, broker: leader, keptInEpoch, goneInEpoch: leaderEpoch, acks };
    return waiveLoss(partition, gone, this.#context.setup, loss.cause);
  }

  #waiveStray(loss: AckLoss, { client, values, baseOffset, acks }: SendEnded): Waiver | undefined {
    const { partition, cause } = loss;
    const address = this.#context.setup.clients.get(client)?.address ?? -1;
    const id = recordId(address, values[0] ?? -1);
    const text = reusedSequenceWaiver(this.#context, partition, id, baseOffset);
    return text === undefined ? this.#waive(loss, NO_NODE, acks) : { text, cause };
  }

  #findingOf(loss: AckLoss, waiver: Waiver | undefined): LossFinding {
    const { partition } = loss;
    const known = this.#findings.find(
      (finding) =>
        finding.partition === partition &&
        finding.blame === loss.cause &&
        finding.waiver?.text === waiver?.text,
    );
    if (known !== undefined) return known;
    const made = new LossFinding(loss, waiver);
    this.#findings.push(made);
    return made;
  }

  /** Records acknowledged without an offset: they must be in the last leader's log somewhere. */
  #seekUnplaced(at: Instant, event: number): void {
    const { acked, logs, setup } = this.#context;
    for (const fact of acked.unplaced) {
      const partition = logs.partition(fact.partition);
      const address = setup.clients.get(fact.client)?.address;
      if (!partition.leading || address === undefined) continue;
      const missing = missingValues(partition, fact, address);
      if (missing === 0) continue;
      const { cause } = acked.of(partition);
      const loss: AckLoss = {
        partition,
        nodes: [],
        stray: undefined,
        by: "end",
        cause,
        keptInEpoch: -1,
        at,
        event,
      };
      this.#findingOf(loss, undefined).addUnplaced(fact.client, fact.acks, missing);
    }
  }
}

/** What one election, or cut, did to one partition's acknowledged records, for one reason. */
class LossFinding {
  readonly partition: PartitionGhost;
  readonly waiver: Waiver | undefined;
  readonly blame: number;
  readonly #loss: AckLoss;
  readonly #leader: string;
  readonly #all = new RecordRun();
  readonly #clients = new Map<string, RecordRun>();
  readonly #acks = new Map<string, string>();
  readonly #unplaced = new Map<string, number>();

  constructor(loss: AckLoss, waiver: Waiver | undefined) {
    this.partition = loss.partition;
    this.waiver = waiver;
    this.blame = loss.cause;
    this.#loss = loss;
    this.#leader = brokerName(loss.partition.leader);
  }

  add(client: string, acks: -1 | 0 | 1, first: number, count: number): void {
    this.#all.add(first, first + count - 1, count);
    let run = this.#clients.get(client);
    if (run === undefined) {
      run = new RecordRun();
      this.#clients.set(client, run);
      this.#acks.set(client, acksText(acks));
    }
    run.add(first, first + count - 1, count);
  }

  addUnplaced(client: string, acks: -1 | 0 | 1, count: number): void {
    this.#acks.set(client, acksText(acks));
    this.#unplaced.set(client, (this.#unplaced.get(client) ?? 0) + count);
  }

  toViolation(): Violation {
    const { at, event, cause } = this.#loss;
    let count = this.#all.count;
    for (const more of this.#unplaced.values()) count += more;
    const clients = [...this.#acks.keys()];
    return {
      guarantee: NO_ACKED_LOSS.name,
      kind: "acked-record-lost",
      partition: this.partition.name,
      client: clients.length === 1 ? (clients[0] as string) : "",
      at,
      event,
      text: [...this.#told(), this.#gone(count)],
      offsets: this.#all.offsets,
      count,
      permitted: this.waiver?.text,
      cause: this.waiver?.cause ?? cause,
      follows: undefined,
    };
  }

  #told(): string[] {
    const sentences: string[] = [];
    for (const [client, run] of this.#clients) {
      // Tombstones do not tell whose they are.
      const who = `${client === "" ? "a client" : client} (${this.#acks.get(client) ?? ""})`;
      const verb = run.count === 1 ? "is" : "are";
      sentences.push(`${who} was told that ${run.text} ${verb} written: ${run.size}.`);
    }
    for (const [client, count] of this.#unplaced) {
      const who = `${client} (${this.#acks.get(client) ?? ""})`;
      const records = counted(count, "record");
      sentences.push(`${who} was told, without an offset, that ${records} had been written.`);
    }
    return sentences;
  }

  #gone(count: number): string {
    const them = count === 1 ? "it" : "them";
    switch (this.#loss.by) {
      case "election":
        return `The elected leader ${this.#leader} does not have ${them}.`;
      case "cut":
        return `The leader ${this.#leader} cut ${them} off its log.`;
      case "start":
        return `The log of the leader ${this.#leader} no longer begins below ${them}.`;
      default:
        return `The leader ${this.#leader} does not have ${them}.`;
    }
  }
}

function missingValues(partition: PartitionGhost, fact: SendEnded, address: number): number {
  const { tree, leaderLog } = partition;
  const wanted = new Set(fact.values);
  if (leaderLog === undefined) return wanted.size;
  let tombstones = 0;
  for (let i = 0; i < leaderLog.count; i++) {
    const node = leaderLog.nodes[i] as number;
    const writer = tree.writerOf(node).client;
    if (writer !== address && writer !== MUTE_CLIENT) continue;
    const last = tree.lastOffset[node] as number;
    for (let offset = tree.baseOffset(node); offset <= last; offset++) {
      const value = tree.valueAt(node, offset);
      if (value === NO_VALUE) tombstones++;
      else wanted.delete(value);
    }
  }
  // A tombstone does not tell which record it is.
  return Math.max(0, wanted.size - tombstones);
}
