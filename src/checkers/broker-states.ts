import type { BrokerEpoch, BrokerId } from "../kafka/ids.ts";
import type { FactRecorder } from "../trace/recorder.ts";

/** What the controller has committed of each broker. */
export class BrokerStates {
  readonly #epochs = new Map<BrokerId, BrokerEpoch>();
  readonly #fenced = new Set<BrokerId>();

  constructor(recorder: FactRecorder) {
    recorder.on("broker-registered", ({ broker, brokerEpoch }) => {
      this.#epochs.set(broker, brokerEpoch);
      this.#fenced.add(broker);
    });
    recorder.on("broker-fenced", ({ broker }) => this.#fenced.add(broker));
    recorder.on("broker-unfenced", ({ broker }) => this.#fenced.delete(broker));
  }

  /** Undefined if it never registered. */
  epochOf(broker: BrokerId): BrokerEpoch | undefined {
    return this.#epochs.get(broker);
  }

  /** A broker that never registered counts as fenced. */
  isFenced(broker: BrokerId): boolean {
    return this.#fenced.has(broker) || !this.#epochs.has(broker);
  }
}
