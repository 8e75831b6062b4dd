import { SECOND } from "../base/time.ts";

/** Nothing is shown before a run takes this long. */
const PATIENCE_MS = 2_000;
const REFRESH_MS = 250;
/** Into a pipe a line is written this often, and none is overwritten. */
const LINE_MS = 10_000;

/** Says on stderr how far a long run has come. */
export class Progress {
  readonly #name: string;
  readonly #isTerminal: boolean;
  readonly #started = Date.now();
  #last: number = this.#started;
  #shown = false;

  constructor(name: string) {
    this.#name = name;
    this.#isTerminal = process.stderr.isTTY && process.env["TERM"] !== "dumb";
  }

  show(simulated: number, events: number): void {
    const now = Date.now();
    if (now - this.#started < PATIENCE_MS) return;
    if (now - this.#last < (this.#isTerminal ? REFRESH_MS : LINE_MS)) return;
    this.#last = now;
    this.#shown = true;
    const rate = Math.round(events / (now - this.#started)) * 1000;
    const line = `${this.#name}  ${Math.floor(simulated / SECOND)}s simulated, ${events} events, ${rate} events/s`;
    process.stderr.write(this.#isTerminal ? `\r\x1b[K${line}` : `${line}\n`);
  }

  clear(): void {
    if (this.#shown && this.#isTerminal) process.stderr.write("\r\x1b[K");
  }
}
