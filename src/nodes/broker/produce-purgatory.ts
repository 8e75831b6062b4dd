import { NEVER, WakeUp } from "../wake-up.ts";
import type { BrokerContext } from "./broker-context.ts";
import { BROKER_TIMER } from "./broker-timers.ts";
import { DelayedProduce } from "./delayed-produce.ts";

/** Where appends with acks=all wait for their replication, and one timer for all (`delayedProducePurgatory`). */
export class ProducePurgatory {
  readonly #context: BrokerContext;
  readonly #expiry: WakeUp;

  constructor(context: BrokerContext) {
    this.#context = context;
    this.#expiry = new WakeUp(context.world.timers, BROKER_TIMER.delayedProduce);
  }

  /** Answers it at once, or when it can be answered, or when its time is up. */
  tryCompleteElseWatch(delayed: DelayedProduce): void {
    if (delayed.tryComplete()) return;
    delayed.watch();
    this.#expiry.noLaterThan(delayed.deadline, this.#context.world.clock.elapsed());
  }

  /** The timer came due: ends those that have had their time. */
  onTimer(): void {
    const reached = this.#expiry.fired();
    let next = NEVER;
    for (const { produces } of this.#context.partitions()) {
      for (const delayed of produces.all()) {
        if (!(delayed instanceof DelayedProduce)) continue;
        if (delayed.deadline <= reached) delayed.expire();
        else if (delayed.deadline < next) next = delayed.deadline;
      }
    }
    this.#expiry.noLaterThan(next, this.#context.world.clock.elapsed());
  }
}
