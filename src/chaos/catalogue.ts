import type { ShapeName } from "../scenario/random-faults.ts";
import type { Shape } from "./shape.ts";
import { ELECTIONS } from "./shapes/elections.ts";
import { FAIL_OVERS } from "./shapes/fail-overs.ts";
import { CLOCK_SKEW_SHAPE, DAMAGE, SLOW_DISK_SHAPE } from "./shapes/machines.ts";
import {
  BURST,
  ISOLATE_SHAPE,
  LOOSE_MESSAGES,
  PARTITION_SHAPE,
  RESET_SHAPE,
  SLOW_NETWORK,
  SWIZZLE,
} from "./shapes/network.ts";
import {
  CRASH_SHAPE,
  CRASH_WHILE_WRITING,
  PAUSE_SHAPE,
  POWER_CUT,
  SHUTDOWN_SHAPE,
} from "./shapes/processes.ts";
import { STALE_LEADER } from "./shapes/stale-leader.ts";
import { UNEVEN_LOGS } from "./shapes/uneven-logs.ts";

/** What each word of the language means. */
export const CATALOGUE: Readonly<Record<ShapeName, Shape>> = {
  crash: CRASH_SHAPE,
  "crash-while-writing": CRASH_WHILE_WRITING,
  "power-cut": POWER_CUT,
  shutdown: SHUTDOWN_SHAPE,
  pause: PAUSE_SHAPE,
  isolate: ISOLATE_SHAPE,
  partition: PARTITION_SHAPE,
  swizzle: SWIZZLE,
  "fail-overs": FAIL_OVERS,
  "stale-leader": STALE_LEADER,
  elections: ELECTIONS,
  "uneven-logs": UNEVEN_LOGS,
  "slow-network": SLOW_NETWORK,
  reset: RESET_SHAPE,
  "slow-disk": SLOW_DISK_SHAPE,
  "clock-skew": CLOCK_SKEW_SHAPE,
  burst: BURST,
  "loose-messages": LOOSE_MESSAGES,
  damage: DAMAGE,
};
