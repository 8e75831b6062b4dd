import { byNumber, byText } from "../../../base/order.ts";
import type { TopicPartitions } from "../../../kafka/group/assignors/topic-partitions.ts";
import { AssignedPartition } from "../assigned-partition.ts";
import type { ConsumerParts } from "../consumer-parts.ts";
import type { FetchBuffer } from "./fetch-buffer.ts";
import type { GroupSettings } from "./group-options.ts";
import type { Generation } from "./membership.ts";

/** How partitions are given up: with a last word on how far they were read, or without. */
export type Release = "partitions-revoked" | "partitions-lost";

/** The partitions that a member owns: those it reads (`SubscriptionState`). */
export class OwnedPartitions {
  readonly #parts: ConsumerParts;
  readonly #settings: GroupSettings;
  readonly #buffer: FetchBuffer;
  /** All that it ever owned, by name. */
  readonly #known = new Map<string, AssignedPartition>();

  constructor(parts: ConsumerParts, settings: GroupSettings, buffer: FetchBuffer) {
    this.#parts = parts;
    this.#settings = settings;
    this.#buffer = buffer;
  }

  /** By topic name. */
  get all(): TopicPartitions {
    const owned = new Map<string, number[]>();
    for (const { partition, topic } of this.#parts.assigned) {
      const numbers = owned.get(topic.name);
      if (numbers === undefined) owned.set(topic.name, [partition]);
      else numbers.push(partition);
    }
    return owned;
  }

  /** From now on nothing of these is fetched or handed over; they are owned still (`markPendingRevocation`). */
  part(partitions: TopicPartitions): void {
    for (const partition of this.#find(partitions)) {
      partition.isParting = true;
      this.#buffer.drop(partition);
    }
    this.#parts.isChanged = true;
  }

  release(partitions: TopicPartitions, how: Release, generation: Generation): void {
    if (partitions.size === 0) return;
    const { assigned } = this.#parts;
    const released = this.#find(partitions);
    this.#note(how, released, generation);
    for (const partition of released) {
      assigned.splice(assigned.indexOf(partition), 1);
      this.#buffer.drop(partition);
      partition.position.forget();
    }
    this.#parts.isChanged = true;
  }

  take(partitions: TopicPartitions, generation: Generation): void {
    const { assigned, metadata, settings } = this.#parts;
    const added: AssignedPartition[] = [];
    for (const [name, numbers] of partitions) {
      const topic = metadata.topic(name);
      for (const number of numbers) {
        const leader = topic.partition(number);
        const key = `${name} ${number}`;
        const partition =
          this.#known.get(key) ?? new AssignedPartition(topic, leader, settings.resetPolicy);
        this.#known.set(key, partition);
        partition.begin(settings.resetPolicy);
        added.push(partition);
      }
    }
    assigned.push(...added);
    assigned.sort(
      (one, other) =>
        byText(one.topic.name, other.topic.name) || byNumber(one.partition, other.partition),
    );
    this.#parts.isChanged = true;
    this.#note("partitions-assigned", added, generation);
  }

  /** What it reads is to be read from where the group has committed, as after an abort. */
  rewind(): void {
    const { assigned, settings } = this.#parts;
    for (const partition of assigned) {
      this.#buffer.drop(partition);
      if (!partition.isParting) partition.begin(settings.resetPolicy);
    }
    this.#parts.isChanged = true;
  }

  #find(partitions: TopicPartitions): AssignedPartition[] {
    return this.#parts.assigned.filter(
      ({ topic, partition }) => partitions.get(topic.name)?.includes(partition) === true,
    );
  }

  #note(
    kind: "partitions-assigned" | Release,
    partitions: readonly AssignedPartition[],
    generation: Generation,
  ): void {
    this.#parts.world.facts.note({
      kind,
      client: this.#parts.client,
      group: this.#settings.groupId,
      member: generation.memberId,
      generation: generation.id,
      partitions: partitions.map(({ name }) => name),
    });
  }
}
