import { fail, invariant, unreachable } from "../base/invariant.ts";
import type { Instant } from "../base/time.ts";
import { SECOND } from "../base/time.ts";
import type { ConnectionId } from "../ports/network.ts";
import type { TimerHandle } from "../ports/node.ts";
import { NO_TIMER } from "../ports/node.ts";
import type { Link } from "./link.ts";
import { Side } from "./side.ts";
import type { Station } from "./station.ts";
import type { Signal, Wiring } from "./wiring.ts";

/** The first pause before an unanswered SYN is repeated (RFC 6298); each further one is twice as long. */
const FIRST_SYN_PAUSE = SECOND;

/**
 * One TCP connection between the process that opened it and the one that accepted it. It belongs to
 * one incarnation on each side. An accepting node learns of it by the first frame.
 */
export class Connection {
  readonly opener: Side;
  readonly acceptor: Side;
  /** What is sent is lost, and the sides that do not know it yet will be told by a reset. */
  isBroken = false;
  readonly #wiring: Wiring;
  /** When the opener learned that it is connected; absent before. */
  #establishedAt: Instant | undefined;
  #synDeparture: Instant = 0;
  #setupTimer: TimerHandle = NO_TIMER;
  #idleTimer: TimerHandle = NO_TIMER;

  /** The opener's side is named `id`, the other one `id + 1`. */
  constructor(id: ConnectionId, station: Station, there: Link, back: Link, wiring: Wiring) {
    this.#wiring = wiring;
    this.opener = new Side(id, this, there, wiring, undefined);
    this.acceptor = new Side(id + 1, this, back, wiring, this.opener);
    this.opener.station = station;
  }

  /** Sends the first SYN. */
  open(departure: Instant): void {
    this.#synDeparture = departure;
    this.#setupTimer = this.opener.startTimer(this.#wiring.setupTimeout, "setup-timeout");
    this.#sendSyn(departure);
  }

