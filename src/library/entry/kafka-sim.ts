/** The package: scenarios as values, runs of them, and what became of the guarantees. */
export type { GuaranteeSummary } from "../../checkers/checker-set.ts";
export type { Guarantee, Violation } from "../../checkers/guarantee.ts";
export type {
  ClientRow,
  ConsumerRow,
  ExpectationOutcome,
  PartitionRow,
  ProducerRow,
  RunResult,
} from "../../cluster/run-result.ts";
export type { Complaint } from "../../scenario/complaint.ts";
export type { Fact, FactKind, FactOf } from "../../trace/fact.ts";
export type { Breach, FactHandlers, Moment, OwnGuarantee } from "../define-guarantee.ts";
export { defineGuarantee } from "../define-guarantee.ts";
export type { DefinedScenario } from "../define-scenario.ts";
export { defineScenario, parseScenario, ScenarioMistakes } from "../define-scenario.ts";
export { describeRun, describeViolation, explainViolation } from "../describe-run.ts";
export type { AnyGuaranteeName, Breakable } from "../expect-guarantees.ts";
export { expectGuarantees, GuaranteesBroken } from "../expect-guarantees.ts";
export type * from "../scenario-value.ts";
export type { ShrunkRun } from "../shrink-run.ts";
export { shrinkRun } from "../shrink-run.ts";
export type { SimulatedRun, SimulateOptions } from "../simulate.ts";
export { simulate } from "../simulate.ts";
