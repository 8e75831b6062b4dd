import type { Instant } from "../base/time.ts";
import { formatSeconds } from "../base/time.ts";
import type { FactRecorder } from "../trace/recorder.ts";
import type { Waiver } from "./waivers/waiver.ts";

/** Whose clock was set wrong: what such a node does too early or too late is no bug. */
export class ClockSkews {
  readonly #skews: { readonly text: string; readonly at: Instant; readonly event: number }[] = [];

  constructor(recorder: FactRecorder) {
    recorder.on("fault-begun", ({ verb, text }, at, event) => {
      if (verb === "clock-skew") this.#skews.push({ text, at, event });
    });
  }

  /** Has the clock of the named node been set wrong? */
  waive(node: string): Waiver | undefined {
    const skew = this.#skews.findLast(({ text }) => text.split(/[ ,]+/).includes(node));
    if (skew === undefined) return undefined;
    const text = `the clock of ${node}, which was set wrong at ${formatSeconds(skew.at)}`;
    return { text, cause: skew.event };
  }
}
