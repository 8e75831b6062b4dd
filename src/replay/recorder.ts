import type { RunResult } from "../cluster/run-result.ts";
import type { Simulation } from "../cluster/simulation.ts";
import { CHECKPOINT_INTERVAL } from "../sim/digest.ts";
import { briefLine, eventLine } from "./event-line.ts";
import type { Recording, Stretch } from "./recording.ts";
import { packLines } from "./recording.ts";

/** Writes down the events of a run while it runs; only packed stretches are kept. */
export class Recorder {
  readonly #packed: Uint8Array[] = [];
  #lines: string[] = [];

  /** To be made before the run's first event. */
  constructor(simulation: Simulation) {
    simulation.listEvents(1, Number.MAX_SAFE_INTEGER, (record) => {
      this.#lines.push(briefLine(eventLine(record)));
      if (record.event % CHECKPOINT_INTERVAL === 0) this.#pack();
    });
  }

  #pack(): void {
    this.#packed.push(packLines(this.#lines));
    this.#lines = [];
  }

  /** To be called once, when the run is over; `text` is what its scenario's file held. */
  recording(result: RunResult, text: string, engine: string): Recording {
    if (this.#lines.length > 0) this.#pack();
    const { file, variant, seed, digest, events, checkpoints } = result;
    const stretches = this.#packed.map((packed, i): Stretch => {
      const { event, digest: then } = checkpoints[i] ?? { event: events, digest };
      return { event, digest: then, packed };
    });
    return { engine, file, text, variant, seed, digest, events, stretches };
  }
}
