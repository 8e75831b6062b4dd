import type { Instant } from "../base/time.ts";
import { GROUP_METADATA_TOPIC } from "../kafka/coordinator/internal-topics.ts";
import type { Offset, PartitionName } from "../kafka/ids.ts";
import type { RecordDerived, RowStored } from "../trace/fact.ts";
import { NO_VALUE } from "./batch-tree.ts";
import type { ProcessorSetup } from "./check-setup.ts";
import { topicOf } from "./check-setup.ts";
import { indexOfSend } from "./client-sends.ts";
import { committedBatches } from "./committed-batches.ts";
import { violationOf } from "./finding.ts";
import { GroupProgress } from "./group-progress.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import type { RecordId } from "./record-id.ts";
import { addressOfRecord, recordId, valueOfRecord } from "./record-id.ts";
import { RecordRun } from "./record-run.ts";
import type { Output } from "./waivers/processing-waiver.ts";
import { waiveProcessing } from "./waivers/processing-waiver.ts";

export const PROCESSED_AS_PROMISED: Guarantee = {
  name: "processed-as-promised",
  sentence:
    "Each record that an application reads and works on has made as many committed records, and rows, as the application promises: exactly one if its group has come past it and none if it has not; or at least one if its group has come past it; or at most one.",
  source: "KIP-98, KIP-129 and KIP-447; T7; Jepsen's re-consumption",
  kinds: ["input-doubled", "input-passed-over", "input-ahead", "row-doubled", "row-missing"],
  condition:
    "At the end; of what clients with `process` read and write, but not of compacted topics, nor of what has expired. Permitted: of rows without a key with exactly-once, as no transaction reaches the store; what no-acked-loss, no-duplicates, told-as-decided and records-in-own-transaction permit; if the position in the input was set anew, or the group's offsets were lost, expired, or put back by a commit that came late.",
  testedBy: "records that such an application has worked on more than once, or not at all",
  example: [
    "row-doubled   orders-0   a1   at 60.000s, event 41200",
    "  a1 promises exactly-once, and its store ledger has 2 rows for offset 118: 1 record.",
  ],
  create: (context) => new ProcessedAsPromised(context),
};

/** What was made of one record that was read. */
class Input {
  /** Of records that were sent for it. */
  readonly sent: RecordId[] = [];
  rows = 0;
  /** Times that it was worked on. */
  times = 0;
  /** Who worked on it last. */
  client = "";
}

/** What a group reads of one partition. */
interface InputPartition {
  readonly name: PartitionName;
  readonly setup: ProcessorSetup;
  readonly inputs: Map<Offset, Input>;
}

/** How often a record stands in committed logs, and whether it may yet be committed or aborted. */
interface Standing {
  committed: number;
  isOpen: boolean;
  partition: PartitionGhost;
}

