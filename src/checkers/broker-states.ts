import type { BrokerEpoch, BrokerId } from "../kafka/ids.ts";
import type { FactRecorder } from "../trace/recorder.ts";

/** What the controller has committed of each broker. */
export class BrokerStates {
  readonly #epochs = new Map<BrokerId, BrokerEpoch>();
  readonly #registered = new Map<BrokerId, number>();
  readonly #fenced = new Set<BrokerId>();
  readonly #shuttingDown = new Set<BrokerId>();

  constructor(recorder: FactRecorder) {
    recorder.on("broker-registered", ({ broker, brokerEpoch }, _at, event) => {
      this.#epochs.set(broker, brokerEpoch);
      this.#registered.set(broker, event);
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

  /** The event in which it registered as it is now; -1 if it never did. */
  registeredAt(broker: BrokerId): number {
    return this.#registered.get(broker) ?? -1;
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
