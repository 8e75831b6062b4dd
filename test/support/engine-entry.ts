/** What long tests need of the core, for one bundle. */
export { Simulation } from "../../src/cluster/simulation.ts";
export { ERRORS } from "../../src/kafka/error-code.ts";
export { readScenario } from "../../src/scenario/read-scenario.ts";
