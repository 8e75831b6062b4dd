import type { Simulation } from "../cluster/simulation.ts";
import { Recorder } from "../replay/recorder.ts";
import { encodeRecording } from "../replay/recording.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { EventFile } from "./event-file.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import { loadScenario, pickVariant, reportComplaints, reportWarnings } from "./load-scenario.ts";
import type { Company, ShowFlags } from "./play.ts";
import { exitCode, play, show } from "./play.ts";
import { seedOf } from "./seed.ts";
import { printFingerprint, verify } from "./verify.ts";
import { VERSION } from "./version.ts";
import { WrittenFile } from "./written-file.ts";

export interface RunFlags extends ShowFlags {
  readonly seed?: string;
  readonly variant?: string;
  readonly events?: string;
  readonly record?: string;
  readonly verify?: boolean;
  /** Hidden: prints the fingerprint that `--verify` compares. */
  readonly fingerprint?: string;
}

/** `sim run FILE`. Throws `UsageError` before anything is on stdout. */
export async function runCommand(file: string, flags: RunFlags): Promise<ExitCode> {
  const loaded = loadScenario(file);
  if (!reportComplaints(loaded) || loaded.scenario === undefined) return EXIT.usage;
  const scenario = pickVariant(loaded.scenario, flags.variant);
  const seed = seedOf(flags.seed, scenario);
  if (flags.fingerprint !== undefined) return printFingerprint(scenario, seed, flags.fingerprint);
  reportWarnings(loaded);
  const writers = [
    ...(flags.events === undefined ? [] : [factWriter(flags.events, file)]),
    ...(flags.record === undefined ? [] : [recordWriter(flags.record, file, loaded.text)]),
  ];
  const played = await play(scenario, seed, flags, {
    begun: (simulation) => {
      for (const writer of writers) writer.begun(simulation);
    },
    ended: (simulation, result) => {
      for (const writer of writers) writer.ended(simulation, result);
    },
  });
  if (typeof played === "number") return played;
  show(played, flags, triesOf(loaded.scenario, flags));
  if (played.isInterrupted) return EXIT.interrupted;
  if (flags.verify === true && !verify(played.result)) return EXIT.bug;
  return exitCode(played.result);
}

/** `--events`. */
function factWriter(path: string, scenario: string): Company {
  const file = new EventFile(WrittenFile.open("--events", path, scenario));
  return {
    begun(simulation: Simulation): void {
      const { clock } = simulation.cluster;
      simulation.onFact((fact, at, event) => file.write(fact, at, event, clock.zero));
    },
    ended: ({ cluster }) => file.close(cluster.clock.zero),
  };
}

/** `--record`. */
function recordWriter(path: string, scenario: string, text: string): Company {
  const file = WrittenFile.open("--record", path, scenario);
  let recorder: Recorder | undefined;
  return {
    begun(simulation: Simulation): void {
      recorder = new Recorder(simulation);
    },
    ended(_simulation, result): void {
      if (recorder === undefined) return;
      file.write(encodeRecording(recorder.recording(result, text, VERSION)));
      file.close();
    },
  };
}

/** The variants of what was run, with the same seed. */
function triesOf({ file, variants }: Scenario, { seed, variant }: RunFlags): string[][] {
  if (variant !== undefined) return [];
  const seeded = seed === undefined ? [] : ["--seed", seed];
  return variants.map((one) => ["sim", "run", file, ...seeded, "--variant", one.variant ?? ""]);
}
