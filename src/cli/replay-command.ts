import { tellDifference } from "../replay/compare-runs.ts";
import { compareWithRecording } from "../replay/recorded-run.ts";
import type { Recording } from "../replay/recording.ts";
import { encodeToken } from "../replay/recording.ts";
import { readScenario } from "../scenario/read-scenario.ts";
import { UsageError } from "./complain.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import { pickVariant, reportComplaints } from "./load-scenario.ts";
import type { ShowFlags } from "./play.ts";
import { exitCode, play, show } from "./play.ts";
import { recordingFrom } from "./recording-source.ts";
import { VERSION } from "./version.ts";

export interface ReplayFlags extends ShowFlags {
  readonly token?: boolean;
}

/** `sim replay RECORDING`. Throws `UsageError` before anything is on stdout. */
export async function replayCommand(what: string, flags: ReplayFlags): Promise<ExitCode> {
  const recording = recordingFrom(what);
  if (flags.token === true) {
    process.stdout.write(`${encodeToken(recording)}\n`);
    return EXIT.ok;
  }
  const { file, text, variant, seed } = recording;
  const { scenario: whole, complaints, warnings } = readScenario(text, file);
  if (!reportComplaints({ text, scenario: whole, complaints, warnings }) || whole === undefined) {
    throw new UsageError(`the recording was made by sim ${recording.engine}; this is ${VERSION}`);
  }
  const scenario = pickVariant(whole, variant);
  const played = await play(scenario, seed, flags);
  if (typeof played === "number") return played;
  const { result, isInterrupted } = played;
  if (isInterrupted) {
    show(played, flags, []);
    return EXIT.interrupted;
  }
  const difference = compareWithRecording(recording, result, scenario);
  if (difference !== undefined) {
    process.stdout.write(`${diverged(recording, difference, result.digest)}\n`);
    return EXIT.diverged;
  }
  show(played, flags, []);
  process.stderr.write(`replayed: the same ${result.events} events as recorded\n`);
  return exitCode(result);
}

function diverged(
  { engine, digest }: Recording,
  difference: Exclude<ReturnType<typeof compareWithRecording>, undefined>,
  now: string,
): string {
  const what =
    difference === "unknown"
      ? `DIVERGED  trace ${digest} when it was recorded, ${now} now`
      : tellDifference(difference, ["recorded", "now"]);
  return engine === VERSION
    ? what
    : `${what}\n  It was recorded by sim ${engine}, and this is ${VERSION}: see CHANGELOG.md.`;
}
