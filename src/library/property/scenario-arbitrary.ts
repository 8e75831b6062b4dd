import fc from "fast-check";
import type { DefinedScenario } from "../define-scenario.ts";
import { defineScenario } from "../define-scenario.ts";
import type { ClusterValue, ScenarioValue } from "../scenario-value.ts";
import { clusterArbitrary } from "./cluster-arbitrary.ts";
import type { FaultPlanLimits, PlanTargets } from "./fault-plan-arbitrary.ts";
import { rawPlanArbitrary, stepsOf } from "./fault-plan-arbitrary.ts";
import { durationOf } from "./round-time.ts";
import type { Workload } from "./workload-arbitrary.ts";
import { workloadArbitrary } from "./workload-arbitrary.ts";

export interface ScenarioParts {
  /** Default `clusterArbitrary()`. */
  readonly cluster?: fc.Arbitrary<ClusterValue>;
  /** Default `workloadArbitrary()`. */
  readonly workload?: fc.Arbitrary<Workload>;
  /** What may happen; `undefined`: all that Kafka promises to survive. */
  readonly faults?: FaultPlanLimits;
  /** What all these scenarios have in common, and what is to be different in them. */
  readonly more?: Partial<ScenarioValue>;
}

/** As `faultPlanArbitrary` has it. */
const DEFAULT_WITHIN = 15_000;

/**
 * Whole scenarios, each with a seed, so that one alone is a run. They shrink in all their parts: to fewer
 * and shorter faults, fewer clients, smaller clusters; only the seed stays. A counterexample is printed
 * as YAML: saved, it can be run, explained and shrunk further with `sim`.
 */
export function scenarioArbitrary(parts: ScenarioParts = {}): fc.Arbitrary<DefinedScenario> {
  const { cluster = clusterArbitrary(), workload = workloadArbitrary(), faults, more } = parts;
  return fc
    .record({
      seed: fc.noShrink(fc.nat()),
      plan: rawPlanArbitrary(faults),
      workload,
      cluster,
    })
    .map(({ seed, plan, workload: { topics, clients }, cluster: size }) => {
      const steps = stepsOf(plan, {
        ...targetsIn(size, topics),
        consumers: faults?.consumers === true ? consumersAmong(clients) : [],
      });
      const value: ScenarioValue = {
        version: 1,
        name: "drawn",
        seed,
        kafka: "4.3",
        cluster: size,
        topics,
        clients,
        ...(steps.length === 0 ? {} : { faults: steps }),
        duration: durationOf((faults?.within ?? DEFAULT_WITHIN) + 1_000),
        settle: "45s",
        ...more,
      };
      return printedAsYaml(defineScenario(value));
    });
}

/** Throws a `RangeError` for a cluster whose size is left to the seed: nobody could be named. */
function targetsIn(
  { brokers, controllers = 3 }: ClusterValue,
  topics: Workload["topics"],
): PlanTargets {
  if (typeof brokers === "string" || typeof controllers === "string") {
    throw new RangeError(
      "a cluster that is to be struck has a fixed number of brokers and controllers",
    );
  }
  const ids = typeof brokers === "number" ? upTo(brokers) : brokers.map(({ id }) => id);
  const least = Object.values(topics).map(({ config }) =>
    Number(config?.["min.insync.replicas"] ?? 1),
  );
  return {
    brokers: ids.map((id) => `broker-${id}`),
    controllers: upTo(controllers).map((id) => `controller-${id}`),
    minInSync: Math.min(...least),
  };
}

function consumersAmong(clients: Workload["clients"]): string[] {
  return Object.entries(clients).flatMap(([name, client]) => ("consume" in client ? [name] : []));
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i + 1);
}

function printedAsYaml(scenario: DefinedScenario): DefinedScenario {
  return Object.assign(scenario, { [fc.toStringMethod]: () => `\n${scenario.yaml}` });
}
