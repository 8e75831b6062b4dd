/** What long tests need of the core, for one bundle. */
export { Simulation } from "../../src/cluster/simulation.ts";
export { explain, recordUntil } from "../../src/explain/explain.ts";
export { livesOf } from "../../src/explain/record-life.ts";
export { explicitScenario } from "../../src/fuzz/explicit-scenario.ts";
export { playCase } from "../../src/fuzz/play-case.ts";
export { scenarioIn } from "../../src/fuzz/scenario-in.ts";
export { fallOf } from "../../src/fuzz/shrink/fall.ts";
export { regression } from "../../src/fuzz/shrink/regression.ts";
export { shrink } from "../../src/fuzz/shrink/shrink.ts";
export { ERRORS } from "../../src/kafka/error-code.ts";
export { explanationLines } from "../../src/report/explanation-text.ts";
export { readScenario } from "../../src/scenario/read-scenario.ts";
