import { SECOND } from "../base/time.ts";

/** Nothing is shown before a run takes this long. */
const PATIENCE_MS = 2_000;
const REFRESH_MS = 250;
/** Into a pipe a line is written this often, and none is overwritten. */
const LINE_MS = 10_000;

/** Says on stderr how far something that takes long has come. */
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

  /** How far a run is, in simulated microseconds and in events. */
  showRun(simulated: number, events: number): void {
    const rate = Math.round(events / Math.max(1, Date.now() - this.#started)) * 1000;
    this.show(`${Math.floor(simulated / SECOND)}s simulated, ${events} events, ${rate} events/s`);
  }

  /** Not before there was time to lose patience, and not all the time. */
  show(text: string): void {
    const now = Date.now();
    if (now - this.#started < PATIENCE_MS) return;
    if (now - this.#last < (this.#isTerminal ? REFRESH_MS : LINE_MS)) return;
    this.#last = now;
    this.#shown = true;
    const line = `${this.#name}  ${text}`;
    process.stderr.write(this.#isTerminal ? `\r\x1b[K${line}` : `${line}\n`);
  }

  clear(): void {
    if (this.#shown && this.#isTerminal) process.stderr.write("\r\x1b[K");
  }
}
