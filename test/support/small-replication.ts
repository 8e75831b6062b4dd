import { PROMISE_KEPT } from "../../src/checkers/promise-kept.ts";
import { GUARANTEES } from "../../src/checkers/registry.ts";
import { SEQUENCES_IN_ORDER } from "../../src/checkers/sequences-in-order.ts";
import type { RecordBatch } from "../../src/kafka/log/record-batch.ts";
import type { HistoryOptions } from "./fact-builders.ts";
import { History, ORDERS } from "./fact-builders.ts";

/** `min.insync.replicas` of a `History`, unless it is told otherwise. */
const MIN_ISR = 2;

export interface Move {
  readonly what:
    | "write"
    | "copy"
    | "advance"
    | "ack"
    | "poll"
    | "shrink"
    | "grow"
    | "fail-over"
    | "unclean"
    | "zombie-write"
    | "power-loss";
  readonly broker: number;
  readonly size: number;
}

/**
 * Replication as Kafka promises it, as small as it can be: three logs, an ISR, a high watermark over
 * the ISR, leaders from the ISR (or, unclean, from outside), followers that cut what the leader does
 * not have. Every move is noted as facts, so that a guarantee that speaks up is mistaken.
 */
export class SmallReplication {
  readonly history: History;
  readonly #unanswered: RecordBatch[] = [];
  #nextValue = 0;
  /** The leader's, and what each broker knows. */
  #highWatermark = 0;
  readonly #marks = new Map<number, number>();
  #position = 0;
  #epochStart = 0;
  #zombie: { broker: number; epoch: number } | undefined;

  constructor(options: HistoryOptions) {
    // What is lost is not sent again, as a producer with sequences would have to; nor does a broker tell
    // that it follows before it cuts.
    const guarantees = GUARANTEES.filter(
      (guarantee) => guarantee !== SEQUENCES_IN_ORDER && guarantee !== PROMISE_KEPT,
    );
    this.history = new History({ guarantees, ...options });
  }

  play({ what, broker, size }: Move): void {
    const moves: Readonly<Record<Move["what"], () => void>> = {
      write: () => this.#write(size),
      copy: () => this.#copy(broker),
      advance: () => this.#advance(),
      ack: () => this.#ack(),
      poll: () => this.#poll(),
      shrink: () => this.#shrink(broker),
      grow: () => this.#grow(broker),
      "fail-over": () => this.#failOver(broker),
      unclean: () => this.#unclean(broker),
      "zombie-write": () => this.#zombieWrite(size),
      "power-loss": () => this.#powerLoss(broker, size),
    };
    moves[what]();
  }

