import { judgeAlterPartition } from "./alter-partition.ts";
import type { ControllerRules } from "./decision.ts";
import { electLeader } from "./election.ts";

/** Kafka's rules. */
export const CONTROLLER_RULES: ControllerRules = { elect: electLeader, judgeAlterPartition };
