import { closeSync, openSync, statSync, writeSync } from "node:fs";
import { systemCode, UsageError } from "./complain.ts";

/** A file that was asked for with an option, and is written piece by piece. */
export class WrittenFile {
  readonly #option: string;
  readonly #path: string;
  readonly #descriptor: number;

  private constructor(option: string, path: string, descriptor: number) {
    this.#option = option;
    this.#path = path;
    this.#descriptor = descriptor;
  }

  /**
   * `option` as in `--events`. Throws `UsageError` if the file cannot be written, or looks like a
   * scenario.
   */
  static open(option: string, path: string, scenario: string): WrittenFile {
    try {
      if (path.endsWith(".yaml") || isSameFile(path, scenario)) {
        throw new UsageError(`${option}: ${path} is a scenario, and would be overwritten`);
      }
      return new WrittenFile(option, path, openSync(path, "w"));
    } catch (problem) {
      if (problem instanceof UsageError) throw problem;
      throw unwritable(option, path, problem);
    }
  }

  /** Throws `UsageError`. */
  write(text: string): void {
    const bytes = Buffer.from(text);
    try {
      // A pipe may take less than it is given.
      for (let from = 0; from < bytes.length; ) from += writeSync(this.#descriptor, bytes, from);
    } catch (problem) {
      throw unwritable(this.#option, this.#path, problem);
    }
  }

  close(): void {
    closeSync(this.#descriptor);
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

function unwritable(option: string, path: string, problem: unknown): UsageError {
  const code = systemCode(problem) ?? "";
  return new UsageError(`${option}: ${path} cannot be written: ${REASONS.get(code) ?? code}`);
}
