import type { Duration, Instant } from "../base/time.ts";
import type { ConnectionId, Frame } from "../ports/network.ts";
import type { TimerHandle } from "../ports/node.ts";
import { NO_TIMER } from "../ports/node.ts";
import type { Connection } from "./connection.ts";
import { FrameQueue, HELD } from "./frame-queue.ts";
import type { Link } from "./link.ts";
import type { Station } from "./station.ts";
import type { Signal, Wiring } from "./wiring.ts";

/** The last of a direction: its sender has closed the connection. Never shown to a node. */
const FIN: Frame = {
  apiKey: -1,
  apiVersion: 0,
  correlationId: 0,
  isResponse: false,
  body: undefined,
  size: 0,
};

/**
 * One side of a connection: who has it open there, and what that side sends to its peer. Frames
 * arrive in the order in which they were sent, each once.
 *
 * An event at the instant at which a frame is due takes the oldest frame that is due then. So a
 * frame may be given another time (when a cut link heals, or a slow one gets faster) by writing it
 * down and adding an event; the events of old times find nothing due and do nothing.
 *
 * A cut link holds what is sent over it. Simplified: the acknowledgements of TCP are not modelled,
 * so with only the opposite direction cut, data still gets through, without limit of a window and
 * without ever timing out. Simplified: what a cut held departs as soon as the link heals, without
 * TCP's growing pauses between retransmissions.
 */
export class Side {
  /** The name by which the process on this side knows the connection, and the subject of its events. */
  readonly id: ConnectionId;
  readonly connection: Connection;
  /** The way to the peer. */
  readonly link: Link;
  /** The process that has this side open; absent before and after. */
  station: Station | undefined = undefined;
  /** Established and not broken. */
  isFlowing = false;
  /**
   * The machine lost its power and knows the connection no longer, but has not said so to the
   * peer, who still believes in it.
   */
  isForgotten = false;
  #peer: Side;
  readonly #wiring: Wiring;
  readonly #frames = new FrameQueue();
  #lastDeparture: Instant = 0;
  #lastDue: Instant = 0;
  /** Are there events for which no frame may be due? */
  #hasStaleEvents = false;
  /** A reset to the peer waits for the link to heal. */
  #owesReset = false;
  /** Runs while frames wait for the link to heal. */
  #timeout: TimerHandle = NO_TIMER;

  /** The side that is made second gets the first as its peer, and becomes the peer of that. */
  constructor(
    id: ConnectionId,
    connection: Connection,
    link: Link,
    wiring: Wiring,
    first: Side | undefined,
  ) {
    this.id = id;
    this.connection = connection;
    this.link = link;
    this.#wiring = wiring;
    this.#peer = first ?? this;
    if (first !== undefined) first.#peer = this;
  }

  get peer(): Side {
    return this.#peer;
  }

  /** For people. */
  get name(): string {
    return `${this.link.name}, connection ${Math.floor(this.id / 2)}`;
  }

  /** For people: what an arrival at `now` brings. */
  describeNext(now: Instant): string {
    const frames = this.#frames;
    const isDue = frames.length > 0 && frames.dueAt(0) <= now;
    return isDue ? this.describe(frames.at(0)) : `${this.name}: nothing is due`;
  }

  /** For people: a frame on its way to the peer. */
  describe(frame: Frame): string {
    if (frame === FIN) return `${this.name}: the end`;
    const { isResponse, apiKey, apiVersion, correlationId, size } = frame;
    const what = isResponse ? "response" : "request";
    return `${this.name}: ${what} ${correlationId} of API ${apiKey} v${apiVersion}, ${size} B`;
  }

  /** When the last frame that was put on the link is there, or was. */
  get lastDue(): Instant {
    return this.#lastDue;
  }

  send(frame: Frame, departure: Instant): void {
    if (!this.link.isDisturbed) {
      this.#enqueue(frame, departure);
      return;
    }
    const fate = this.link.fate();
    if (fate !== "pass") {
      this.#wiring.onDisturbance(this.link.from, this.link.to, frame, fate);
    }
    switch (fate) {
      case "drop":
        return;
      case "duplicate":
        this.#enqueue(frame, departure);
        this.#enqueue(frame, departure);
        return;
      case "reorder":
        this.#straggle(frame, departure);
        return;
      case "pass":
        this.#enqueue(frame, departure);
        return;
    }
  }

  /** This side has closed: the peer learns of it after all that was sent. */
  sendFin(departure: Instant): void {
    this.#enqueue(FIN, departure);
  }

