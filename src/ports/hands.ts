import type { Duration } from "../base/time.ts";
import type { NodeAddress } from "./network.ts";
import type { DurationSource } from "./random.ts";

/** Takes back a lasting misfortune. To be called once. */
export type Undo = () => void;

/** A probability: `times` out of `outOf`, integers. */
export interface Ratio {
  readonly times: number;
  readonly outOf: number;
}

/** What a power cut makes of what was written but not flushed. */
export const UNFLUSHED: readonly UnflushedMode[] = ["lost", "kept", "torn", "random-prefix"];
export type UnflushedMode = "lost" | "kept" | "torn" | "random-prefix";

/** What happens to single messages of a link that TCP would never do to them. */
export interface MessageDisturbance {
  readonly drop?: Ratio;
  readonly duplicate?: Ratio;
  readonly reorder?: Ratio;
}

/**
 * All that faults can do to the world. Each call takes effect at once. What is asked of a node that
 * is already so (a crash of what is down, a restart of what is up) is ignored. Lasting misfortunes
 * add up: a link that was cut twice needs two heals, and each `Undo` takes back its own call.
 */
export interface Hands {
  /** Kills the process; the page cache survives. */
  crash(node: NodeAddress, reason: string): void;
  /** Starts a process that is down, as a new incarnation; powers its machine on first, if need be. */
  restart(node: NodeAddress): void;
  /** SIGTERM: an orderly stop. */
  shutdown(node: NodeAddress): void;
  /** Stops the process in its tracks (SIGSTOP), and lets it go on. */
  pause(node: NodeAddress): void;
  resume(node: NodeAddress): void;
  /** Cuts the machine's power: the process dies, and what was not flushed is lost as `mode` says. */
  powerOff(node: NodeAddress, mode: UnflushedMode): void;
  /** Gives power back and starts the process. */
  powerOn(node: NodeAddress): void;
  /** Nothing gets from one node to the other any more; what is sent is held. */
  cut(from: NodeAddress, to: NodeAddress): void;
  /** Takes back one `cut`. */
  heal(from: NodeAddress, to: NodeAddress): void;
  /** Adds a latency to every message. */
  delay(from: NodeAddress, to: NodeAddress, extra: DurationSource): Undo;
  slowLink(from: NodeAddress, to: NodeAddress, bytesPerSecond: number): Undo;
  /** Resets every connection between the two, whoever opened it. */
  reset(one: NodeAddress, other: NodeAddress): void;
  disturb(from: NodeAddress, to: NodeAddress, disturbance: MessageDisturbance): Undo;
  /** Makes every operation of a node's disk take `factor` times as long; an integer from 2. */
  slowDisk(node: NodeAddress, factor: number): Undo;
  /** Sets a node's clock off by `offset`, and lets it gain `driftPpm` microseconds a second. */
  skewClock(node: NodeAddress, offset: Duration, driftPpm: number): Undo;
}
