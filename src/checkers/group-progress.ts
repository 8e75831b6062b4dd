import { GROUP_METADATA_TOPIC } from "../kafka/coordinator/internal-topics.ts";
import { decodeGroupRecord } from "../kafka/group/group-record-bytes.ts";
import type { Offset, PartitionName } from "../kafka/ids.ts";
import { partitionName } from "../kafka/ids.ts";
import type { Appended } from "../trace/fact.ts";
import type { BatchNode } from "./batch-tree.ts";
import { topicOf } from "./check-setup.ts";
import { committedBatches } from "./committed-batches.ts";
import type { CheckContext } from "./guarantee.ts";

interface CommittedOffset {
  readonly group: string;
  readonly partition: PartitionName;
  readonly offset: Offset;
}

/**
 * How far groups have come, as `__consumer_offsets` says and not as its coordinators do, who may have changed in
 * between: what is committed there, less what belongs to transactions that are not.
 */
export class GroupProgress {
  readonly #context: CheckContext;
  readonly #offsets = new Map<PartitionName, Map<BatchNode, readonly CommittedOffset[]>>();

  constructor(context: CheckContext) {
    this.#context = context;
    context.facts.on("appended", (fact) => this.#append(fact));
  }

  /** By group and partition, `workers orders-0`: the offset that is committed last, and whether one before was higher. */
  atEnd(): ReadonlyMap<string, { readonly offset: Offset; readonly wasHigher: boolean }> {
    const { logs, transactions } = this.#context;
    const progress = new Map<string, { readonly offset: Offset; readonly wasHigher: boolean }>();
    for (const [name, known] of this.#offsets) {
      const partition = logs.partition(name);
      for (const { node, fate } of committedBatches(partition, transactions)) {
        if (fate === "aborted" || fate === "open") continue;
        for (const { group, partition: read, offset } of known.get(node) ?? []) {
          const key = `${group} ${read}`;
          const before = progress.get(key);
          const wasHigher = before !== undefined && (before.wasHigher || before.offset > offset);
          progress.set(key, { offset, wasHigher });
        }
      }
    }
    return progress;
  }

  #append({ partition: name, broker, batch }: Appended): void {
    if (batch.isControl || topicOf(name) !== GROUP_METADATA_TOPIC) return;
    const node = this.#context.logs.partition(name).log(broker).tip;
    // A copy, unless what stands before it differs: then it is another node of the tree.
    if (this.#offsets.get(name)?.has(node) === true) return;
    const offsets: CommittedOffset[] = [];
    for (const record of batch.records()) {
      const decoded = decodeGroupRecord(record);
      if (decoded?.type !== "OffsetCommit" || decoded.value === undefined) continue;
      const { group, topic, partition, value } = decoded;
      offsets.push({ group, partition: partitionName(topic, partition), offset: value.offset });
    }
    const known = this.#offsets.get(name) ?? new Map<BatchNode, readonly CommittedOffset[]>();
    known.set(node, offsets);
    this.#offsets.set(name, known);
  }
}
