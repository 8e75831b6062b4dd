import type { Instant } from "../base/time.ts";
import { formatSeconds } from "../base/time.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import { deliveryBound } from "./liveness-bounds.ts";
import type { PendingSends } from "./pending-sends.ts";
import { pendingSends } from "./pending-sends.ts";
import { stuckIdWaiver } from "./waivers/transaction-waiver.ts";
import { counted } from "./wording.ts";

export const SENDS_END: Guarantee = {
  name: "sends-end",
  sentence:
    "Every send is answered within delivery.timeout.ms: it is acknowledged, or an error is told.",
  source: "KIP-91, Kip966's EventuallyWriteIsAcceptedOrRejected; LV5",
  kinds: ["send-unanswered"],
  condition:
    "At the end, of producers that run; the time is counted from when the cluster began to settle. Permitted only of a producer whose transactional id got stuck in a gap of Kafka's (see told-as-decided).",
  testedBy:
    "sends that waited when the cluster began to settle, delivery.timeout.ms before the end",
  example: [
    "send-unanswered   orders-0   p1   at 200.000s, event 81220",
    "  p1 has 7 sends without an end, the first sent at 12.000s; delivery.timeout.ms is 120000. It last heard NOT_LEADER_OR_FOLLOWER, at Produce to broker-1.",
  ],
  create: (context) => new SendsEnd(context),
};

class SendsEnd implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;
  #waiting: readonly PendingSends[] = [];

  constructor(context: CheckContext) {
    this.#context = context;
    context.facts.on("fault-begun", ({ verb }) => {
      if (verb !== "settle") return;
      this.#waiting = pendingSends(context);
      for (const { count } of this.#waiting) this.evaluations += count;
    });
  }

  atEnd(at: Instant, event: number): void {
    for (const { client, count } of this.#waiting) {
      if (this.#isOver(client, 0, at)) this.interesting += count;
    }
    for (const pending of pendingSends(this.#context)) {
      if (this.#isOver(pending.client, pending.oldest, at)) this.#report(pending, at, event);
    }
  }

  /** Must what the client sent at `sentAt` have its end? */
  #isOver(client: string, sentAt: Instant, at: Instant): boolean {
    const { liveness, setup } = this.#context;
    const configs = setup.clients.get(client)?.configs;
    if (configs === undefined || liveness.settledAt === undefined) return false;
    const since = Math.max(sentAt, liveness.nodes.get(client)?.since ?? 0);
    return liveness.quietFor(since, at) >= deliveryBound(configs);
  }

  #report({ client, partition, count, oldest }: PendingSends, at: Instant, event: number): void {
    const { setup } = this.#context;
    const timeout = setup.clients.get(client)?.configs["delivery.timeout.ms"];
    this.violations.push(
      violationOf(SENDS_END, {
        partition: partition.name,
        client,
        at,
        event,
        text: [
          `${client} has ${counted(count, "send")} without an end, the first sent at ${formatSeconds(oldest)}; delivery.timeout.ms is ${timeout}. ${lastHeard(this.#context, client)}.`,
        ],
        count,
        permitted: stuckIdWaiver(this.#context, client),
        cause: this.#context.liveness.settledIn,
      }),
    );
  }
}

/** `It last heard NOT_LEADER_OR_FOLLOWER, at Produce to broker-1`. */
export function lastHeard({ liveness }: CheckContext, client: string): string {
  const last = liveness.lastErrors.get(client);
  if (last === undefined) return "It has heard of no error";
  return `It last heard ${last.error}, at ${last.api} to broker-${last.broker}`;
}
