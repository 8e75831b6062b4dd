import { closeSync, openSync, writeSync } from "node:fs";
import { factJson } from "../report/fact-json.ts";
import type { Fact } from "../trace/fact.ts";
import { UsageError } from "./complain.ts";

const FLUSH_AT = 1 << 16;

/** `--events FILE`: one fact a line, as JSON. */
export class EventFile {
  readonly #descriptor: number;
  #buffer = "";

  private constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  /** Throws `UsageError` if the file cannot be written. */
  static open(path: string): EventFile {
    try {
      return new EventFile(openSync(path, "w"));
    } catch {
      throw new UsageError(`--events: ${path} cannot be written`);
    }
  }

  write(fact: Fact, at: number, event: number): void {
    this.#buffer += `${factJson(fact, at, event)}\n`;
    if (this.#buffer.length >= FLUSH_AT) this.#flush();
  }

  close(): void {
    this.#flush();
    closeSync(this.#descriptor);
  }

  #flush(): void {
    writeSync(this.#descriptor, this.#buffer);
    this.#buffer = "";
  }
}
