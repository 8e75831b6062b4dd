import type { CheckerSet } from "../../src/checkers/checker-set.ts";
import { createCheckers } from "../../src/checkers/checker-set.ts";
import type { Guarantee } from "../../src/checkers/guarantee.ts";
import { encodePayload } from "../../src/kafka/client/payload.ts";
import { resolveConfigs } from "../../src/kafka/config/config-table.ts";
import { CONSUMER_CONFIGS } from "../../src/kafka/config/consumer-configs.ts";
import { PRODUCER_CONFIGS } from "../../src/kafka/config/producer-configs.ts";
import type { RecordBatch } from "../../src/kafka/log/record-batch.ts";
import { buildBatch } from "../../src/kafka/log/record-batch.ts";
import type { Fact } from "../../src/trace/fact.ts";
import { FactRecorder } from "../../src/trace/recorder.ts";
import type { ClientOp, Read, RetoldHistory, Send } from "../guarantees/histories/client-op.ts";
import { parseOp } from "../guarantees/histories/client-op.ts";
import { setupOf } from "./fact-builders.ts";

const SECOND = 1_000_000;
/** The payloads of the process n name the client n + 1; those that nobody sent name this one. */
const NOBODY = 99;
const PROCESSES = 4;

/**
 * Tells a history to guarantees, as facts: the process n is the producer `p<n+1>` and the consumer
 * `c<n+1>`. A send that ended `info` is unknown, and has no offset: Kafka's producer tells none. A
 * consumer whose op did not end `ok` is set back to where it stood, as Jepsen's clients are.
 */
export function playHistory(
  {
    ops,
    begins,
    settles,
    inTransactions,
  }: Pick<RetoldHistory, "ops" | "begins" | "settles" | "inTransactions">,
  guarantees: readonly Guarantee[],
): CheckerSet {
  const player = new Player(guarantees, begins === "earliest", inTransactions === true);
  const steps = ops.map(parseOp).flatMap((op) => [
    { at: op.invoked, tell: () => player.invoke(op) },
    { at: op.over, tell: () => player.end(op) },
  ]);
  // A stable sort: what happens at one instant happens in the order written.
  for (const { at, tell } of steps.sort((left, right) => left.at - right.at)) {
    player.now = at * SECOND;
    tell();
  }
  if (settles === true) player.settle();
  player.checkers.atEnd(player.now, player.event);
  return player.checkers;
}

class Player {
  readonly checkers: CheckerSet;
  now = 0;
  event = 0;
  readonly #facts: FactRecorder;
  readonly #fromStart: boolean;
  readonly #inTransactions: boolean;
  /** By key and value: who sent it, and its number among that client's sends. */
  readonly #sent = new Map<string, { readonly client: number; readonly value: number }>();
  readonly #counts = new Map<number, number>();
  /** By process and key: the next offset, after ops that were ok. */
  readonly #settled = new Map<string, number>();
  /** The same, after all ops so far. */
  readonly #positions = new Map<string, number>();

