import type { Duration } from "../../base/time.ts";
import { fromMillis } from "../../base/time.ts";
import type { SessionId } from "./zookeeper-protocol.ts";

/** `tickTime`, where it is not configured, as in the `zookeeper.properties` that Kafka came with. */
export const TICK_MS = 3_000;
const TICK: Duration = fromMillis(TICK_MS);
/** Sessions last between these, whatever clients wish (`minSessionTimeout`, `maxSessionTimeout`). */
const MIN_TIMEOUT_MS = 2 * TICK_MS;
const MAX_TIMEOUT_MS = 20 * TICK_MS;

interface Session {
  readonly timeoutMs: number;
  expiresAt: Duration;
}

/**
 * Which sessions there are (`SessionTrackerImpl`): one ends when its client was not heard of for its timeout. That
 * is looked at tick by tick, so that it lives for up to a tick longer.
 */
export class SessionTracker {
  readonly #sessions = new Map<SessionId, Session>();
  #next: SessionId = 1;

  get size(): number {
    return this.#sessions.size;
  }

  open(wishedMs: number, now: Duration): SessionId {
    const timeoutMs = Math.min(Math.max(wishedMs, MIN_TIMEOUT_MS), MAX_TIMEOUT_MS);
    const id = this.#next++;
    this.#sessions.set(id, { timeoutMs, expiresAt: 0 });
    this.touch(id, now);
    return id;
  }

  /** Undefined: there is no such session, or no more. */
  timeoutMs(id: SessionId): number | undefined {
    return this.#sessions.get(id)?.timeoutMs;
  }

  /** Its client was heard of. */
  touch(id: SessionId, now: Duration): void {
    const session = this.#sessions.get(id);
    if (session === undefined) return;
    const due = now + fromMillis(session.timeoutMs);
    const expiresAt = (Math.floor(due / TICK) + 1) * TICK;
    // Whoever has a longer time already keeps it.
    session.expiresAt = Math.max(session.expiresAt, expiresAt);
  }

  /** The server has started anew: time in which nobody could be heard does not count. */
  touchAll(now: Duration): void {
    for (const [id, session] of this.#sessions) {
      session.expiresAt = 0;
      this.touch(id, now);
    }
  }

  close(id: SessionId): void {
    this.#sessions.delete(id);
  }

  /** Ends the sessions whose time is up, and returns them. */
  expire(now: Duration): SessionId[] {
    const expired: SessionId[] = [];
    for (const [id, { expiresAt }] of this.#sessions) if (expiresAt <= now) expired.push(id);
    for (const id of expired) this.#sessions.delete(id);
    return expired;
  }
}

/** How long until the next tick. */
export function untilTick(now: Duration): Duration {
  return (Math.floor(now / TICK) + 1) * TICK - now;
}
