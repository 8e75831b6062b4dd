import { systemCode } from "./complain.ts";

const FLUSH_AT = 1 << 16;

/**
 * Writes many lines to stdout, no faster than they are taken, and knows when nobody takes them any more
 * (`sim dump x.log | head`): what is left need not be looked for then.
 */
export class LineWriter {
  #buffer = "";
  #isClosed = false;

  constructor() {
    process.stdout.once("error", (problem) => {
      if (systemCode(problem) !== undefined) this.#isClosed = true;
    });
  }

  /** Nobody listens. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** True if it is time to flush. */
  add(text: string): boolean {
    this.#buffer += text;
    return this.#buffer.length >= FLUSH_AT;
  }

  /** Resolves when the reader has taken what was written, or has gone. */
  async flush(): Promise<void> {
    const text = this.#buffer;
    this.#buffer = "";
    if (text === "" || this.#isClosed) return;
    await new Promise<void>((resolve) => {
      process.stdout.write(text, () => resolve());
    });
  }
}