class ProcessedAsPromised implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;
  /** By group and partition. */
  readonly #partitions = new Map<string, InputPartition>();
  /** By group and partition: why its position was set back or forth. */
  readonly #resets = new Map<string, string>();
  readonly #progress: GroupProgress | undefined;

  constructor(context: CheckContext) {
    this.#context = context;
    const { facts, setup } = context;
    this.#progress = setup.processors.size === 0 ? undefined : new GroupProgress(context);
    if (this.#progress === undefined) return;
    facts.on("record-derived", (fact) => this.#derive(fact));
    facts.on("row-stored", (fact) => this.#store(fact));
    facts.on("position-reset", ({ client, partition, reason }) => {
      const group = setup.processors.get(client)?.group;
      if (group === undefined || reason === "committed" || reason === "initial") return;
      this.#resets.set(`${group} ${partition}`, `${client}'s position was set anew: ${reason}`);
    });
    facts.on("offsets-removed", ({ group, partitions }) => {
      for (const partition of partitions) {
        this.#resets.set(`${group} ${partition}`, `the offsets of group ${group} had expired`);
      }
    });
  }

  atEnd(at: Instant, event: number): void {
    if (this.#partitions.size === 0) return;
    const standings = this.#standings();
    const progress = this.#progress?.atEnd();
    for (const [key, partition] of this.#partitions) {
      const { offset = 0, wasHigher = false } = progress?.get(key) ?? {};
      const { group, guarantee } = partition.setup;
      // A transaction's offsets cannot come late: its epoch, or its end, are in their way.
      const isPutBack = wasHigher && guarantee !== "exactly-once";
      const reset = isPutBack
        ? `a commit of group ${group} came after a later one`
        : this.#resets.get(key);
      this.#judge(partition, offset, reset, standings, at, event);
    }
  }

  #derive(fact: RecordDerived): void {
    const input = this.#input(fact);
    if (input === undefined) return;
    const address = this.#context.setup.clients.get(fact.client)?.address ?? -1;
    input.sent.push(recordId(address, fact.value));
    input.times = Math.max(input.times, input.sent.length);
  }

  #store(fact: RowStored): void {
    const input = this.#input(fact);
    if (input === undefined) return;
    if (fact.isNew) input.rows++;
    input.times = Math.max(input.times, input.rows);
  }

  #input({ client, group, partition, offset }: RecordDerived | RowStored): Input | undefined {
    const setup = this.#context.setup.processors.get(client);
    if (setup === undefined) return undefined;
    const key = `${group} ${partition}`;
    let known = this.#partitions.get(key);
    if (known === undefined) {
      known = { name: partition, setup, inputs: new Map() };
      this.#partitions.set(key, known);
    }
    let input = known.inputs.get(offset);
    if (input === undefined) {
      input = new Input();
      known.inputs.set(offset, input);
    }
    input.client = client;
    return input;
  }

  /** Of all records that such applications have written. */
  #standings(): Map<RecordId, Standing> {
    const { logs, setup, transactions } = this.#context;
    const topics = new Set([...setup.processors.values()].map(({ to }) => to));
    const addresses = new Set(
      [...setup.processors.keys()].map((name) => setup.clients.get(name)?.address),
    );
    const standings = new Map<RecordId, Standing>();
    for (const partition of logs.partitions) {
      if (!topics.has(topicOf(partition.name))) continue;
      const { tree } = partition;
      for (const { node, fate } of committedBatches(partition, transactions)) {
        const { client } = tree.writerOf(node);
        if (fate === "aborted" || !addresses.has(client)) continue;
        const last = tree.lastOffset[node] as Offset;
        for (let offset = tree.baseOffset(node); offset <= last; offset++) {
          const value = tree.valueAt(node, offset);
          if (value === NO_VALUE) continue;
          const id = recordId(client, value);
          const standing = standings.get(id) ?? { committed: 0, isOpen: false, partition };
          if (fate === "open") standing.isOpen = true;
          else standing.committed++;
          standings.set(id, standing);
        }
      }
    }
    return standings;
  }

  #judge(
    { name, setup, inputs }: InputPartition,
    committed: Offset,
    reset: string | undefined,
    standings: ReadonlyMap<RecordId, Standing>,
    at: Instant,
    event: number,
  ): void {
    const { guarantee, store, to } = setup;
    const found = new Findings(this.#context, name, setup, reset, at, event);
    const areOffsetsOpen = this.#areOffsetsOpen;
    const isAtMost = guarantee !== "at-least-once";
    const isAtLeast = guarantee !== "at-most-once";
    const isKept = (topic: string): boolean =>
      this.#context.setup.topics.get(topic)?.isCompacted !== true;
    const isOutputKept = to !== undefined && isKept(to);
    for (const [offset, input] of inputs) {
      this.evaluations++;
      if (input.times > 1) this.interesting++;
      const stands = input.sent.map((id) => standings.get(id));
      const outputs = stands.reduce((sum, one) => sum + (one?.committed ?? 0), 0);
      const isOpen = stands.some((one) => one?.isOpen === true);
      if (isOutputKept && isAtMost && outputs > 1) found.add("input-doubled", offset, input);
      const isAhead = outputs > 0 && offset >= committed && !areOffsetsOpen;
      if (isOutputKept && guarantee === "exactly-once" && isAhead) {
        found.add("input-ahead", offset, input);
      }
      if (store !== undefined && isAtMost && input.rows > 1) {
        found.add("row-doubled", offset, input);
      }
      if (!isAtLeast || offset >= committed) continue;
      if (isOutputKept && outputs === 0 && !isOpen) found.add("input-passed-over", offset, input);
    }
    if (isKept(topicOf(name))) {
      for (const offset of this.#unworked(name, setup, inputs, committed)) {
        this.evaluations++;
        this.interesting++;
        if (!isAtLeast) continue;
        if (isOutputKept) found.add("input-passed-over", offset, undefined);
        else if (store !== undefined) found.add("row-missing", offset, undefined);
      }
    }
    this.violations.push(...found.all());
  }

  /** Has a transaction offsets of a group, and no end there yet? */
  get #areOffsetsOpen(): boolean {
    const { logs, transactions } = this.#context;
    return logs.partitions.some((partition) => {
      if (topicOf(partition.name) !== GROUP_METADATA_TOPIC) return false;
      const open = transactions?.parts.openIn(partition)?.all() ?? [];
      return [...open].some((parts) => parts.length > 0);
    });
  }

  /** What its consumer could have read below the committed offset, and nobody has worked on. */
  *#unworked(
    name: PartitionName,
    { consumerConfigs }: ProcessorSetup,
    inputs: ReadonlyMap<Offset, Input>,
    committed: Offset,
  ): IterableIterator<Offset> {
    const { expiry, logs, transactions } = this.#context;
    const partition = logs.partition(name);
    const { tree } = partition;
    const isEarliest = consumerConfigs["auto.offset.reset"] === "earliest";
    // Where a group began that reads from the end, nobody can tell.
    const start = isEarliest ? expiry.permitted(partition) : Math.min(...inputs.keys());
    const isCommittedOnly = consumerConfigs["isolation.level"] === "read_committed";
    for (const { node, fate } of committedBatches(partition, transactions)) {
      if (isCommittedOnly && (fate === "aborted" || fate === "open")) continue;
      const last = tree.lastOffset[node] as Offset;
      for (let offset = tree.baseOffset(node); offset <= last; offset++) {
        if (offset >= start && offset < committed && !inputs.has(offset)) yield offset;
      }
    }
  }
}