  #write(size: number): void {
    this.#unanswered.push(this.history.write(this.#values(size)));
  }

  #values(size: number): number[] {
    return Array.from({ length: size }, () => this.#nextValue++);
  }

  #log(broker: number): readonly RecordBatch[] {
    return this.history.logs.get(broker) ?? [];
  }

  /** Up to where a log is the leader's. */
  #matchEnd(broker: number): number {
    const leader = this.#log(this.history.leader);
    let end = 0;
    for (const [i, batch] of this.#log(broker).entries()) {
      if (leader[i] !== batch) break;
      end = batch.nextOffset;
    }
    return end;
  }

  #isMatching(broker: number): boolean {
    return this.#matchEnd(broker) === this.history.end(broker);
  }

  #copy(broker: number): void {
    const { history } = this;
    if (broker === history.leader) return;
    if (this.#zombie?.broker === broker) {
      this.#zombie = undefined;
      history.follow(broker);
    }
    if (!this.#isMatching(broker)) {
      const end = this.#matchEnd(broker);
      history.truncate(broker, end);
      this.#marks.set(broker, Math.min(this.#marks.get(broker) ?? 0, end));
      return;
    }
    const next = this.#log(history.leader)[this.#log(broker).length];
    if (next === undefined) return;
    history.append(broker, next);
    const mark = Math.min(this.#highWatermark, history.end(broker));
    this.#marks.set(broker, mark);
    history.highWatermark(broker, mark);
  }

  #advance(): void {
    const { history } = this;
    if (history.isr.length < MIN_ISR) return;
    if (!history.isr.every((member) => this.#isMatching(member))) return;
    const lowest = Math.min(...history.isr.map((member) => history.end(member)));
    if (lowest <= this.#highWatermark) return;
    this.#highWatermark = lowest;
    this.#marks.set(history.leader, lowest);
    history.highWatermark(history.leader, lowest);
  }

  #ack(): void {
    const { history } = this;
    while (this.#unanswered.length > 0) {
      const batch = this.#unanswered[0] as RecordBatch;
      if (batch.nextOffset > this.#highWatermark) return;
      this.#unanswered.shift();
      const count = batch.recordCount;
      const values = Array.from({ length: count }, (_, i) => batch.baseSequence + i);
      history.ack(values, batch.baseOffset);
    }
  }

  #poll(): void {
    const batches = this.#log(this.history.leader).filter(
      (batch) => batch.baseOffset >= this.#position && batch.nextOffset <= this.#highWatermark,
    );
    if (batches.length === 0) return;
    this.#position = batches.at(-1)?.nextOffset ?? 0;
    this.history.poll(batches);
  }

  #shrink(broker: number): void {
    const { history } = this;
    if (broker === history.leader || !history.isr.includes(broker)) return;
    history.shrink(history.isr.filter((member) => member !== broker));
  }

  #grow(broker: number): void {
    const { history } = this;
    if (history.isr.includes(broker) || !this.#isMatching(broker)) return;
    if (history.end(broker) < Math.max(this.#highWatermark, this.#epochStart)) return;
    history.shrink([...history.isr, broker]);
  }

  #failOver(broker: number): void {
    const { history } = this;
    if (broker === history.leader || !history.isr.includes(broker)) return;
    const isr = history.isr.filter((member) => member !== history.leader);
    this.#lead(broker, isr, "clean");
  }

  #unclean(broker: number): void {
    if (this.history.isr.includes(broker)) return;
    this.#lead(broker, [broker], "unclean");
  }

  #lead(broker: number, isr: readonly number[], election: "clean" | "unclean"): void {
    const { history } = this;
    this.#zombie = { broker: history.leader, epoch: history.epoch };
    history.elect(broker, { isr, election });
    this.#epochStart = history.end(broker);
    // As a follower it may have been behind the leader before it.
    this.#highWatermark = this.#marks.get(broker) ?? 0;
    this.#unanswered.length = 0;
    this.#seek(Math.min(this.#position, history.end(broker)));
  }

  /** The consumer goes back to where the new leader's log parts from what it has read. */
  #seek(to: number): void {
    const from = this.#position;
    if (to === from) return;
    this.#position = to;
    const reset = { kind: "position-reset", client: "c1", partition: ORDERS, from, to } as const;
    this.history.note({ ...reset, reason: "truncation" });
  }

  /** A leader that has not heard yet goes on writing, and nobody fetches it. */
  #zombieWrite(size: number): void {
    if (this.#zombie === undefined) return;
    const { broker, epoch } = this.#zombie;
    const { history } = this;
    const batch = history.batch(this.#values(size), {
      baseOffset: history.end(broker),
      partitionLeaderEpoch: epoch,
    });
    history.append(broker, batch, true);
  }

  #powerLoss(broker: number, size: number): void {
    const { history } = this;
    if (history.isr.includes(broker)) return;
    // Whoever starts again follows.
    if (this.#zombie?.broker === broker) this.#zombie = undefined;
    const kept = this.#log(broker).slice(0, -size).at(-1)?.nextOffset ?? 0;
    history.stop(broker, "power-off").restart(broker, kept);
    this.#marks.set(broker, 0);
  }
}
