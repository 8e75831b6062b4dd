import { complain, systemCode } from "./complain.ts";
import { EXIT } from "./exit-code.ts";

/**
 * A reader that has heard enough (`sim run ... | head -1`) ends nothing and is no mistake: the exit code
 * still says how the run came out. Output that cannot be kept, as on a full disk, is a mistake.
 */
export function guardOutput(): void {
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
