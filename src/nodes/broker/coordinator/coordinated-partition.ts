import type { Offset } from "../../../kafka/ids.ts";
import { DiskError } from "../../../ports/disk.ts";
import type { BrokerContext } from "../broker-context.ts";
import { BROKER_TIMER } from "../broker-timers.ts";
import type { CoordinatorLog } from "./coordinator-log.ts";
import type { CoordinatorShard } from "./coordinator-shard.ts";

/** A partition that this broker coordinates by, from its election to its resignation. */
export class CoordinatedPartition<Shard extends CoordinatorShard = CoordinatorShard> {
  readonly log: CoordinatorLog;
  readonly shard: Shard;
  state: "loading" | "active" | "failed" | "unloaded" = "loading";
  readonly #context: BrokerContext;
  /** `offsets.load.buffer.size`, `transaction.state.log.load.buffer.size` */
  readonly #loadBufferSize: number;
  /** Up to where the log was replayed; -1 before it was read at all. */
  #loadedTo: Offset = -1;

  constructor(context: BrokerContext, log: CoordinatorLog, shard: Shard, loadBufferSize: number) {
    this.#context = context;
    this.log = log;
    this.shard = shard;
    this.#loadBufferSize = loadBufferSize;
  }

  /**
   * Reads the log to its end. It is loaded only when the disk has had its time; what came to the log
   * meanwhile, the markers of transactions, is then read as well (`CoordinatorLoaderImpl`).
   */
  load(): void {
    if (this.state !== "loading") return;
    const from = this.#loadedTo;
    try {
      const end = this.log.read(from, this.#loadBufferSize, (batch) => this.shard.replay(batch));
      if (typeof end !== "number") {
        this.state = "failed";
        return;
      }
      this.#loadedTo = end;
    } catch (problem) {
      if (!(problem instanceof DiskError)) throw problem;
      this.state = "failed";
      this.#context.diskFailed(problem);
      return;
    }
    if (this.#loadedTo > from) {
      this.#context.world.timers.startAfterWork(BROKER_TIMER.coordinatorLoad, this);
    } else {
      this.#becomeActive();
    }
  }

  #becomeActive(): void {
    this.state = "active";
    this.#note("coordinator-loaded");
    this.shard.onLoaded();
  }

  unload(): void {
    const wasActive = this.state === "active";
    this.state = "unloaded";
    this.shard.onUnloaded();
    this.log.close();
    if (wasActive) this.#note("coordinator-unloaded");
  }

  #note(kind: "coordinator-loaded" | "coordinator-unloaded"): void {
    const { partition, leaderEpoch } = this.log;
    this.#context.facts.note({
      kind,
      broker: this.#context.brokerId,
      partition: partition.name,
      leaderEpoch,
    });
  }
}
