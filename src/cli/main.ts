import { Command, CommanderError, Option } from "commander";
import { COLOUR_CHOICES } from "./colour-choices.ts";
import { reportFailure } from "./complain.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import { VERSION } from "./version.ts";

const EXIT_CODES = `
Exit codes: 0 all expectations met, 1 one was not, 2 bad arguments or scenario,
3 inconclusive, 70 a bug of the simulator, 130 interrupted.`;

/** Builds the command line; what a command needs is loaded only when it runs. */
function program(finish: (code: ExitCode) => void): Command {
  const sim = new Command("sim")
    .description("A deterministic simulator of an Apache Kafka cluster.")
    .version(VERSION, "-V, --version", "print the version")
    .addHelpText("after", EXIT_CODES)
    .showHelpAfterError("(sim --help shows the commands)")
    .exitOverride();

  sim
    .command("run")
    .argument("<file>", "a scenario, such as scenarios/leader-failover.yaml")
    .description("run a scenario and say whether what it expects came out")
    .option("--seed <n>", "another seed than the scenario's")
    .option("--variant <name>", "one of the scenario's variants")
    .option("--json", "print one JSON document instead of text")
    .option("--events <file>", "write every fact to a file, one JSON object a line")
    .option("--verify", "run again in a second process and compare every event")
    .option("-v, --verbose", "show everything, not only what a first look needs")
    .addOption(
      new Option("--color <when>", "colour in the output")
        .choices([...COLOUR_CHOICES])
        .default("auto"),
    )
    .addOption(new Option("--fingerprint <what>").hideHelp())
    .action(async (file, flags) => {
      const { runCommand } = await import("./run-command.ts");
      finish(await runCommand(file, flags));
    });

  sim
    .command("check")
    .argument("<files...>", "scenarios")
    .description("read scenarios and report every mistake in them, running nothing")
    .action(async (files) => {
      const { checkCommand } = await import("./check-command.ts");
      finish(checkCommand(files));
    });

  sim
    .command("list")
    .argument("[directory]", "where to look", "scenarios")
    .description("list the scenarios and their variants")
    .action(async (directory) => {
      const { listCommand } = await import("./list-command.ts");
      finish(listCommand(directory));
    });

  return sim;
}

async function main(): Promise<ExitCode> {
  let code: ExitCode = EXIT.ok;
  try {
    await program((result) => {
      code = result;
    }).parseAsync();
  } catch (problem) {
    // Commander has said by itself what was wrong; help and version end with 0.
    if (problem instanceof CommanderError) return problem.exitCode === 0 ? EXIT.ok : EXIT.usage;
    return reportFailure(problem, `sim ${process.argv.slice(2).join(" ")}`);
  }
  return code;
}

void main().then((code) => {
  process.exitCode = code;
});
