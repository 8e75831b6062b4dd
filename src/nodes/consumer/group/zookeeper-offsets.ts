import type { Duration, Instant } from "../../../base/time.ts";
import type { Offset, PartitionName } from "../../../kafka/ids.ts";
import { NO_EPOCH } from "../../../kafka/ids.ts";
import { offsetsPath } from "../../../kafka/zookeeper/registries.ts";
import { ZOOKEEPER_ERROR } from "../../../kafka/zookeeper/zookeeper-error.ts";
import type { CommitEnded } from "../../../trace/fact.ts";
import { createWithParents } from "../../zookeeper/persistent-path.ts";
import type { ZookeeperClient } from "../../zookeeper/zookeeper-client.ts";
import type { AssignedPartition } from "../assigned-partition.ts";
import type { ConsumerParts } from "../consumer-parts.ts";
import type { CommitOutcome } from "./commit-outcome.ts";
import type { GroupSettings } from "./group-options.ts";
import type { MemberOffsets, Progress } from "./member-offsets.ts";
import { beginAt, progressOf } from "./member-offsets.ts";
import type { Generation } from "./membership.ts";

/** A call of `commitOffsets`. */
interface Commit {
  readonly how: CommitEnded["how"];
  readonly progress: readonly Progress[];
  readonly ended: (outcome: CommitOutcome) => void;
}

/**
 * A member's offsets in ZooKeeper's registry of offsets, a znode for each partition (`commitOffsetToZooKeeper`,
 * `fetchOffsetFromZooKeeper`). Nobody looks who writes: also one who owns a partition no more sets it to where he is.
 * A commit lasts until ZooKeeper can be reached, and over the end of a session.
 *
 * Simplified: auto commits happen in poll, where positions move, not by a thread of their own.
 */
export class ZookeeperOffsets implements MemberOffsets {
  readonly #parts: ConsumerParts;
  readonly #settings: GroupSettings;
  readonly #client: ZookeeperClient;
  readonly #generation: () => Generation;
  /** What it knows to be in the registry, of what it owns (`checkpointedZkOffsets`). */
  readonly #checkpointed = new Map<PartitionName, Offset>();
  /** Where to begin in these it has asked since it owns them. */
  #asked: Set<AssignedPartition> = new Set();
  #nextAutoCommit: Instant;
  #isAutoCommitting = false;
  /** Commits in line, the first under way: who writes waits for the answer (`offsetsChannelLock`). */
  readonly #commits: Commit[] = [];

  constructor(
    parts: ConsumerParts,
    settings: GroupSettings,
    client: ZookeeperClient,
    generation: () => Generation,
  ) {
    this.#parts = parts;
    this.#settings = settings;
    this.#client = client;
    this.#generation = generation;
    this.#nextAutoCommit = parts.world.clock.now() + settings.autoCommitInterval;
  }

  /** What it asked for what it owned before is not what it wants to know. */
  assigned(now: Instant): void {
    this.#asked = new Set();
    this.restartAutoCommit(now);
  }

  restartAutoCommit(now: Instant): void {
    this.#nextAutoCommit = now + this.#settings.autoCommitInterval;
  }

  autoCommit(now: Instant): void {
    if (!this.#settings.autoCommit) return;
    if (now >= this.#nextAutoCommit) {
      this.restartAutoCommit(now);
      // One after the other: a thread does it.
      if (!this.#isAutoCommitting) this.#autoCommit();
    }
    this.#parts.wakeUp.noLaterThan(this.#nextAutoCommit, now);
  }

  #autoCommit(): void {
    this.#isAutoCommitting = true;
    this.commit("auto", 0, () => {
      this.#isAutoCommitting = false;
    });
  }

  commit(how: CommitEnded["how"], _: Duration, ended: (outcome: CommitOutcome) => void): void {
    const news = progressOf(this.#parts.assigned).filter(
      ({ partition, offset }) => this.#checkpointed.get(partition.name) !== offset,
    );
    this.#commit(how, news, ended);
  }

  commitBelow(partition: AssignedPartition, offset: Offset): void {
    this.#commit("async", [{ partition, offset, leaderEpoch: NO_EPOCH }], () => undefined);
  }

  run(): void {
    // What is asked of ZooKeeper is sent as soon as it can be.
  }

  findBeginnings(): void {
    const asked = this.#asked;
    for (const partition of this.#parts.assigned) {
      if (!partition.awaitsCommitted || asked.has(partition)) continue;
      asked.add(partition);
      this.#client.ask(
        { op: "getData", path: this.#path(partition), watch: false },
        "again",
        (_, { data }) => {
          if (asked !== this.#asked || !this.#parts.assigned.includes(partition)) return;
          const offset = data === undefined ? -1 : Number(data);
          this.#checkpointed.set(partition.name, offset);
          beginAt(this.#parts, partition, offset, NO_EPOCH);
          this.#parts.isChanged = true;
        },
      );
    }
  }

  #commit(
    how: CommitEnded["how"],
    progress: readonly Progress[],
    ended: (outcome: CommitOutcome) => void,
  ): void {
    this.#commits.push({ how, progress, ended });
    if (this.#commits.length === 1) this.#next();
  }

  #next(): void {
    const [commit] = this.#commits;
    if (commit === undefined) return;
    const { how, progress, ended } = commit;
    const done = (): void => {
      ended("done");
      this.#commits.shift();
      this.#next();
    };
    if (progress.length === 0) {
      done();
      return;
    }
    const { id: generation, memberId: member } = this.#generation();
    let left = progress.length;
    const written = (): void => {
      left--;
      if (left > 0) return;
      this.#parts.world.facts.note({
        kind: "commit-ended",
        client: this.#parts.client,
        group: this.#settings.groupId,
        member,
        generation,
        how,
        offsets: progress.map(({ partition: { name }, offset }) => ({ partition: name, offset })),
        outcome: "committed",
        error: "NONE",
      });
      done();
    };
    for (const { partition, offset } of progress) this.#write(partition, offset, written);
  }

  /** `updatePersistentPath`: the znode is written, or created where there is none. */
  #write(partition: AssignedPartition, offset: Offset, written: () => void): void {
    const path = this.#path(partition);
    const data = String(offset);
    this.#checkpointed.set(partition.name, offset);
    this.#client.ask({ op: "setData", path, data, version: -1 }, "again", (error) => {
      if (error !== ZOOKEEPER_ERROR.NONODE) {
        written();
        return;
      }
      createWithParents(this.#client, path, data, false, "again", (failed) => {
        // Another has been quicker.
        if (failed === ZOOKEEPER_ERROR.NODEEXISTS) this.#write(partition, offset, written);
        else written();
      });
    });
  }

  #path({ topic, partition }: AssignedPartition): string {
    return `${offsetsPath(this.#settings.groupId, topic.name)}/${partition}`;
  }
}
