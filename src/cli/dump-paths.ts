import type { ByteSource } from "../report/dump/byte-source.ts";
import type { FileSummary } from "../report/dump/directory-summary.ts";
import { summarise, summaryJson, summaryLines } from "../report/dump/directory-summary.ts";
import { dumpJson, JSON_END, JSON_START } from "../report/dump/dump-json.ts";
import type { DumpOptions, DumpTarget } from "../report/dump/dump-options.ts";
import { PLAIN_DUMP } from "../report/dump/dump-options.ts";
import { dumpLines } from "../report/dump/dump-text.ts";
import { besides, KNOWN_NAMES, kindOf } from "../report/dump/file-kind.ts";
import { nearestName } from "../scenario/nearest-name.ts";
import { complain, UsageError } from "./complain.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import { LineWriter } from "./line-writer.ts";

/** Where the files are: here, or on a simulated disk. All throw `UsageError` for what cannot be read. */
export interface FileTree {
  isDirectory(path: string): boolean;
  /** Names in code-unit order. */
  list(directory: string): readonly string[];
  open(path: string): ByteSource;
  /** Ends the use of all that was opened. */
  close(): void;
}

export interface DumpFlags {
  readonly printDataLog?: boolean;
  readonly deepIteration?: boolean;
  readonly skipRecordMetadata?: boolean;
  readonly clusterMetadataDecoder?: boolean;
  readonly indexSanityCheck?: boolean;
  readonly verifyIndexOnly?: boolean;
  readonly maxBytes?: string;
  readonly json?: boolean;
}

/**
 * Dumps files and directories one after another. A path that cannot be read is told on stderr, and does
 * not keep the others from being dumped.
 */
export async function dumpPaths(
  tree: FileTree,
  paths: readonly string[],
  flags: DumpFlags,
): Promise<ExitCode> {
  const options = optionsOf(flags);
  const dump = new Dump(tree, options, flags.json === true);
  let code: ExitCode = EXIT.ok;
  await dump.begin();
  for (const path of paths) {
    try {
      const isSound = await dump.path(path);
      if (!isSound && code === EXIT.ok) code = EXIT.failed;
    } catch (problem) {
      if (!(problem instanceof UsageError)) throw problem;
      // What was printed comes first on a terminal, too.
      await dump.flush();
      complain(problem.message);
      code = EXIT.usage;
    } finally {
      tree.close();
    }
    if (dump.isCutOff) break;
  }
  await dump.end();
  return dump.hasFailed ? EXIT.usage : code;
}

function optionsOf(flags: DumpFlags): DumpOptions {
  const { maxBytes } = flags;
  if (maxBytes !== undefined && !/^[0-9]{1,15}$/.test(maxBytes)) {
    throw new UsageError(`--max-bytes takes a number of bytes, not \`${maxBytes}\``);
  }
  const clusterMetadata = flags.clusterMetadataDecoder === true;
  return {
    deepIteration: flags.deepIteration === true,
    printDataLog: flags.printDataLog === true || clusterMetadata,
    skipRecordMetadata: flags.skipRecordMetadata === true,
    clusterMetadata,
    indexSanityCheck: flags.indexSanityCheck === true,
    verifyIndexOnly: flags.verifyIndexOnly === true,
    maxBytes: maxBytes === undefined ? PLAIN_DUMP.maxBytes : Number(maxBytes),
  };
}

class Dump {
  readonly #tree: FileTree;
  readonly #options: DumpOptions;
  readonly #isJson: boolean;
  readonly #writer = new LineWriter();
  #comma = "";
  /** Could a file not be read? */
  hasFailed = false;

  constructor(tree: FileTree, options: DumpOptions, isJson: boolean) {
    this.#tree = tree;
    this.#options = options;
    this.#isJson = isJson;
  }

  get isCutOff(): boolean {
    return this.#writer.isClosed;
  }

