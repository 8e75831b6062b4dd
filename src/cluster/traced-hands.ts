import type { Duration } from "../base/time.ts";
import type { Offset, PartitionName } from "../kafka/ids.ts";
import type { BitRot, DiskArea, DiskFailure } from "../ports/disk-failure.ts";
import type { Hands, LogPlace, MessageDisturbance, Undo, UnflushedMode } from "../ports/hands.ts";
import type { NodeAddress } from "../ports/network.ts";
import type { DurationSource, Ratio } from "../ports/random.ts";

/** Something that was done to the link between two nodes, or to one node. */
interface Hold {
  readonly nodes: readonly NodeAddress[];
  /** `process`: it was stopped; others may have started it again since. */
  readonly how: "process" | "cut" | "other";
}

/** Where a fault's grip is, seen from a set of nodes. */
export type Grip = "inside" | "outside" | "both";

/**
 * The hands that one fault acts through, where it may have to stay in part: they remember on whom the
 * fault has laid hold, and can be told to let go of some only.
 */
export class TracedHands implements Hands {
  readonly #hands: Hands;
  readonly #holds: Hold[] = [];
  #released: ReadonlySet<NodeAddress> | undefined = undefined;

  constructor(hands: Hands) {
    this.#hands = hands;
  }

  /** Is what the fault has done within the set: all, nothing, or some of it? */
  gripOn(nodes: ReadonlySet<NodeAddress>): Grip {
    const beyond = this.#beyond(nodes).length;
    if (beyond === 0) return "inside";
    return beyond === this.#holds.length ? "outside" : "both";
  }

  /** Nodes of which a link, the disk or the clock is wrong in a way that goes beyond the set. */
  spoiledBeyond(nodes: ReadonlySet<NodeAddress>): NodeAddress[] {
    return this.#beyond(nodes).flatMap((hold) => (hold.how === "process" ? [] : hold.nodes));
  }

  /** Has it cut what one of the two sends to the other? */
  hasCut(one: NodeAddress, other: NodeAddress): boolean {
    return this.#holds.some(
      ({ nodes, how }) => how === "cut" && nodes.includes(one) && nodes.includes(other),
    );
  }

  /** From now on only what is within the set is taken back. */
  releaseOnly(nodes: ReadonlySet<NodeAddress>): void {
    this.#released = nodes;
  }

  crash(node: NodeAddress, reason: string): void {
    this.#hold([node], "process");
    this.#hands.crash(node, reason);
  }

  restart(node: NodeAddress): void {
    if (this.#lets(node)) this.#hands.restart(node);
  }

  shutdown(node: NodeAddress): void {
    this.#hold([node], "process");
    this.#hands.shutdown(node);
  }

  pause(node: NodeAddress): void {
    this.#hold([node], "process");
    this.#hands.pause(node);
  }

  resume(node: NodeAddress): void {
    if (this.#lets(node)) this.#hands.resume(node);
  }

  powerOff(node: NodeAddress, mode: UnflushedMode): void {
    this.#hold([node], "process");
    this.#hands.powerOff(node, mode);
  }

  powerOn(node: NodeAddress): void {
    if (this.#lets(node)) this.#hands.powerOn(node);
  }

  cut(from: NodeAddress, to: NodeAddress): void {
    this.#hold([from, to], "cut");
    this.#hands.cut(from, to);
  }

  heal(from: NodeAddress, to: NodeAddress): void {
    if (this.#lets(from, to)) this.#hands.heal(from, to);
  }

  delay(from: NodeAddress, to: NodeAddress, extra: DurationSource): Undo {
    return this.#lasting(this.#hands.delay(from, to, extra), from, to);
  }

  slowLink(from: NodeAddress, to: NodeAddress, bytesPerSecond: number): Undo {
    return this.#lasting(this.#hands.slowLink(from, to, bytesPerSecond), from, to);
  }

  reset(one: NodeAddress, other: NodeAddress): void {
    this.#hands.reset(one, other);
  }

  disturb(from: NodeAddress, to: NodeAddress, disturbance: MessageDisturbance): Undo {
    return this.#lasting(this.#hands.disturb(from, to, disturbance), from, to);
  }

  slowDisk(node: NodeAddress, factor: number): Undo {
    return this.#lasting(this.#hands.slowDisk(node, factor), node);
  }

  spikeDisk(node: NodeAddress, chance: Ratio, latency: DurationSource): Undo {
    return this.#lasting(this.#hands.spikeDisk(node, chance, latency), node);
  }

  stallDisk(node: NodeAddress, time: Duration, what: "all" | "fsync"): void {
    this.#hands.stallDisk(node, time, what);
  }

  failDisk(node: NodeAddress, failure: DiskFailure): Undo {
    return this.#lasting(this.#hands.failDisk(node, failure), node);
  }

  fillDisk(node: NodeAddress, area: DiskArea, free: number): Undo {
    return this.#lasting(this.#hands.fillDisk(node, area, free), node);
  }

  lockDisk(node: NodeAddress, area: DiskArea): Undo {
    return this.#lasting(this.#hands.lockDisk(node, area), node);
  }

  lieAboutSyncs(node: NodeAddress, area: DiskArea): Undo {
    return this.#lasting(this.#hands.lieAboutSyncs(node, area), node);
  }

  loseDisk(node: NodeAddress, area: DiskArea): Undo {
    return this.#lasting(this.#hands.loseDisk(node, area), node);
  }

  rotDisk(node: NodeAddress, rot: BitRot): Undo {
    return this.#lasting(this.#hands.rotDisk(node, rot), node);
  }

  pauseReading(node: NodeAddress, partition: PartitionName | undefined): Undo {
    return this.#lasting(this.#hands.pauseReading(node, partition), node);
  }

  seek(node: NodeAddress, partition: PartitionName | undefined, to: Offset | LogPlace): void {
    this.#hands.seek(node, partition, to);
  }

  askOffsets(node: NodeAddress, partition: PartitionName | undefined, which: LogPlace): void {
    this.#hands.askOffsets(node, partition, which);
  }

  deleteRecords(partition: PartitionName, before: Offset): void {
    this.#hands.deleteRecords(partition, before);
  }

  addPartitions(topic: string, count: number): void {
    this.#hands.addPartitions(topic, count);
  }

  abortHanging(partition: PartitionName, maxTimeout: Duration): void {
    this.#hands.abortHanging(partition, maxTimeout);
  }

  skewClock(node: NodeAddress, offset: Duration, driftPpm: number): Undo {
    return this.#lasting(this.#hands.skewClock(node, offset, driftPpm), node);
  }

  #hold(nodes: readonly NodeAddress[], how: Hold["how"]): void {
    this.#holds.push({ nodes, how });
  }

  #beyond(nodes: ReadonlySet<NodeAddress>): Hold[] {
    return this.#holds.filter((hold) => !hold.nodes.every((node) => nodes.has(node)));
  }

  #lets(...nodes: readonly NodeAddress[]): boolean {
    const released = this.#released;
    return released === undefined || nodes.every((node) => released.has(node));
  }

  #lasting(undo: Undo, ...nodes: readonly NodeAddress[]): Undo {
    this.#hold(nodes, "other");
    return () => {
      if (this.#lets(...nodes)) undo();
    };
  }
}
