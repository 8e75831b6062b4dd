import type { Instant } from "../base/time.ts";
import { factJson } from "../report/fact-json.ts";
import type { Fact } from "../trace/fact.ts";
import type { WrittenFile } from "./written-file.ts";

const FLUSH_AT = 1 << 16;

interface Noted {
  readonly fact: Fact;
  readonly at: Instant;
  readonly event: number;
}

/**
 * `--events FILE`: one fact a line, as JSON. Instants count from the scenario's time zero, as everywhere;
 * those of the warm-up are negative, and are written when zero is known.
 */
export class EventFile {
  readonly #file: WrittenFile;
  #buffer = "";
  /** Facts of the warm-up; undefined once it is over. */
  #early: Noted[] | undefined = [];

  constructor(file: WrittenFile) {
    this.#file = file;
  }

  /** `zero` is the scheduler's instant of time zero; 0 while there is none. Throws `UsageError`. */
  write(fact: Fact, at: Instant, event: number, zero: Instant): void {
    if (this.#early !== undefined) {
      if (zero === 0) {
        this.#early.push({ fact, at, event });
        return;
      }
      this.#writeEarly(zero);
    }
    this.#append(fact, at, event);
  }

  /** Throws `UsageError` if what is left cannot be written. */
  close(zero: Instant): void {
    this.#writeEarly(zero);
    this.#flush();
    this.#file.close();
  }

  #writeEarly(zero: Instant): void {
    for (const { fact, at, event } of this.#early ?? []) this.#append(fact, at - zero, event);
    this.#early = undefined;
  }

  #append(fact: Fact, at: Instant, event: number): void {
    this.#buffer += `${factJson(fact, at, event)}\n`;
    if (this.#buffer.length >= FLUSH_AT) this.#flush();
  }

  #flush(): void {
    this.#file.write(this.#buffer);
    this.#buffer = "";
  }
}
