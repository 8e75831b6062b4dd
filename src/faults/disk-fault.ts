import { fail } from "../base/invariant.ts";
import type { DiskArea, DiskFailure, FailingCall } from "../ports/disk-failure.ts";
import { DISK_FILES } from "../ports/disk-failure.ts";
import type { Hands, Undo } from "../ports/hands.ts";
import type { NodeAddress } from "../ports/network.ts";
import type { Ratio } from "../ports/random.ts";
import type { Fault, FaultArguments, Harm, Parameter, Stage } from "./fault-kind.ts";

const CERTAIN: Ratio = { times: 1, outOf: 1 };

export const DIRECTORY: Parameter = {
  name: "directory",
  type: "log-directory",
  meaning: "Only this log directory, one of `log.dirs`: each is a disk of its own.",
};

/** Which files of a disk a fault is about. */
export const AREA: readonly Parameter[] = [
  { name: "log", type: "partition", meaning: "Only the log of this partition." },
  { name: "file", type: "word", words: DISK_FILES, meaning: "Only files of this kind." },
  DIRECTORY,
];

export const CHANCE: Parameter = {
  name: "chance",
  type: "probability",
  meaning: "With which probability a call fails. Default: each does.",
};

export const COUNT: Parameter = {
  name: "count",
  type: "count",
  meaning: "After so many failures it is over.",
};

export const PAGE_CACHE: Parameter = {
  name: "page-cache",
  type: "word",
  words: ["dropped", "kept"],
  meaning:
    "Only reads that miss the page cache meet the fault: with `dropped` it forgets first what is not " +
    "dirty, with `kept` it hides the fault until the power is off.",
};

export function areaOf(told: FaultArguments): DiskArea {
  const word = told.has("file") ? told.word("file") : "any";
  return {
    log: told.has("log") ? told.text("log") : undefined,
    file: DISK_FILES.find((one) => one === word) ?? fail(`no kind of files: ${word}`),
    directory: told.has("directory") ? told.text("directory") : undefined,
  };
}

/** `, log of orders-0, index files`: what is said of an area behind the names of nodes. */
export function describeArea({ log, file, directory }: DiskArea): string {
  return [
    log === undefined ? "" : `, log of ${log}`,
    file === "any" ? "" : `, ${file} files`,
    directory === undefined ? "" : `, in ${directory}`,
  ].join("");
}

/** Calls that fail, as a fault was told; `count` if it was told none. */
export function failureOf(
  told: FaultArguments,
  kind: FailingCall,
  count: number = Number.POSITIVE_INFINITY,
): DiskFailure {
  return {
    kind,
    area: areaOf(told),
    chance: told.has("chance") ? told.probability("chance") : CERTAIN,
    count: told.has("count") ? told.number("count") : count,
    evict: (kind === "read-error" || kind === "misdirected-read") && evicts(told),
  };
}

export function evicts(told: FaultArguments): boolean {
  return told.word("page-cache") === "dropped";
}

/** What is said of calls that fail, behind the names of nodes. */
export function describeFailure(
  { area, chance, count }: DiskFailure,
  told: FaultArguments,
): string {
  return [
    describeArea(area),
    chance === CERTAIN ? "" : `, ${told.text("chance")} of calls`,
    count === Number.POSITIVE_INFINITY ? "" : count === 1 ? ", once" : `, ${count} times`,
  ].join("");
}

/** A fault that is the same for the disk of each node of a target, and is taken back for each alike. */
export class DiskFault implements Fault {
  readonly text: string;
  readonly isIdle = false;
  readonly harm: readonly Harm[];
  readonly #nodes: readonly NodeAddress[];
  readonly #strike: (hands: Hands, node: NodeAddress) => Undo;
  readonly #undo: Undo[] = [];

  /**
   * The target stands behind the fault's own name; `more` is said behind the names of its nodes. `harms`
   * tells which records may be damaged on each of them; if it is absent, none.
   */
  constructor(
    told: FaultArguments,
    name: string,
    more: string,
    strike: (hands: Hands, node: NodeAddress) => Undo,
    harms?: Pick<Harm, "log" | "offsets">,
  ) {
    this.text = `${told.describe(name)}${more}`;
    this.#nodes = told.nodes(name);
    this.#strike = strike;
    this.harm =
      harms === undefined
        ? []
        : this.#nodes.map((node) => ({ ...harms, node, reachesDurable: true }));
  }

  begin({ hands }: Stage): void {
    for (const node of this.#nodes) this.#undo.push(this.#strike(hands, node));
  }

  end(): void {
    for (const undo of this.#undo.splice(0)) undo();
  }
}
