import type { Oddity } from "./client-history.ts";
import { violationOf } from "./finding.ts";
import type { Guarantee, Violation } from "./guarantee.ts";
import { RecordRun } from "./record-run.ts";
import type { Judgement } from "./waivers/waiver.ts";

/** Oddities of one kind, gathered: one finding for each partition, client and reason. */
export class OddityFindings {
  readonly #guarantee: Guarantee;
  readonly #kind: string;
  readonly #groups = new Map<string, Group>();

  constructor(guarantee: Guarantee, kind: string) {
    this.#guarantee = guarantee;
    this.#kind = kind;
  }

  /** `judgement`: what it goes back to, if to anything. */
  add(oddity: Oddity, judgement: Judgement | undefined): void {
    const { partition, client, offset } = oddity;
    const key = `${partition.ghost.index} ${client} ${judgement?.waiver?.text ?? ""}`;
    let group = this.#groups.get(key);
    if (group === undefined) {
      group = { first: oddity, judgement, run: new RecordRun() };
      this.#groups.set(key, group);
    }
    group.run.add(offset, offset, 1);
  }

  /** `describe` tells of the first of them, without the full stop. */
  violations(describe: (first: Oddity) => string): Violation[] {
    return [...this.#groups.values()].map(({ first, judgement, run }) => {
      const { partition, client, at, event } = first;
      const more = run.count === 1 ? "" : `, and so on: ${run.text}`;
      return violationOf(this.#guarantee, {
        kind: this.#kind,
        partition: partition.ghost.name,
        client,
        at,
        event,
        text: [`${describe(first)}${more}.`],
        offsets: run.offsets,
        count: run.count,
        permitted: judgement?.waiver?.text,
        cause: judgement?.cause,
      });
    });
  }
}

interface Group {
  readonly first: Oddity;
  readonly judgement: Judgement | undefined;
  readonly run: RecordRun;
}
