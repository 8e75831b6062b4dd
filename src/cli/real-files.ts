import { readdirSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { byText } from "../base/order.ts";
import type { ByteSource } from "../report/dump/byte-source.ts";
import { nearestName } from "../scenario/nearest-name.ts";
import { systemCode, UsageError } from "./complain.ts";
import type { FileTree } from "./dump-paths.ts";
import { FileSource, whyUnreadable } from "./file-source.ts";

/** The files of the machine that this runs on. */
export class RealFiles implements FileTree {
  readonly #open: FileSource[] = [];

  isDirectory(path: string): boolean {
    try {
      return statSync(path).isDirectory();
    } catch (problem) {
      throw new UsageError(whyUnreadable(path, problem) + hintFor(path, problem));
    }
  }

  list(directory: string): readonly string[] {
    try {
      return readdirSync(directory).sort(byText);
    } catch (problem) {
      throw new UsageError(whyUnreadable(directory, problem));
    }
  }

  open(path: string): ByteSource {
    const source = new FileSource(path);
    this.#open.push(source);
    return source;
  }

  close(): void {
    for (const source of this.#open.splice(0)) source.close();
  }
}

/** What may have been meant: a name in the same directory. */
function hintFor(path: string, problem: unknown): string {
  if (systemCode(problem) !== "ENOENT") return "";
  try {
    const nearest = nearestName(basename(path), readdirSync(dirname(path)).sort(byText));
    return nearest === undefined ? "" : `; did you mean \`${nearest}\`?`;
  } catch {
    return "";
  }
}
