import { CLOCK_SKEW } from "./clock-skew.ts";
import { CRASH } from "./crash.ts";
import { DELAY_LINK } from "./delay-link.ts";
import { DROP } from "./drop.ts";
import { DUPLICATE } from "./duplicate.ts";
import type { FaultKind } from "./fault-kind.ts";
import { ISOLATE } from "./isolate.ts";
import { MARK } from "./mark.ts";
import { PARTITION } from "./partition.ts";
import { PAUSE } from "./pause.ts";
import { POWER_OFF } from "./power-off.ts";
import { POWER_ON } from "./power-on.ts";
import { REORDER } from "./reorder.ts";
import { RESET } from "./reset.ts";
import { RESTART } from "./restart.ts";
import { RESUME } from "./resume.ts";
import { SHUTDOWN } from "./shutdown.ts";
import { SLOW_DISK } from "./slow-disk.ts";
import { SLOW_LINK } from "./slow-link.ts";
import { STOP_CLIENT } from "./stop-client.ts";

/** Every kind of misfortune. One more is a file in this folder and a line here. */
export const FAULT_KINDS: readonly FaultKind[] = [
  CRASH,
  RESTART,
  SHUTDOWN,
  PAUSE,
  RESUME,
  POWER_OFF,
  POWER_ON,
  ISOLATE,
  PARTITION,
  DELAY_LINK,
  SLOW_LINK,
  RESET,
  DROP,
  DUPLICATE,
  REORDER,
  SLOW_DISK,
  CLOCK_SKEW,
  STOP_CLIENT,
  MARK,
];
