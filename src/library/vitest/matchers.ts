import { describeRun, describeViolation } from "../describe-run.ts";
import type { AnyGuaranteeName, Breakable } from "../expect-guarantees.ts";
import { breachesOf, complaintAbout, headOf } from "../expect-guarantees.ts";
import type { SimulatedRun } from "../simulate.ts";

/** What a matcher answers: vitest's and Jest's are alike. */
export interface MatcherAnswer {
  readonly pass: boolean;
  readonly message: () => string;
}

/** What `expect(run)` can ask. */
export interface RunMatchers<Answer> {
  /**
   * No bug, and every expectation of the scenario met. Of the guarantees that are named not even a
   * permitted violation is taken.
   */
  toHoldGuarantees(...names: readonly AnyGuaranteeName[]): Answer;
  /** A guarantee was broken, or a violation of a kind happened, permitted or not. */
  toViolate(name: Breakable): Answer;
}

/** For `expect.extend` of vitest, which the entry point calls by itself, or of Jest. */
export const matchers: {
  toHoldGuarantees(run: SimulatedRun, ...names: readonly AnyGuaranteeName[]): MatcherAnswer;
  toViolate(run: SimulatedRun, name: Breakable): MatcherAnswer;
} = {
  toHoldGuarantees(run, ...names) {
    const complaint = complaintAbout(run, names);
    return {
      pass: complaint === undefined,
      message: () => complaint ?? `${headOf(run)}: all guarantees hold, and one should not`,
    };
  },
  toViolate(run, name) {
    const kinds = run.violations.map(({ kind }) => kind);
    const [first] = breachesOf(run, name, kinds);
    return {
      pass: first !== undefined,
      message: () =>
        first === undefined
          ? `${headOf(run)}: \`${name}\` should be violated, and is not\n\n${describeRun(run)}`
          : `${headOf(run)}: \`${name}\` should not be violated\n\n${describeViolation(run, first)}`,
    };
  },
};
