import { writeSync } from "node:fs";
import { complain, systemCode } from "./complain.ts";
import { EXIT } from "./exit-code.ts";

let isGuarded = false;

/**
 * A reader that has heard enough (`sim run ... | head -1`) ends nothing and is no mistake: the exit code
 * still says how the run came out. Output that cannot be kept, as on a full disk, is a mistake.
 */
export function guardOutput(): void {
  if (isGuarded) return;
  isGuarded = true;
  process.stdout.on("error", (problem) => {
    const code = systemCode(problem);
    if (code === "EPIPE") return;
    complain(`the output cannot be written (${code ?? problem.message})`);
    process.once("exit", () => {
      process.exitCode = EXIT.usage;
    });
  });
  // There is nobody left to tell.
  process.stderr.on("error", () => {});
}

/** Writes a short text without the streams, which take Node a while to set up: help should not wait for them. */
export function writeShort(stream: "stdout" | "stderr", text: string): void {
  try {
    writeSync(stream === "stdout" ? 1 : 2, text);
  } catch (problem) {
    if (systemCode(problem) === "EPIPE") return;
    guardOutput();
    process[stream].write(text);
  }
}
