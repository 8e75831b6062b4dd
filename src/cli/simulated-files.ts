import { byText } from "../base/order.ts";
import type { DiskView, ViewedFile } from "../cluster/disk-view.ts";
import type { ByteSource } from "../report/dump/byte-source.ts";
import { sourceOf } from "../report/dump/byte-source.ts";
import { nearestName } from "../scenario/nearest-name.ts";
import { UsageError } from "./complain.ts";
import type { FileTree } from "./dump-paths.ts";

/** The files on a simulated disk, as they stand. A directory is what files lie in. */
export class SimulatedFiles implements FileTree {
  readonly #view: DiskView;
  readonly #node: string;
  readonly #files: ReadonlyMap<string, ViewedFile>;

  constructor(view: DiskView, node: string) {
    this.#view = view;
    this.#node = node;
    this.#files = new Map(view.files().map((file) => [file.path, file]));
  }

  /** The files at or below a path, all of them for `.`; in the order of their paths. */
  at(path: string): readonly ViewedFile[] {
    const files = [...this.#files.values()];
    if (path === ".") return files;
    const found = files.filter((file) => file.path === path || file.path.startsWith(`${path}/`));
    if (found.length === 0) throw new UsageError(this.#whyAbsent(path));
    return found;
  }

  isDirectory(path: string): boolean {
    return path === "." || !this.at(path).some((file) => file.path === path);
  }

  list(directory: string): readonly string[] {
    const prefix = directory === "." ? "" : directory.replace(/\/?$/, "/");
    const names = new Set<string>();
    for (const path of this.#files.keys()) {
      if (!path.startsWith(prefix)) continue;
      const [name = ""] = path.slice(prefix.length).split("/");
      names.add(name);
    }
    return [...names].sort(byText);
  }

  open(path: string): ByteSource {
    const size = this.#files.get(path)?.size;
    if (size === undefined) throw new UsageError(this.#whyAbsent(path));
    return sourceOf(this.#view.read(path, 0, size));
  }

  close(): void {}

  #whyAbsent(path: string): string {
    const directories = [...this.#files.keys()].flatMap((file) => {
      const parts = file.split("/").slice(0, -1);
      return parts.map((_, i) => parts.slice(0, i + 1).join("/"));
    });
    const nearest = nearestName(path, [...this.#files.keys(), ...new Set(directories)]);
    const hint =
      nearest === undefined ? "`ls` shows what there is" : `did you mean \`${nearest}\`?`;
    return `${path}: no such file or directory on ${this.#node}; ${hint}`;
  }
}