/** What was found in one partition, gathered by kind and reason. */
class Findings {
  readonly #context: CheckContext;
  readonly #name: PartitionName;
  readonly #setup: ProcessorSetup;
  readonly #reset: string | undefined;
  readonly #at: Instant;
  readonly #event: number;
  readonly #groups = new Map<
    string,
    {
      readonly kind: string;
      readonly permitted: string | undefined;
      readonly first: Input | undefined;
      readonly run: RecordRun;
    }
  >();

  constructor(
    context: CheckContext,
    name: PartitionName,
    setup: ProcessorSetup,
    reset: string | undefined,
    at: Instant,
    event: number,
  ) {
    this.#context = context;
    this.#name = name;
    this.#setup = setup;
    this.#reset = reset;
    this.#at = at;
    this.#event = event;
  }

  add(kind: string, offset: Offset, input: Input | undefined): void {
    const permitted = this.#permitted(kind, input);
    const key = `${kind} ${permitted}`;
    let group = this.#groups.get(key);
    if (group === undefined) {
      group = { kind, permitted, first: input, run: new RecordRun() };
      this.#groups.set(key, group);
    }
    group.run.add(offset, offset, 1);
  }

  *all(): IterableIterator<Violation> {
    for (const { kind, permitted, first, run } of this.#groups.values()) {
      yield violationOf(PROCESSED_AS_PROMISED, {
        kind,
        partition: this.#name,
        client: first?.client ?? "",
        at: this.#at,
        event: this.#event,
        text: [this.#text(kind, first, run)],
        offsets: run.offsets,
        count: run.count,
        permitted,
      });
    }
  }

  #permitted(kind: string, input: Input | undefined): string | undefined {
    const { store } = this.#setup;
    if (kind === "row-doubled" && store?.isKeyUnique === false) {
      if (this.#setup.guarantee === "exactly-once") {
        return `a transaction does not reach ${store.name}, whose rows have no key`;
      }
    }
    if (this.#reset !== undefined) return this.#reset;
    const outputs = (input?.sent ?? []).map((id) => this.#output(id));
    return waiveProcessing(this.#context, this.#name, this.#setup, outputs, this.#event);
  }

  /** A record as its sender knows it. */
  #output(id: RecordId): Output {
    const client = this.#context.history.writerOf(id);
    const value = valueOfRecord(id);
    const part = client?.partOf(value);
    const index = indexOfSend(value);
    return {
      id,
      client: client?.name ?? String(addressOfRecord(id)),
      partition: part?.partitions[index],
      offset: part?.offsets[index] ?? -1,
    };
  }

  #text(kind: string, input: Input | undefined, run: RecordRun): string {
    const { group, guarantee, store, to } = this.#setup;
    const who = `${input?.client ?? group} promises ${guarantee}`;
    const where = `${run.text}: ${run.size}`;
    switch (kind) {
      case "input-doubled":
        return `${who}, and ${to} has more than one committed record for ${where}.`;
      case "input-ahead":
        return `${who}, and ${to} has committed records for ${where}; but group ${group} has not come past them.`;
      case "row-doubled":
        return `${who}, and ${store?.name} has more than one row for ${where}.`;
      case "row-missing":
        return `${who}, and group ${group} has come past ${where}; but nobody has worked on them.`;
      default:
        return `${who}, and group ${group} has come past ${where}; but ${to} has no committed record for them.`;
    }
  }
}
