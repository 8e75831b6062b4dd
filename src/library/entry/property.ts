/** Arbitraries for fast-check. */
export type { ClusterLimits } from "../property/cluster-arbitrary.ts";
export { clusterArbitrary } from "../property/cluster-arbitrary.ts";
export type {
  FaultPlanLimits,
  PlannedKind,
  PlanTargets,
} from "../property/fault-plan-arbitrary.ts";
export { faultPlanArbitrary } from "../property/fault-plan-arbitrary.ts";
export type { ScenarioParts } from "../property/scenario-arbitrary.ts";
export { scenarioArbitrary } from "../property/scenario-arbitrary.ts";
export type { Workload, WorkloadLimits } from "../property/workload-arbitrary.ts";
export { workloadArbitrary } from "../property/workload-arbitrary.ts";