  constructor(guarantees: readonly Guarantee[], fromStart: boolean, inTransactions: boolean) {
    const player = this;
    this.#fromStart = fromStart;
    this.#inTransactions = inTransactions;
    this.#facts = new FactRecorder({
      get now() {
        return player.now;
      },
      get event() {
        return player.event;
      },
      mixFact: () => undefined,
    });
    const setup = setupOf({});
    const clients = Array.from({ length: PROCESSES }, (_, process) => {
      const configs = resolveConfigs(PRODUCER_CONFIGS, {
        "transactional.id": inTransactions ? producer(process) : "",
      });
      return [
        producer(process),
        { address: process + 1, acks: -1, idempotent: true, configs },
      ] as const;
    });
    const isolation = inTransactions ? "read_committed" : "read_uncommitted";
    const reads = {
      topic: "orders",
      configs: resolveConfigs(CONSUMER_CONFIGS, { "isolation.level": isolation }),
    };
    const consumers = Array.from({ length: PROCESSES }, (_, process) => {
      return [consumer(process), reads] as const;
    });
    this.checkers = createCheckers(
      this.#facts,
      { ...setup, clients: new Map(clients), consumers: new Map(consumers) },
      guarantees,
    );
  }

  invoke({ by, sends }: ClientOp): void {
    if (this.#inTransactions && sends.length > 0) this.#begin(by);
    for (const { key, value } of sends) {
      const number = this.#counts.get(by) ?? 0;
      this.#counts.set(by, number + 1);
      this.#sent.set(`${key} ${value}`, { client: by + 1, value: number });
      this.#note({
        kind: "record-sent",
        client: producer(by),
        partition: partition(key),
        value: number,
      });
    }
  }

  end(op: ClientOp): void {
    for (const send of op.sends) this.#ended(op, send);
    for (const read of op.polls.flat()) this.#polled(op.by, read);
    if (this.#inTransactions && op.sends.length > 0) this.#commit(op);
    if (op.ends === "ok") this.#moveOn(op.by);
    else this.#setBack(op.by);
    if (op.assigns !== undefined) this.#assign(op.by, op.assigns);
  }

  settle(): void {
    const text = "nothing is left to heal";
    this.#note({ kind: "fault-begun", fault: -1, verb: "settle", text, name: "" });
    this.now += 60 * SECOND;
  }

  #begin(by: number): void {
    this.#note({
      kind: "transaction-begun",
      client: producer(by),
      transactionalId: producer(by),
      transaction: 0,
      producerId: by,
      producerEpoch: 0,
    });
  }

  #commit({ by, ends }: ClientOp): void {
    const outcome = ends === "ok" ? "committed" : ends === "fail" ? "aborted" : "unknown";
    const client = producer(by);
    const transactionalId = client;
    this.#note({
      kind: "transaction-ended",
      client,
      transactionalId,
      transaction: 0,
      outcome,
      error: "NONE",
    });
  }

  #ended({ by, ends }: ClientOp, { key, value, offset }: Send): void {
    const outcome = ends === "ok" ? "acked" : ends === "fail" ? "failed" : "unknown";
    this.#note({
      kind: "send-ended",
      client: producer(by),
      partition: partition(key),
      outcome,
      values: [this.#sent.get(`${key} ${value}`)?.value ?? 0],
      baseOffset: outcome === "acked" ? offset : -1,
      acks: -1,
      error: outcome === "acked" ? "NONE" : "NETWORK_EXCEPTION",
      attempts: 1,
    });
  }

  #polled(by: number, { key, records }: Read): void {
    const at = `${by} ${key}`;
    const offsets = records.map(({ offset }) => offset);
    if (!this.#positions.has(at)) {
      const to = this.#fromStart ? 0 : (offsets[0] ?? 0);
      this.#reset(by, key, -1, to, "initial");
    }
    this.#note({
      kind: "polled",
      client: consumer(by),
      partition: partition(key),
      firstOffset: Math.min(...offsets),
      lastOffset: Math.max(...offsets),
      batches: records.map(({ offset, value }) => this.#batch(key, offset, value)),
    });
    this.#positions.set(at, (offsets.at(-1) ?? 0) + 1);
  }

  #batch(key: string, offset: number, value: string): RecordBatch {
    const sent = this.#sent.get(`${key} ${value}`) ?? { client: NOBODY, value: 0 };
    const payload = encodePayload(sent.client, sent.value, 12);
    return buildBatch([{ timestamp: 0, value: payload }], {
      baseOffset: offset,
      partitionLeaderEpoch: 0,
    });
  }

  #moveOn(by: number): void {
    for (const [at, to] of this.#positions) {
      if (at.startsWith(`${by} `)) this.#settled.set(at, to);
    }
  }

  #setBack(by: number): void {
    for (const [at, from] of this.#positions) {
      const [process, key = ""] = at.split(" ");
      const to = this.#settled.get(at);
      if (process !== String(by) || to === undefined || to === from) continue;
      this.#reset(by, key, from, to, "rolled back");
    }
  }

  #assign(by: number, keys: readonly string[]): void {
    for (const at of [...this.#positions.keys()]) {
      const [process, key = ""] = at.split(" ");
      if (process !== String(by) || keys.includes(key)) continue;
      this.#positions.delete(at);
      this.#settled.delete(at);
    }
  }

  #reset(by: number, key: string, from: number, to: number, reason: string): void {
    this.#positions.set(`${by} ${key}`, to);
    const client = consumer(by);
    this.#note({ kind: "position-reset", client, partition: partition(key), from, to, reason });
  }

  #note(fact: Fact): void {
    this.event++;
    this.#facts.note(fact);
  }
}

function producer(process: number): string {
  return `p${process + 1}`;
}

function consumer(process: number): string {
  return `c${process + 1}`;
}

/** Each of Jepsen's keys is a partition. */
function partition(key: string): string {
  return `orders-${key === "x" ? 0 : 1}`;
}
