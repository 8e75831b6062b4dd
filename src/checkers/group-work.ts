import type { Instant } from "../base/time.ts";
import type { Offset, PartitionName } from "../kafka/ids.ts";
import { memberAt } from "../kafka/zookeeper/registries.ts";
import type { FactRecorder } from "../trace/recorder.ts";

/** A member of a group has a position, from which it reads on. */
export interface Begin {
  readonly client: string;
  readonly to: Offset;
  /** As `position-reset` has it: `committed`, `initial`, `out-of-range`, `truncation`, ... */
  readonly reason: string;
  readonly event: number;
  readonly order: number;
  /** The least that was committed since the partition was assigned to it; -1 if for some time nothing was. */
  readonly leastCommitted: Offset;
}

/** Somebody was given a record, or has worked on it. */
interface Deed {
  readonly client: string;
  /** Of all that is noted here: several things may happen in one event. */
  readonly order: number;
}

/** Somebody has worked on a record. */
interface Done extends Deed {
  /** When the member had begun that did it: it may be at work still when its partition is another's. */
  readonly since: number;
}

/** Something that ended a member's claim on a partition. */
export interface Parting extends Deed {
  readonly at: Instant;
  readonly event: number;
  /** `stopped (crash)`, `lost the partition`: the middle of a sentence. */
  readonly how: string;
}

/** A record was worked on that had been worked on before. */
export interface Repeat extends Deed {
  readonly offset: Offset;
  readonly at: Instant;
  readonly event: number;
  readonly before: Done;
}

/** What the members of a group have done with one partition. */
export class GroupWork {
  readonly group: string;
  readonly name: PartitionName;
  /** Where the first of them began; infinite while nobody has. */
  start: Offset = Number.POSITIVE_INFINITY;
  /** The group's offset, as its coordinators hold it; -1 if there is none. */
  committed: Offset = -1;
  /** The highest that there ever was. */
  highestCommitted: Offset = -1;
  readonly begins: Begin[] = [];
  readonly partings: Parting[] = [];
  /** By offset: to whom it was given last, and who has worked on it last. */
  readonly given: (Deed | undefined)[] = [];
  readonly worked: (Done | undefined)[] = [];
  /** By client, since it was assigned the partition: the least that was committed. */
  readonly #least = new Map<string, Offset>();

  constructor(group: string, name: PartitionName) {
    this.group = group;
    this.name = name;
  }

  assigned(client: string): void {
    this.#least.set(client, this.committed);
  }

  commit(offset: Offset): void {
    this.committed = offset;
    this.highestCommitted = Math.max(this.highestCommitted, offset);
    for (const [client, least] of this.#least) {
      if (offset < least) this.#least.set(client, offset);
    }
  }

  begin(client: string, to: Offset, reason: string, event: number, order: number): void {
    const leastCommitted = this.#least.get(client) ?? this.committed;
    this.begins.push({ client, to, reason, event, order, leastCommitted });
    this.start = Math.min(this.start, to);
  }

  /** Its last. */
  beginOf(client: string): Begin | undefined {
    return this.begins.findLast((begin) => begin.client === client);
  }

  /** What first ended a client's claim after this. */
  partingAfter(client: string, order: number): Parting | undefined {
    return this.partings.find((one) => one.client === client && one.order > order);
  }
}

/** What groups do with their partitions, as their members and their coordinators note it. */
export class GroupWorks {
  readonly #works = new Map<string, GroupWork>();
  /** By client. */
  readonly #groups = new Map<string, string>();
  /** By member id. */
  readonly #clients = new Map<string, string>();
  #next = 0;
  readonly #onRepeat: (work: GroupWork, repeat: Repeat) => void;

  /** `others`: clients whose work is another's affair, by name. */
  constructor(
    facts: FactRecorder,
    others: ReadonlyMap<string, unknown>,
    onRepeat: (work: GroupWork, repeat: Repeat) => void,
  ) {
    this.#onRepeat = onRepeat;
    facts.on("partitions-assigned", ({ client, group, member, partitions }) => {
      if (others.has(client)) return;
      this.#groups.set(client, group);
      this.#clients.set(member, client);
      for (const name of partitions) this.of(group, name).assigned(client);
    });
    for (const kind of ["partitions-revoked", "partitions-lost"] as const) {
      facts.on(kind, ({ client, group, partitions }, at, event) => {
        for (const name of partitions) {
          const order = this.#next++;
          const how = kind === "partitions-lost" ? "lost the partition" : "gave the partition up";
          this.of(group, name).partings.push({ client, at, event, order, how });
        }
      });
    }
    facts.on("node-stopped", ({ node: client, how, reason }, at, event) => {
      if (!this.#groups.has(client)) return;
      this.#part(client, at, event, `stopped (${how === "exit" ? reason : how})`);
    });
    // It may hear of that much later.
    facts.on("group-member-left", ({ member, reason }, at, event) => {
      const client = this.#clients.get(member);
      if (client !== undefined)
        this.#part(client, at, event, `was put out of the group (${reason})`);
    });
    facts.on("zookeeper-session-ended", ({ how, znodes }, at, event) => {
      const member = znodes.map(memberAt).find((id) => id !== undefined);
      if (how !== "expired" || member === undefined) return;
      const client = this.#clients.get(member);
      if (client !== undefined) this.#part(client, at, event, "lost its session with ZooKeeper");
    });
    facts.on("offsets-committed", ({ group, offsets }) => {
      for (const { partition, offset } of offsets) this.of(group, partition).commit(offset);
    });
    facts.on("offsets-removed", ({ group, partitions }) => {
      for (const name of partitions) this.of(group, name).commit(-1);
    });
    facts.on("position-reset", ({ client, partition, reason, to }, _at, event) => {
      this.#workOf(client, partition)?.begin(client, to, reason, event, this.#next++);
    });
    facts.on("polled", ({ client, partition, firstOffset, lastOffset }) => {
      const work = this.#workOf(client, partition);
      if (work === undefined) return;
      const deed = { client, order: this.#next++ };
      for (let offset = firstOffset; offset <= lastOffset; offset++) work.given[offset] = deed;
    });
    facts.on("records-processed", (fact, at, event) => {
      const { client, partition, firstOffset, lastOffset } = fact;
      const work = this.#workOf(client, partition);
      if (work === undefined) return;
      const order = this.#next++;
      const deed = { client, order, since: work.beginOf(client)?.order ?? order };
      for (let offset = firstOffset; offset <= lastOffset; offset++) {
        const before = work.worked[offset];
        if (before !== undefined)
          this.#onRepeat(work, { client, event, at, order, offset, before });
        work.worked[offset] = deed;
      }
    });
  }

  all(): IterableIterator<GroupWork> {
    return this.#works.values();
  }

  of(group: string, name: PartitionName): GroupWork {
    const key = `${group} ${name}`;
    const known = this.#works.get(key);
    if (known !== undefined) return known;
    const made = new GroupWork(group, name);
    this.#works.set(key, made);
    return made;
  }

  #part(client: string, at: Instant, event: number, how: string): void {
    for (const { begins, partings } of this.#works.values()) {
      if (!begins.some((begin) => begin.client === client)) continue;
      partings.push({ client, at, event, order: this.#next++, how });
    }
  }

  #workOf(client: string, name: PartitionName): GroupWork | undefined {
    const group = this.#groups.get(client);
    return group === undefined ? undefined : this.of(group, name);
  }
}
