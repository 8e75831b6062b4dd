import type { BrokerEpoch, BrokerId, Offset } from "../kafka/ids.ts";
import type { RecordBatch } from "../kafka/log/record-batch.ts";
import { decodeMetadataRecord } from "../kafka/metadata/record-codec.ts";
import type { FactRecorder } from "../trace/recorder.ts";

/** What the controller has committed of each broker. */
export class BrokerStates {
  readonly #epochs = new Map<BrokerId, BrokerEpoch>();
  readonly #registered = new Map<BrokerId, number>();
  readonly #fenced = new Set<BrokerId>();
  readonly #shuttingDown = new Set<BrokerId>();
  /** All metadata below it have been read. */
  #read: Offset = 0;

  constructor(recorder: FactRecorder) {
    recorder.on("broker-registered", ({ broker, brokerEpoch }, _at, event) => {
      this.#epochs.set(broker, brokerEpoch);
      this.#registered.set(broker, event);
      this.#fenced.add(broker);
    });
    recorder.on("broker-fenced", ({ broker }) => this.#fenced.add(broker));
    recorder.on("broker-unfenced", ({ broker }) => this.#fenced.delete(broker));
    // That a broker is shutting down, no other fact tells.
    recorder.on("metadata-applied", ({ batch }) => this.#apply(batch));
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

  /** All nodes apply the same batches: the first tells. */
  #apply(batch: RecordBatch): void {
    if (batch.baseOffset < this.#read) return;
    this.#read = batch.nextOffset;
    if (batch.isControl) return;
    for (const { value } of batch.records()) {
      if (value === undefined) continue;
      const record = decodeMetadataRecord(value);
      if (record.type === "RegisterBrokerRecord") {
        if (record.inControlledShutdown) this.#shuttingDown.add(record.brokerId);
        else this.#shuttingDown.delete(record.brokerId);
      } else if (record.type === "BrokerRegistrationChangeRecord") {
        if (record.inControlledShutdown === 1) this.#shuttingDown.add(record.brokerId);
      }
    }
  }
}
