import type { BrokerEpoch, BrokerId } from "../kafka/ids.ts";
import type { FactRecorder } from "../trace/recorder.ts";
import { brokerOf } from "./broker-name.ts";

/** What the controller has committed of each broker, and which of its processes that was. */
export class BrokerStates {
  readonly #epochs = new Map<BrokerId, BrokerEpoch>();
  /** Events, ascending. */
  readonly #starts = new Map<BrokerId, number[]>();
  readonly #registrations = new Map<BrokerId, number[]>();
  readonly #fenced = new Set<BrokerId>();
  readonly #shuttingDown = new Set<BrokerId>();

  constructor(recorder: FactRecorder) {
    recorder.on("node-started", ({ node }, _at, event) => {
      const broker = brokerOf(node);
      if (broker >= 0) add(this.#starts, broker, event);
    });
    recorder.on("broker-registered", ({ broker, brokerEpoch }, _at, event) => {
      this.#epochs.set(broker, brokerEpoch);
      add(this.#registrations, broker, event);
      this.#fenced.add(broker);
      this.#shuttingDown.delete(broker);
    });
    recorder.on("broker-fenced", ({ broker }) => this.#fenced.add(broker));
    recorder.on("broker-unfenced", ({ broker }) => this.#fenced.delete(broker));
    recorder.on("broker-shutting-down", ({ broker }) => this.#shuttingDown.add(broker));
  }

  /** Undefined if it never registered. */
  epochOf(broker: BrokerId): BrokerEpoch | undefined {
    return this.#epochs.get(broker);
  }

  /** Is the process that is registered now another than the one that ran at this event? */
  hasNewLifeSince(broker: BrokerId, event: number): boolean {
    const registered = this.#registrations.get(broker)?.at(-1) ?? -1;
    return event < lastUpTo(this.#starts, broker, registered);
  }

  /** Had the process that ran at this event registered by then? */
  hadRegistered(broker: BrokerId, event: number): boolean {
    const registered = lastUpTo(this.#registrations, broker, event);
    return registered >= 0 && registered >= lastUpTo(this.#starts, broker, event);
  }

  /** A broker that never registered counts as fenced. */
  isFenced(broker: BrokerId): boolean {
    return this.#fenced.has(broker) || !this.#epochs.has(broker);
  }

  /** Has the controller let it begin a controlled shutdown? */
  isShuttingDown(broker: BrokerId): boolean {
    return this.#shuttingDown.has(broker);
  }
}

function add(events: Map<BrokerId, number[]>, broker: BrokerId, event: number): void {
  const known = events.get(broker);
  if (known === undefined) events.set(broker, [event]);
  else known.push(event);
}

/** The last of them that is not after `event`; -1 if there is none. */
function lastUpTo(
  events: ReadonlyMap<BrokerId, readonly number[]>,
  broker: BrokerId,
  event: number,
): number {
  return events.get(broker)?.findLast((one) => one <= event) ?? -1;
}
