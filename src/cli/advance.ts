import type { Simulation } from "../cluster/simulation.ts";
import type { Interrupt } from "./interrupt.ts";
import { Progress } from "./progress.ts";

/** Events between two looks at the clock and at Ctrl-C. */
const SLICE = 20_000;

/** Runs to the end, or until Ctrl-C. Shows progress once it takes longer than a moment. */
export async function advance(
  simulation: Simulation,
  name: string,
  interrupt: Interrupt,
): Promise<void> {
  const progress = new Progress(name);
  try {
    while (!interrupt.happened && simulation.advance(SLICE)) {
      progress.showRun(simulation.now, simulation.events);
      // A moment in which a signal can arrive.
      await new Promise((resolve) => setImmediate(resolve));
    }
  } finally {
    progress.clear();
    interrupt.release();
  }
}
