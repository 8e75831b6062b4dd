import type { Violation } from "../checkers/guarantee.ts";
import { nearestName } from "../scenario/nearest-name.ts";
import { describeViolation } from "./describe-run.ts";
import type { GuaranteeName, ViolationKind } from "./scenario-value.ts";
import type { SimulatedRun } from "./simulate.ts";

/** The name of one of Kafka's guarantees, or of your own. */
export type AnyGuaranteeName = GuaranteeName | (string & {});

/** The name of a guarantee, or of a kind of violation. */
export type Breakable = AnyGuaranteeName | ViolationKind;

/** Something did not hold in a run. */
export class GuaranteesBroken extends Error {
  override readonly name = "GuaranteesBroken";
  readonly run: SimulatedRun;

  constructor(run: SimulatedRun, message: string) {
    super(message);
    this.run = run;
  }
}

/**
 * Throws `GuaranteesBroken` if there is a bug in a run, or an expectation of the scenario was not met. Of
 * the guarantees that are named not even a permitted violation is taken. Throws a `RangeError` for a
 * name that is none.
 */
export function expectGuarantees(run: SimulatedRun, ...names: readonly AnyGuaranteeName[]): void {
  const complaint = complaintAbout(run, names);
  if (complaint !== undefined) throw new GuaranteesBroken(run, complaint);
}

/** What `expectGuarantees` would throw, in words; undefined if nothing. */
export function complaintAbout(run: SimulatedRun, names: readonly string[]): string | undefined {
  for (const name of names) demandGuarantee(run, name);
  const violations = run.violations.filter(
    ({ guarantee, permitted, follows }) =>
      names.includes(guarantee) || (permitted === undefined && follows === undefined),
  );
  const unmet = run.expectations.filter(({ ok }) => ok === false).map(({ text }) => text);
  if (violations.length === 0 && unmet.length === 0) return undefined;
  return [
    headOf(run),
    ...violations.slice(0, MOST).map((violation) => describeViolation(run, violation)),
    ...(violations.length > MOST ? [`... ${violations.length - MOST} more violations`] : []),
    ...unmet.map((text) => `not as expected: ${text}`),
  ].join("\n\n");
}

/** Violations that are told; one is mostly enough. */
const MOST = 3;

/** The run by name and seed. */
export function headOf({ scenario, variant, seed }: SimulatedRun): string {
  return `${variant === undefined ? scenario : `${scenario}/${variant}`}, seed ${seed}`;
}

/** What broke a guarantee, or was of a kind, permitted or not. Throws a `RangeError` for a name that is none. */
export function breachesOf(run: SimulatedRun, name: string, kinds: readonly string[]): Violation[] {
  if (!kinds.includes(name)) demandGuarantee(run, name);
  return run.violations.filter(({ guarantee, kind }) => guarantee === name || kind === name);
}

/** A test that asks for what nobody watches would always pass. */
function demandGuarantee({ guarantees }: SimulatedRun, name: string): void {
  const known = guarantees.map((guarantee) => guarantee.name);
  if (known.includes(name)) return;
  const near = nearestName(name, known);
  const hint = near === undefined ? "" : `; did you mean \`${near}\`?`;
  throw new RangeError(`no guarantee \`${name}\` was watched in this run${hint}`);
}
