import { invariant } from "../../base/invariant.ts";
import type { Duration, Instant } from "../../base/time.ts";
import type { BrokerId, Offset } from "../ids.ts";
import { isActive } from "./broker-registration.ts";
import type { MetadataImage } from "./image.ts";

interface Session {
  lastContact: Instant;
  /** What the broker has applied of the metadata log; -1 if it did not say. */
  metadataOffset: Offset;
  /** What the others must have applied before it may stop; -1 if it does not want to. */
  controlledShutdownOffset: Offset;
}

/**
 * What the active controller knows of brokers beyond the log: when they were heard of, and how far
 * they are. Lost with its leadership (Kafka's `BrokerHeartbeatManager`). Instants here are those of a
 * clock that is never set.
 */
export class BrokerSessions {
  readonly #timeout: Duration;
  readonly #sessions = new Map<BrokerId, Session>();

  constructor(timeout: Duration) {
    this.#timeout = timeout;
  }

  /** A new controller takes all brokers for alive until it knows better (KAFKA-18138). */
  activate(image: MetadataImage, now: Instant): void {
    this.#sessions.clear();
    for (const broker of image.brokers.keys()) this.register(broker, now);
  }

  /** A broker registered: all that was known of its former process is gone. */
  register(broker: BrokerId, now: Instant): void {
    this.#sessions.set(broker, {
      lastContact: now,
      metadataOffset: -1,
      controlledShutdownOffset: -1,
    });
  }

  /** A heartbeat came. A broker that is fenced by it leaves its controlled shutdown. */
  touch(broker: BrokerId, metadataOffset: Offset, isFenced: boolean, now: Instant): void {
    const session = this.#session(broker);
    session.lastContact = now;
    session.metadataOffset = metadataOffset;
    if (isFenced) session.controlledShutdownOffset = -1;
  }

  /** Sets what the others must have applied, if that is not set already. */
  beginShutdown(broker: BrokerId, offset: Offset): void {
    const session = this.#session(broker);
    if (session.controlledShutdownOffset < 0) session.controlledShutdownOffset = offset;
  }

  /** -1 if the broker is not in controlled shutdown, as far as this controller knows. */
  shutdownOffset(broker: BrokerId): Offset {
    return this.#sessions.get(broker)?.controlledShutdownOffset ?? -1;
  }

  /** Was an unfenced broker heard of within the session timeout? */
  isAlive(image: MetadataImage, broker: BrokerId, now: Instant): boolean {
    const session = this.#sessions.get(broker);
    if (session === undefined || image.brokers.get(broker)?.fenced !== false) return false;
    return session.lastContact + this.#timeout >= now;
  }

  /** The unfenced broker that has been silent longest, if that is longer than the session timeout. */
  stalest(image: MetadataImage, now: Instant): BrokerId | undefined {
    let stalest: BrokerId | undefined;
    let oldest = now - this.#timeout;
    for (const [broker, session] of this.#sessions) {
      if (session.lastContact >= oldest || image.brokers.get(broker)?.fenced !== false) continue;
      stalest = broker;
      oldest = session.lastContact;
    }
    return stalest;
  }

  /** What every broker that stays has applied of the metadata log. */
  lowestActiveOffset(image: MetadataImage): Offset {
    let lowest = Number.MAX_SAFE_INTEGER;
    for (const [broker, session] of this.#sessions) {
      if (session.controlledShutdownOffset >= 0 || !isActive(image.brokers.get(broker))) continue;
      lowest = Math.min(lowest, session.metadataOffset);
    }
    return lowest;
  }

  #session(broker: BrokerId): Session {
    const session = this.#sessions.get(broker);
    invariant(session !== undefined, () => `broker ${broker} has no session`);
    return session;
  }
}
