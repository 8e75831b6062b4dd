import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import type { ByteSource } from "../report/dump/byte-source.ts";
import { systemCode, UsageError } from "./complain.ts";

/** How much is read at a time; a log is read from its beginning to its end. */
const WINDOW = 1 << 20;

/** A real file, read piece by piece: however large it is, little of it is in memory. */
export class FileSource implements ByteSource {
  readonly size: number;
  readonly #path: string;
  readonly #descriptor: number;
  #window: Uint8Array = new Uint8Array(0);
  #windowStart = 0;

  /** Throws `UsageError` for what is not a file that can be read. */
  constructor(path: string) {
    this.#path = path;
    try {
      // A pipe would keep us waiting at `open`, a device may have no end.
      if (!statSync(path).isFile()) throw new UsageError(`${path} is not a regular file`);
      this.#descriptor = openSync(path, "r");
      this.size = fstatSync(this.#descriptor).size;
    } catch (problem) {
      if (problem instanceof UsageError) throw problem;
      throw new UsageError(whyUnreadable(path, problem));
    }
  }

  read(position: number, length: number): Uint8Array {
    const start = position - this.#windowStart;
    if (start >= 0 && start + length <= this.#window.length) {
      return this.#window.subarray(start, start + length);
    }
    // A new array each time: who has a piece of the last one may keep it.
    this.#window = this.#readAt(position, Math.max(length, WINDOW));
    this.#windowStart = position;
    return this.#window.subarray(0, length);
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #readAt(position: number, length: number): Uint8Array {
    const bytes = new Uint8Array(Math.max(0, Math.min(length, this.size - position)));
    let end = 0;
    try {
      while (end < bytes.length) {
        const count = readSync(this.#descriptor, bytes, end, bytes.length - end, position + end);
        if (count === 0) break;
        end += count;
      }
    } catch (problem) {
      throw new UsageError(whyUnreadable(this.#path, problem));
    }
    return bytes.subarray(0, end);
  }
}

/** Why a file or directory cannot be read, in words. */
export function whyUnreadable(path: string, problem: unknown): string {
  const code = systemCode(problem);
  if (code === "ENOENT" || code === "ENOTDIR") return `${path}: no such file or directory`;
  if (code === "EACCES") return `${path} may not be read: permission denied`;
  return `${path} cannot be read (${code ?? String(problem)})`;
}
