import type { BrokerEpoch, Offset, QuorumEpoch } from "../../kafka/ids.ts";

/**
 * Which records of the metadata log have been noted as facts. One journal serves all controllers of
 * a cluster, so that each committed record is noted once, whoever leads when it is known to be
 * committed. It belongs to the observer, not to the controllers: nothing is decided by it.
 */
export class CommitJournal {
  #next: Offset = 0;
  #epoch: QuorumEpoch = 0;
  readonly #cleanShutdowns = new Map<BrokerEpoch, boolean>();

  /**
   * Is the committed record at `offset` not noted yet? It is from now on. What stands there in a
   * newer epoch is another record: a controller that is alone can lose what it had committed, as it
   * takes its word for given before its disk does (`KafkaRaftClient.flushLeaderLog`).
   */
  isNew(offset: Offset, epoch: QuorumEpoch): boolean {
    if (epoch <= this.#epoch && offset < this.#next) return false;
    this.#epoch = Math.max(this.#epoch, epoch);
    this.#next = offset + 1;
    return true;
  }

  /** A controller decided that the registration of this epoch followed an orderly stop, or not. */
  registering(brokerEpoch: BrokerEpoch, isCleanShutdown: boolean): void {
    this.#cleanShutdowns.set(brokerEpoch, isCleanShutdown);
  }

  /** Records do not tell it; only who decided knows. */
  wasCleanShutdown(brokerEpoch: BrokerEpoch): boolean {
    return this.#cleanShutdowns.get(brokerEpoch) ?? false;
  }
}