  async begin(): Promise<void> {
    if (this.#isJson) await this.#write(JSON_START);
  }

  async end(): Promise<void> {
    if (this.#isJson) await this.#write(JSON_END);
    await this.flush();
  }

  flush(): Promise<void> {
    return this.#writer.flush();
  }

  /** Whether all of it is sound. Throws `UsageError` for what is no such file or directory. */
  path(path: string): Promise<boolean> {
    return this.#tree.isDirectory(path) ? this.#directory(path) : this.#file(path);
  }

  async #file(path: string): Promise<boolean> {
    const name = nameOf(path);
    if (kindOf(name) === undefined) throw new UsageError(whyUnknown(path, name));
    const target = this.#target(path);
    if (this.#options.verifyIndexOnly) this.#needLog(target);
    // As Kafka names the directory of that log, and the snapshots of it.
    const isMetadata =
      kindOf(name) === "kraft-snapshot" || /(^|\/)__cluster_metadata-0\/[^/]*$/.test(path);
    const options = isMetadata ? { ...this.#options, clusterMetadata: true } : this.#options;
    if (this.#isJson) await this.#beginMember();
    const lines = this.#isJson ? dumpJson(target, options) : dumpLines(target, options);
    for (let next = lines.next(); ; next = lines.next()) {
      if (next.done === true) return next.value;
      await this.#write(next.value);
      if (this.isCutOff) return true;
    }
  }

  /** The files of a directory in a few words each; of a log directory, those of each partition as well. */
  async #directory(path: string): Promise<boolean> {
    const { deepIteration, printDataLog, indexSanityCheck, verifyIndexOnly } = this.#options;
    if (deepIteration || printDataLog || indexSanityCheck || verifyIndexOnly) {
      const all = join(path, "*");
      throw new UsageError(
        `${path} is a directory, which is only summarised; name files, as ${all}`,
      );
    }
    const names = this.#tree.list(path);
    const directories = names.filter((name) => this.#tree.isDirectory(join(path, name)));
    const files = names.filter((name) => !directories.includes(name));
    let isSound = true;
    if (files.length > 0 || directories.length === 0) {
      isSound = await this.#summarise(path, files);
    }
    for (const name of directories) {
      if (this.isCutOff) break;
      const inside = join(path, name);
      const found = this.#tree
        .list(inside)
        .filter((one) => !this.#tree.isDirectory(join(inside, one)));
      if (!(await this.#summarise(inside, found))) isSound = false;
    }
    return isSound;
  }

  async #summarise(path: string, names: readonly string[]): Promise<boolean> {
    const files: FileSummary[] = [];
    for (const name of names) {
      const summary = await this.#summary(join(path, name));
      if (summary === undefined) continue;
      files.push(summary);
      if (!this.#isJson) continue;
      await this.#beginMember();
      await this.#write(summaryJson(summary));
    }
    if (!this.#isJson) for (const line of summaryLines(path, files)) await this.#write(line);
    return files.every(({ damages }) => damages.first === undefined);
  }

  /** Undefined for a file that cannot be read, as one that a living broker has removed meanwhile. */
  async #summary(path: string): Promise<FileSummary | undefined> {
    try {
      return summarise(this.#target(path));
    } catch (problem) {
      if (!(problem instanceof UsageError)) throw problem;
      await this.flush();
      complain(problem.message);
      this.hasFailed = true;
      return undefined;
    } finally {
      this.#tree.close();
    }
  }

  #target(path: string): DumpTarget {
    const name = nameOf(path);
    const directory = path.slice(0, path.length - name.length);
    return {
      path,
      name,
      source: this.#tree.open(path),
      beside: (other) => {
        const names = this.#tree.list(directory === "" ? "." : directory);
        return names.includes(other) ? this.#tree.open(directory + other) : undefined;
      },
    };
  }

  /** An index that nothing can be compared with would pass. */
  #needLog({ path, name, beside }: DumpTarget): void {
    const kind = kindOf(name);
    if (kind !== "offset-index" && kind !== "time-index") return;
    const log = besides(name, ".log");
    if (beside(log) === undefined) {
      throw new UsageError(`${path} cannot be verified: there is no ${log} beside it`);
    }
  }

  async #beginMember(): Promise<void> {
    await this.#write(this.#comma);
    this.#comma = ",";
  }

  async #write(line: string): Promise<void> {
    if (this.#writer.add(`${line}\n`)) await this.#writer.flush();
  }
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function join(directory: string, name: string): string {
  if (directory === "" || directory === ".") return name;
  return directory.endsWith("/") ? directory + name : `${directory}/${name}`;
}

function whyUnknown(path: string, name: string): string {
  const nearest = nearestName(name, KNOWN_NAMES);
  const hint =
    nearest === undefined
      ? "a log directory has .log, .index, .snapshot and others"
      : `did you mean \`${nearest}\`?`;
  return `${path}: its name tells no kind of file that Kafka keeps; ${hint}`;
}
