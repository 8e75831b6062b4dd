import { fail } from "../base/invariant.ts";
import type { Duration } from "../base/time.ts";
import type { SimulatedDisk } from "../disk/simulated-disk.ts";
import type { Offset, PartitionName } from "../kafka/ids.ts";
import { topicPartition } from "../kafka/ids.ts";
import type { Fabric } from "../net/fabric.ts";
import type { Admin } from "../nodes/admin/admin.ts";
import type { ConsumerCall } from "../nodes/consumer/application-calls.ts";
import type { WhichOffset } from "../nodes/consumer/offset-lookup.ts";
import type { BitRot, DiskArea, DiskFailure } from "../ports/disk-failure.ts";
import type { Hands, LogPlace, MessageDisturbance, Undo, UnflushedMode } from "../ports/hands.ts";
import type { NodeAddress } from "../ports/network.ts";
import type { DurationSource, Ratio } from "../ports/random.ts";
import type { Host } from "../sim/host.ts";

/** The programs around consumers. */
export interface Applications {
  /** Has the one at an address ask this of its consumer. */
  call(node: NodeAddress, call: ConsumerCall): void;
  /** What a right wall clock reads at a time of the scenario, or so long before now, in milliseconds. */
  timestampOf(time: Duration): number;
}

/** The hands that faults act through, laid on the simulated world. */
export class WorldHands implements Hands {
  readonly #hosts: readonly Host[];
  readonly #disks: readonly SimulatedDisk[];
  readonly #fabric: Fabric;
  readonly #admin: () => Admin | undefined;
  readonly #applications: Applications;
  /** What is wrong with each node's clock at present. */
  readonly #skews = new Map<
    NodeAddress,
    { readonly offset: Duration; readonly driftPpm: number }[]
  >();

  /** `admin`: the admin client, once it has been started. */
  constructor(
    hosts: readonly Host[],
    disks: readonly SimulatedDisk[],
    fabric: Fabric,
    admin: () => Admin | undefined,
    applications: Applications,
  ) {
    this.#hosts = hosts;
    this.#disks = disks;
    this.#fabric = fabric;
    this.#admin = admin;
    this.#applications = applications;
  }

  crash(node: NodeAddress, reason: string): void {
    this.#host(node).crash(reason);
  }

  restart(node: NodeAddress): void {
    this.#host(node).start();
  }

  shutdown(node: NodeAddress): void {
    this.#host(node).shutdown();
  }

  pause(node: NodeAddress): void {
    this.#host(node).pause();
  }

  resume(node: NodeAddress): void {
    this.#host(node).resume();
  }

  powerOff(node: NodeAddress, mode: UnflushedMode): void {
    this.#disk(node).powerOffMode = mode;
    this.#host(node).powerOff("power cut");
  }

  powerOn(node: NodeAddress): void {
    this.#host(node).start();
  }

  cut(from: NodeAddress, to: NodeAddress): void {
    this.#fabric.cut(from, to);
  }

  heal(from: NodeAddress, to: NodeAddress): void {
    this.#fabric.heal(from, to);
  }

  delay(from: NodeAddress, to: NodeAddress, extra: DurationSource): Undo {
    return this.#fabric.delay(from, to, extra);
  }

  slowLink(from: NodeAddress, to: NodeAddress, bytesPerSecond: number): Undo {
    return this.#fabric.slow(from, to, bytesPerSecond);
  }

  reset(one: NodeAddress, other: NodeAddress): void {
    this.#fabric.reset(one, other);
  }

  disturb(from: NodeAddress, to: NodeAddress, disturbance: MessageDisturbance): Undo {
    return this.#fabric.disturb(from, to, disturbance);
  }

  slowDisk(node: NodeAddress, factor: number): Undo {
    return this.#disk(node).slow(factor);
  }

  spikeDisk(node: NodeAddress, chance: Ratio, latency: DurationSource): Undo {
    return this.#disk(node).spike(chance, latency);
  }

  stallDisk(node: NodeAddress, time: Duration, what: "all" | "fsync"): void {
    this.#disk(node).stall(time, what);
  }

  failDisk(node: NodeAddress, failure: DiskFailure): Undo {
    return this.#disk(node).trouble.fail(failure);
  }

  fillDisk(node: NodeAddress, area: DiskArea, free: number): Undo {
    return this.#disk(node).trouble.fill(area, free);
  }

  lockDisk(node: NodeAddress, area: DiskArea): Undo {
    return this.#disk(node).trouble.lock(area);
  }

  lieAboutSyncs(node: NodeAddress, area: DiskArea): Undo {
    return this.#disk(node).trouble.lie(area);
  }

  loseDisk(node: NodeAddress, area: DiskArea): Undo {
    return this.#disk(node).trouble.lose(area);
  }

  rotDisk(node: NodeAddress, rot: BitRot): Undo {
    return this.#disk(node).trouble.rot(rot);
  }

  pauseReading(node: NodeAddress, partition: PartitionName | undefined): Undo {
    this.#applications.call(node, { kind: "pause", partition });
    return () => this.#applications.call(node, { kind: "resume", partition });
  }

  seek(node: NodeAddress, partition: PartitionName | undefined, to: Offset | LogPlace): void {
    const where = typeof to === "number" ? to : this.#which(to);
    this.#applications.call(node, { kind: "seek", partition, to: where });
  }

  askOffsets(node: NodeAddress, partition: PartitionName | undefined, which: LogPlace): void {
    this.#applications.call(node, { kind: "ask-offsets", partition, which: this.#which(which) });
  }

  /** Records are stamped by the wall clocks of who sends them. */
  #which(place: LogPlace): WhichOffset {
    return typeof place === "string"
      ? place
      : { timestamp: this.#applications.timestampOf(place.time) };
  }

  deleteRecords(partition: PartitionName, before: Offset): void {
    this.#admin()?.deleteRecords(topicPartition(partition), before);
  }

  addPartitions(topic: string, count: number): void {
    this.#admin()?.addPartitions(topic, count);
  }

  abortHanging(partition: PartitionName, maxTimeout: Duration): void {
    this.#admin()?.abortHanging(topicPartition(partition), maxTimeout);
  }

  skewClock(node: NodeAddress, offset: Duration, driftPpm: number): Undo {
    const skew = { offset, driftPpm };
    const skews = this.#skews.get(node) ?? [];
    this.#skews.set(node, skews);
    skews.push(skew);
    this.#setClock(node);
    return () => {
      skews.splice(skews.indexOf(skew), 1);
      this.#setClock(node);
    };
  }

  /** Skews add up, so that the end of one leaves the others, and a clock that was wrong from the start. */
  #setClock(node: NodeAddress): void {
    let offset = 0;
    let driftPpm = 0;
    for (const skew of this.#skews.get(node) ?? []) {
      offset += skew.offset;
      driftPpm += skew.driftPpm;
    }
    this.#host(node).clock.set(offset, driftPpm);
  }

  #host(node: NodeAddress): Host {
    return this.#hosts[node] ?? fail(`there is no node ${node}`);
  }

  #disk(node: NodeAddress): SimulatedDisk {
    return this.#disks[node] ?? fail(`there is no node ${node}`);
  }
}
