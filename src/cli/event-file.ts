import { closeSync, openSync, statSync, writeSync } from "node:fs";
import type { Instant } from "../base/time.ts";
import { factJson } from "../report/fact-json.ts";
import type { Fact } from "../trace/fact.ts";
import { systemCode, UsageError } from "./complain.ts";

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
  readonly #path: string;
  readonly #descriptor: number;
  #buffer = "";
  /** Facts of the warm-up; undefined once it is over. */
  #early: Noted[] | undefined = [];

  private constructor(path: string, descriptor: number) {
    this.#path = path;
    this.#descriptor = descriptor;
  }

  /** Throws `UsageError` if the file cannot be written, or looks like a scenario. */
  static open(path: string, scenario: string): EventFile {
    try {
      if (path.endsWith(".yaml") || isSameFile(path, scenario)) {
        throw new UsageError(`--events: ${path} is a scenario, and would be overwritten`);
      }
      return new EventFile(path, openSync(path, "w"));
    } catch (problem) {
      if (problem instanceof UsageError) throw problem;
      throw unwritable(path, problem);
    }
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
    closeSync(this.#descriptor);
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
    const bytes = Buffer.from(this.#buffer);
    this.#buffer = "";
    try {
      // A pipe may take less than it is given.
      for (let from = 0; from < bytes.length; ) from += writeSync(this.#descriptor, bytes, from);
    } catch (problem) {
      throw unwritable(this.#path, problem);
    }
  }
}

function isSameFile(one: string, other: string): boolean {
  const a = statSync(one, { throwIfNoEntry: false });
  const b = statSync(other, { throwIfNoEntry: false });
  return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev;
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ["ENOENT", "there is no such directory"],
  ["ENOTDIR", "there is no such directory"],
  ["EISDIR", "it is a directory"],
  ["EACCES", "that is not permitted"],
  ["EROFS", "the file system is read-only"],
  ["ENOSPC", "the disk is full"],
  ["EPIPE", "its reader has gone"],
]);

function unwritable(path: string, problem: unknown): UsageError {
  const code = systemCode(problem) ?? "";
  return new UsageError(`--events: ${path} cannot be written: ${REASONS.get(code) ?? code}`);
}
