import type { CheckerSet } from "../../src/checkers/checker-set.ts";
import { createCheckers } from "../../src/checkers/checker-set.ts";
import type { Guarantee, Violation } from "../../src/checkers/guarantee.ts";
import { encodePayload } from "../../src/kafka/client/payload.ts";
import type { RecordBatch } from "../../src/kafka/log/record-batch.ts";
import { buildBatch } from "../../src/kafka/log/record-batch.ts";
import type { Fact } from "../../src/trace/fact.ts";
import { FactRecorder } from "../../src/trace/recorder.ts";
import type { HistoryOptions } from "./fact-builders.ts";
import { ORDERS, setupOf } from "./fact-builders.ts";

/** What a consumer is given at an offset: which client's record, p1's if it is a plain number. */
export type Seen = number | readonly [client: 1 | 2, value: number];

/**
 * A history of what the clients p1, p2, c1 and c2 of the partition orders-0 saw, and of nothing
 * else: no broker has noted anything, as in Jepsen's tests. Each fact is an event of its own.
 */
export class ClientFacts {
  readonly checkers: CheckerSet;
  readonly #recorder: FactRecorder;
  #event = 0;

  constructor(guarantees: readonly Guarantee[], options: HistoryOptions = {}) {
    const facts = this;
    this.#recorder = new FactRecorder({
      get now() {
        return facts.#event * 1_000_000;
      },
      get event() {
        return facts.#event;
      },
      mixFact: () => undefined,
    });
    this.checkers = createCheckers(this.#recorder, setupOf(options), guarantees);
  }

  note(fact: Fact): this {
    this.#event++;
    this.#recorder.note(fact);
    return this;
  }

  send(values: readonly number[], client = "p1"): this {
    for (const value of values) {
      this.note({ kind: "record-sent", client, partition: ORDERS, value });
    }
    return this;
  }

  ended(
    values: readonly number[],
    outcome: "acked" | "failed" | "unknown",
    baseOffset = -1,
    client = "p1",
  ): this {
    return this.note({
      kind: "send-ended",
      client,
      partition: ORDERS,
      outcome,
      values,
      baseOffset,
      acks: -1,
      error: outcome === "acked" ? "NONE" : "NETWORK_EXCEPTION",
      attempts: 1,
    });
  }

  /** Sent, and told that it stands there. */
  acked(values: readonly number[], baseOffset: number, client = "p1"): this {
    return this.send(values, client).ended(values, "acked", baseOffset, client);
  }

  /** One poll: what is given at these offsets, which are in one go unless several runs are named. */
  poll(client: string, ...runs: readonly (readonly [offset: number, ...seen: Seen[]])[]): this {
    const batches = runs.map(([offset, ...seen]) => batchOf(offset, seen));
    return this.note({
      kind: "polled",
      client,
      partition: ORDERS,
      firstOffset: batches[0]?.baseOffset ?? 0,
      lastOffset: batches.at(-1)?.lastOffset ?? 0,
      batches,
    });
  }

  seek(client: string, to: number, reason = "initial", from = -1): this {
    return this.note({ kind: "position-reset", client, partition: ORDERS, from, to, reason });
  }

  settle(): this {
    const text = "nothing is left to heal";
    this.note({ kind: "fault-begun", fault: -1, verb: "settle", text, name: "" });
    this.#event += 60;
    return this;
  }

  violations(): readonly Violation[] {
    this.checkers.atEnd(this.#event * 1_000_000, this.#event);
    return this.checkers.violations();
  }

  told(): string[] {
    return this.violations().map(({ kind, text }) => `${kind}: ${text.join(" ")}`);
  }
}

function batchOf(baseOffset: number, seen: readonly Seen[]): RecordBatch {
  const records = seen.map((one) => {
    const [client, value] = typeof one === "number" ? ([1, one] as const) : one;
    return { timestamp: 0, value: encodePayload(client, value, 12) };
  });
  return buildBatch(records, { baseOffset, partitionLeaderEpoch: 0 });
}