  /** A frame to the peer is due, unless that changed. */
  deliver(now: Instant): void {
    const frames = this.#frames;
    if (frames.length === 0 || (this.#hasStaleEvents && frames.dueAt(0) > now)) return;
    if (this.link.isBlocked) this.#awaitHealing();
    else this.#hand(frames.shift(), now);
  }

  /** A frame is due that others were to overtake. */
  deliverLate(frame: Frame, now: Instant): void {
    if (!this.isFlowing) return;
    if (this.link.isBlocked) {
      this.#frames.push(frame, HELD);
      this.#awaitHealing();
    } else this.#hand(frame, now);
  }

  /** The link has healed, or the connection is established: what waited departs. */
  release(now: Instant): void {
    if (this.link.isBlocked) {
      if (this.#frames.length > 0) this.#awaitHealing();
      return;
    }
    this.#stopTimeout();
    if (this.#owesReset) {
      this.#owesReset = false;
      this.sendReset(now);
    }
    const departure = Math.max(now, this.#lastDeparture);
    let last = 0;
    for (let i = 0; i < this.#frames.length; i++) {
      const due = this.#frames.dueAt(i);
      const isHeld = due <= now || due === HELD;
      const fresh = isHeld ? this.link.arrival(now, departure, this.#frames.at(i).size) : due;
      last = Math.max(last, fresh);
      this.#reschedule(i, due, last);
    }
    this.#lastDue = Math.max(this.#lastDue, last);
  }

  /** The link has become faster: what waited to be put on it arrives sooner. */
  hasten(now: Instant): void {
    let last = 0;
    for (let i = 0; i < this.#frames.length; i++) {
      const due = this.#frames.dueAt(i);
      if (due <= now || due === HELD) continue;
      // How much of the time was spent on the wire is not kept: a frame that had left it already
      // is reckoned to occupy it once more, and keeps its time.
      const fresh = this.link.arrival(now, now, this.#frames.at(i).size);
      last = Math.max(last, Math.min(due, fresh));
      this.#reschedule(i, due, last);
    }
    if (last > 0) this.#lastDue = last;
  }

  /** The peer is to be told that the connection is gone. Nothing else follows. */
  sendReset(now: Instant): void {
    this.signal(now + this.link.latency(), "reset");
  }

  /** A reset found the link cut. Simplified: it is kept for the peer, where TCP would lose it. */
  holdReset(): void {
    this.#owesReset = true;
  }

  /** What is under way to the peer is lost. */
  clear(): void {
    this.#hasStaleEvents = true;
    this.#frames.clear();
    this.#owesReset = false;
    this.#stopTimeout();
  }

  signal(at: Instant, signal: Signal): void {
    this.#wiring.scheduler.at(at, this.#wiring.signal, this.id, signal);
  }

  startTimer(delay: Duration, signal: Signal): TimerHandle {
    return this.#wiring.scheduler.startTimer(delay, this.#wiring.signal, this.id, signal);
  }

  #enqueue(frame: Frame, departure: Instant): void {
    if (departure > this.#lastDeparture) this.#lastDeparture = departure;
    if (!this.isFlowing) {
      if (!this.connection.isBroken) this.#frames.push(frame, HELD);
      return;
    }
    if (this.link.isBlocked) {
      this.#frames.push(frame, HELD);
      this.#awaitHealing();
      return;
    }
    const { scheduler, arrival } = this.#wiring;
    let due = this.link.arrival(scheduler.now, this.#lastDeparture, frame.size);
    if (due > this.#lastDue) this.#lastDue = due;
    else due = this.#lastDue;
    this.#frames.push(frame, due);
    scheduler.at(due, arrival, this.id, undefined);
  }

  /** Sends a frame past the others. While the link is held there is nothing to overtake it. */
  #straggle(frame: Frame, departure: Instant): void {
    if (!this.isFlowing || this.link.isBlocked) {
      this.#enqueue(frame, departure);
      return;
    }
    const { scheduler, straggler } = this.#wiring;
    const due = this.link.arrival(scheduler.now, departure, frame.size) + this.link.latency();
    scheduler.at(due, straggler, this.id, frame);
  }

  #hand(frame: Frame, now: Instant): void {
    const { peer, link } = this;
    const { station } = peer;
    if (station === undefined) this.connection.meetNobody(this, now);
    else if (frame === FIN) this.connection.finish(this, station);
    else {
      const { onDelivery } = this.#wiring;
      if (onDelivery !== undefined) onDelivery(link.from, link.to, frame);
      station.frame(peer.id, link.from, frame);
    }
  }

  #reschedule(place: number, due: Instant, fresh: Instant): void {
    if (fresh === due) return;
    this.#hasStaleEvents = true;
    this.#frames.setDue(place, fresh);
    this.#wiring.scheduler.at(fresh, this.#wiring.arrival, this.id, undefined);
  }

  #awaitHealing(): void {
    if (this.#timeout !== NO_TIMER) return;
    const { retransmissionTimeout } = this.#wiring;
    this.#timeout = this.startTimer(retransmissionTimeout, "retransmission-timeout");
  }

  #stopTimeout(): void {
    this.#wiring.scheduler.cancelTimer(this.#timeout);
    this.#timeout = NO_TIMER;
  }
}