  /** The process on a side closes it. */
  close(side: Side, departure: Instant): void {
    if (side.station === undefined) return;
    side.station = undefined;
    side.peer.clear();
    if (this.#isDeserted()) this.#wiring.forget(this);
    else if (!this.isBroken) side.sendFin(departure);
  }

  /** The process on a side has ended by itself: as its machine sees it, it closed all it had. */
  exit(side: Side, now: Instant): void {
    if (this.#establishedAt !== undefined) this.close(side, now);
    else this.crash(side, now);
  }

  /** The process on a side has died; its machine tells the peer. */
  crash(side: Side, now: Instant): void {
    if (side.station === undefined) return;
    side.station = undefined;
    side.peer.clear();
    if (this.#isDeserted()) this.#wiring.forget(this);
    else if (!this.isBroken) {
      this.#break();
      side.clear();
      side.sendReset(now);
    }
  }

  /**
   * The machine of a side has lost its power: the peer hears nothing, and what it sends waits until
   * the machine is up again, which will then answer by a reset.
   */
  losePower(side: Side): void {
    side.station = undefined;
    side.clear();
    if (this.#isDeserted()) this.#wiring.forget(this);
    // An opener that is not answered yet repeats its SYN.
    else if (this.#establishedAt !== undefined) {
      side.isForgotten = true;
      this.isBroken = false;
      this.#flow(true);
    }
  }

  /** Something between the two resets the connection. False if it is broken already. */
  reset(now: Instant): boolean {
    if (this.isBroken) return false;
    this.#break();
    for (const side of [this.opener, this.acceptor]) {
      side.isForgotten = false;
      side.clear();
      const knowsPeer = this.#establishedAt !== undefined || side === this.acceptor;
      if (knowsPeer && side.peer.station !== undefined) side.sendReset(now);
    }
    return true;
  }

  /** The link from a side to its peer is open again. */
  healed(side: Side, now: Instant): void {
    // A SYN that was lost is repeated in its own time.
    if (this.#establishedAt !== undefined || this.isBroken) side.release(now);
  }

  /** The last frame of a side has arrived: that side has closed, and so the connection ends. */
  finish(side: Side, station: Station): void {
    side.peer.station = undefined;
    this.#wiring.forget(this);
    station.closed(side.peer.id, side.link.from);
  }

  /** A frame of `side` arrived where no process has the connection. */
  meetNobody(side: Side, now: Instant): void {
    // A side that closed or crashed has said so, and that is on its way.
    if (!side.peer.isForgotten) return;
    side.peer.isForgotten = false;
    this.#break();
    side.clear();
    if (this.#isDeserted()) this.#wiring.forget(this);
    else side.peer.sendReset(now);
  }

  /** Ends all timers: nobody has the connection any more. */
  stop(): void {
    this.#wiring.scheduler.cancelTimer(this.#setupTimer);
    this.#wiring.scheduler.cancelTimer(this.#idleTimer);
    this.opener.clear();
    this.acceptor.clear();
  }

  /** An event of the connection itself, on the way from `side` to its peer. */
  onSignal(side: Side, signal: Signal, now: Instant): void {
    switch (signal) {
      case "syn":
        this.#onSyn(now);
        break;
      case "syn-ack":
        this.#onSynAck(now);
        break;
      case "reset":
        this.#onReset(side, now);
        break;
      case "setup-timeout":
        this.#onSetupTimeout();
        break;
      case "retransmission-timeout":
        this.#onRetransmissionTimeout(side);
        break;
      case "idle":
        this.#onIdle(now);
        break;
      default:
        unreachable(signal);
    }
  }

  #onSyn(now: Instant): void {
    if (this.isBroken || this.#establishedAt !== undefined) return;
    if (this.opener.link.isBlocked) {
      this.#repeatSyn(now);
      return;
    }
    const { acceptor } = this;
    acceptor.station = this.#wiring.listenerAt(acceptor.link.from);
    if (acceptor.station === undefined) acceptor.sendReset(now);
    else acceptor.signal(now + acceptor.link.latency(), "syn-ack");
  }

  #onSynAck(now: Instant): void {
    if (this.isBroken || this.#establishedAt !== undefined) return;
    if (this.acceptor.link.isBlocked) {
      this.#repeatSyn(now);
      return;
    }
    const station = this.#askingStation();
    this.#establishedAt = now;
    this.#flow(true);
    // The accepting machine lost its power after it had answered: it knows nothing of this.
    if (this.acceptor.station === undefined) this.acceptor.isForgotten = true;
    const { scheduler, maxIdle } = this.#wiring;
    scheduler.cancelTimer(this.#setupTimer);
    if (maxIdle !== undefined) this.#idleTimer = this.opener.startTimer(maxIdle, "idle");
    this.opener.release(now);
    station.connected(this.opener.id);
  }

  #onReset(side: Side, now: Instant): void {
    const { peer } = side;
    const { station } = peer;
    // A machine that has lost its power since says nothing more.
    if (station === undefined || side.isForgotten) return;
    if (side.link.isBlocked) {
      if (this.#establishedAt !== undefined || this.isBroken) side.holdReset();
      else this.#repeatSyn(now);
      return;
    }
    peer.station = undefined;
    if (this.#isDeserted()) this.#wiring.forget(this);
    station.closed(peer.id, side.link.from);
  }

  #onSetupTimeout(): void {
    const station = this.#askingStation();
    this.opener.station = undefined;
    this.#wiring.forget(this);
    station.closed(this.opener.id, this.opener.link.to);
  }

  /** A side gives up; the peer learns of it when it can be reached. */
  #onRetransmissionTimeout(side: Side): void {
    const { station, link } = side;
    invariant(link.isBlocked, () => `connection ${side.id} gave up on an open link`);
    side.station = undefined;
    if (this.#isDeserted()) this.#wiring.forget(this);
    else {
      this.#break();
      this.opener.clear();
      this.acceptor.clear();
      side.holdReset();
    }
    station?.closed(side.id, link.to);
  }

  /** `connections.max.idle.ms` may have passed for the accepting side, which then closes. */
  #onIdle(now: Instant): void {
    const { opener, acceptor } = this;
    const { station } = acceptor;
    const maxIdle = this.#wiring.maxIdle ?? fail("no connection can be idle for too long");
    if (station === undefined) return;
    const active = Math.max(this.#establishedAt ?? now, opener.lastDue, acceptor.lastDue);
    // A process that is stopped closes nothing.
    const next = (station.isPaused ? now : active) + maxIdle;
    if (next > now) this.#idleTimer = opener.startTimer(next - now, "idle");
    else {
      this.close(acceptor, now);
      station.closed(acceptor.id, acceptor.link.to);
    }
  }

  #sendSyn(departure: Instant): void {
    this.opener.signal(departure + this.opener.link.latency(), "syn");
  }

  #repeatSyn(now: Instant): void {
    let pause = FIRST_SYN_PAUSE;
    let departure = this.#synDeparture + pause;
    while (departure <= now) {
      pause *= 2;
      departure += pause;
    }
    this.#sendSyn(departure);
  }

  #break(): void {
    this.isBroken = true;
    this.#flow(false);
  }

  #flow(isFlowing: boolean): void {
    this.opener.isFlowing = isFlowing;
    this.acceptor.isFlowing = isFlowing;
  }

  /** The process that waits to be connected: without it the connection would have been forgotten. */
  #askingStation(): Station {
    return this.opener.station ?? fail(`nobody waits for connection ${this.opener.id}`);
  }

  /** Does no process know of the connection? The accepting one does not before it is established. */
  #isDeserted(): boolean {
    if (this.opener.station !== undefined) return false;
    return this.acceptor.station === undefined || this.#establishedAt === undefined;
  }
}
