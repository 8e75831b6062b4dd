import type { Duration, Instant } from "../../base/time.ts";
import { SECOND } from "../../base/time.ts";
import { NO_SESSION } from "../../kafka/protocol/fetch-session-epoch.ts";
import type { Random } from "../../ports/random.ts";
import type { FetchSession } from "./fetch-session.ts";

/** Unused for longer, a session is stale; younger than that, it is safe from its like. */
const EVICTION_AGE: Duration = 120 * SECOND;
/** Ids are positive 32-bit integers. */
const LARGEST_ID = 0x7fff_ffff;

/**
 * The sessions that a broker keeps, up to max.incremental.fetch.session.cache.slots
 * (`FetchSessionCacheShard`). Simplified: in one piece and not in eight.
 */
export class FetchSessionCache {
  readonly #slots: number;
  readonly #random: Random;
  readonly #sessions = new Map<number, FetchSession>();
  /** The session asked for last: comparing is cheaper than hashing. */
  #last: FetchSession | undefined = undefined;

  constructor(slots: number, random: Random) {
    this.#slots = slots;
    this.#random = random;
  }

  get size(): number {
    return this.#sessions.size;
  }

  get(id: number): FetchSession | undefined {
    if (this.#last?.id === id) return this.#last;
    const found = this.#sessions.get(id);
    if (found !== undefined) this.#last = found;
    return found;
  }

  /** Keeps a new session, if there is room or another is worth less; returns its id, or `NO_SESSION`. */
  admit(session: FetchSession, now: Instant): number {
    if (this.#sessions.size >= this.#slots && !this.#evict(session, now)) return NO_SESSION;
    let id = NO_SESSION;
    do id = this.#random.between(1, LARGEST_ID);
    while (this.#sessions.has(id));
    session.id = id;
    session.isKept = true;
    session.createdAt = now;
    session.lastUsedAt = now;
    this.#sessions.set(id, session);
    return id;
  }

  remove(id: number): void {
    const session = this.#sessions.get(id);
    if (session === undefined) return;
    this.#sessions.delete(id);
    if (this.#last === session) this.#last = undefined;
    // A fetch that is still parked is answered, and then nothing is watched any more.
    session.isKept = false;
    if (session.parked === undefined) session.unwatch();
  }

  /** The stalest goes; else the least valuable, if it is worth no more than the new one. */
  #evict(session: FetchSession, now: Instant): boolean {
    let stalest: FetchSession | undefined;
    let least: FetchSession | undefined;
    for (const one of this.#sessions.values()) {
      if (stalest === undefined || one.lastUsedAt < stalest.lastUsedAt) stalest = one;
      const isOld = one.lastUsedAt - one.createdAt > EVICTION_AGE;
      if (!isOld && !(session.isPrivileged && !one.isPrivileged)) continue;
      if (least === undefined || isWorthLess(one, least)) least = one;
    }
    if (stalest !== undefined && now - stalest.lastUsedAt > EVICTION_AGE) {
      this.remove(stalest.id);
      return true;
    }
    if (least === undefined || isWorthLess(session, least)) return false;
    this.remove(least.id);
    return true;
  }
}

function isWorthLess(one: FetchSession, other: FetchSession): boolean {
  if (one.isPrivileged !== other.isPrivileged) return other.isPrivileged;
  return one.partitions.length < other.partitions.length;
}
