import { invariant } from "../base/invariant.ts";
import type { Duration, Instant } from "../base/time.ts";
import type { MessageDisturbance } from "../ports/hands.ts";
import type { NodeAddress } from "../ports/network.ts";
import type { DurationSource } from "../ports/random.ts";
import type { Rng } from "../sim/rng.ts";
import type { Fate } from "./disturbance.ts";
import { drawFate } from "./disturbance.ts";
import { Transmitter } from "./transmitter.ts";

const DRAWN_AHEAD = 16;

/** What a link is like while nothing is wrong with it. */
export interface LinkQuality {
  /** The time from one end to the other, in microseconds, drawn for each frame. */
  readonly latency: DurationSource;
  /** Absent: unlimited. Each direction between two nodes has this for itself. */
  readonly bytesPerSecond?: number;
}

/**
 * One direction between two nodes, and what is wrong with it at present. All connections between
 * the two share it.
 *
 * Simplified: the bandwidth is the link's, not that of the network card that all links of a machine
 * share; headers of TCP and IP, segments, congestion control and windows are not modelled.
 */
export class Link {
  readonly from: NodeAddress;
  readonly to: NodeAddress;
  /** `broker-1->broker-2`. */
  readonly name: string;
  /** Could single messages meet another fate than to pass? */
  isDisturbed = false;
  readonly #random: Rng;
  /** Faults have dice of their own: what they draw must not move the latencies. */
  #faultRandom: Rng | undefined;
  #quality: LinkQuality;
  #transmitter: Transmitter | undefined;
  /** Latencies drawn ahead, and how many of them are used up. */
  readonly #latencies: Duration[] = [];
  #used = 0;
  #blocks = 0;
  #isDelayed = false;
  // Faults in force, in the order in which they began.
  readonly #delays: DurationSource[] = [];
  readonly #speeds: number[] = [];
  readonly #disturbances: MessageDisturbance[] = [];

  constructor(from: NodeAddress, to: NodeAddress, name: string, random: Rng, quality: LinkQuality) {
    this.from = from;
    this.to = to;
    this.name = name;
    this.#random = random;
    this.#quality = quality;
    this.#transmitter = newTransmitter(quality.bytesPerSecond);
  }

  /** Does nothing get through at present? */
  get isBlocked(): boolean {
    return this.#blocks > 0;
  }

  /** When a frame of `size` bytes that departs then is there, if nothing stands before it. */
  arrival(now: Instant, departure: Instant, size: number): Instant {
    const transmitter = this.#transmitter;
    const sent = transmitter === undefined ? departure : transmitter.transmit(now, departure, size);
    return sent + this.latency();
  }

  /** Draws the time from end to end for something without length. */
  latency(): Duration {
    if (this.#used === this.#latencies.length) this.#drawLatencies();
    let latency = this.#latencies[this.#used++] as number;
    if (this.#isDelayed) {
      const random = this.#faultStream();
      for (const delay of this.#delays) latency += delay.draw(random);
    }
    return latency;
  }

  /** What becomes of one message. */
  fate(): Fate {
    return drawFate(this.#disturbances, this.#faultStream());
  }

  block(): void {
    this.#blocks++;
  }

  /** Takes back one `block`; true if the link is open after it. */
  unblock(): boolean {
    invariant(this.#blocks > 0, () => `the link ${this.name} is not cut`);
    this.#blocks--;
    return this.#blocks === 0;
  }

  /** Changes what the link is like. Frames under way keep their time. */
  setQuality(now: Instant, quality: LinkQuality): void {
    this.#quality = quality;
    this.#drawLatencies();
    this.#applySpeed(now);
  }

  addDelay(delay: DurationSource): void {
    this.#delays.push(delay);
    this.#isDelayed = true;
  }

  removeDelay(delay: DurationSource): void {
    removeOne(this.#delays, delay);
    this.#isDelayed = this.#delays.length > 0;
  }

  addDisturbance(disturbance: MessageDisturbance): void {
    this.#disturbances.push(disturbance);
    this.isDisturbed = true;
  }

  removeDisturbance(disturbance: MessageDisturbance): void {
    removeOne(this.#disturbances, disturbance);
    this.isDisturbed = this.#disturbances.length > 0;
  }

  /** No more than so many bytes a second: of several limits the least counts. */
  addSpeedLimit(now: Instant, bytesPerSecond: number): void {
    this.#speeds.push(bytesPerSecond);
    this.#applySpeed(now);
  }

  removeSpeedLimit(now: Instant, bytesPerSecond: number): void {
    removeOne(this.#speeds, bytesPerSecond);
    this.#applySpeed(now);
  }

  /** Draws several at once: a draw alone costs more for fetching the generator than for running it. */
  #drawLatencies(): void {
    const { latency } = this.#quality;
    for (let i = 0; i < DRAWN_AHEAD; i++) this.#latencies[i] = latency.draw(this.#random);
    this.#used = 0;
  }

  #applySpeed(now: Instant): void {
    let least = this.#quality.bytesPerSecond;
    for (const speed of this.#speeds) if (least === undefined || speed < least) least = speed;
    if (least === undefined || this.#transmitter === undefined)
      this.#transmitter = newTransmitter(least);
    else this.#transmitter.changeSpeed(now, least);
  }

  #faultStream(): Rng {
    this.#faultRandom ??= this.#random.fork("faults");
    return this.#faultRandom;
  }
}

function newTransmitter(bytesPerSecond: number | undefined): Transmitter | undefined {
  return bytesPerSecond === undefined ? undefined : new Transmitter(bytesPerSecond);
}

function removeOne<T>(list: T[], item: T): void {
  const at = list.indexOf(item);
  invariant(at >= 0, () => "a fault of a link ended that had not begun");
  list.splice(at, 1);
}
