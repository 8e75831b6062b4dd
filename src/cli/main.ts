import { Command, CommanderError, Option } from "commander";
import { COLOUR_CHOICES } from "./colour-choices.ts";
import { reportFailure } from "./complain.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import { writeShort } from "./output.ts";
import type { Asked } from "./perform.ts";
import { VERSION } from "./version.ts";

const AFTER_HELP = `
Try:
  sim run scenarios/leader-failover.yaml
  sim run scenarios/unclean-election.yaml --variant min-isr-2

Exit codes: 0 all expectations met, 1 one was not, or a file is damaged,
2 bad arguments or scenario, 3 inconclusive, 4 a replay that is not the run
recorded, 70 a bug of the simulator, 130 interrupted.`;

/** Builds the command line. It knows what was asked, and nothing of how it is done. */
function program(ask: (asked: Asked) => void): Command {
  const sim = plain(new Command("sim"))
    .usage("<command> [options]")
    .description("A deterministic simulator of an Apache Kafka cluster.")
    .version(VERSION, "-V, --version", "print the version")
    .helpCommand("help [command]", "show the help of a command")
    .addHelpText("after", AFTER_HELP);

  plain(sim.command("run"))
    .argument("<file>", "a scenario, such as scenarios/leader-failover.yaml")
    .summary("run a scenario and say whether what it expects came out")
    .description("Runs a scenario and says whether what it expects came out.")
    .option("--seed <n>", "another seed than the scenario's")
    .option("--variant <name>", "one of the scenario's variants")
    .option("--json", "print one JSON document instead of text")
    .option("--events <file>", "write every fact to a file, one JSON object a line")
    .option("--record <file>", "write the run down, so that `sim replay` can compare")
    .option("--verify", "run again in a second process and compare every event")
    .option("-v, --verbose", "show everything, not only what a first look needs")
    .addOption(colourOption())
    .addOption(new Option("--fingerprint <what>").hideHelp())
    .action((file, flags) => ask({ command: "run", file, flags }));

  plain(sim.command("explain"))
    .argument("<file>", "a scenario, such as scenarios/unclean-election.yaml")
    .summary("tell how it came to a violation, or what became of a record")
    .description(
      "Tells how it came to a violation, and what would have kept it: the same run is\n" +
        "made again without each fault, and with each safer setting. With --record it\n" +
        "tells what became of the record at an offset.",
    )
    .option("--seed <n>", "another seed than the scenario's")
    .option("--variant <name>", "one of the scenario's variants")
    .option("--violation <k>", "which violation of the run, from 1; the first bug by default")
    .option("--record <address>", "a partition and an offset, such as orders-0:415")
    .option("--json", "print one JSON document instead of text")
    .addOption(colourOption())
    .action((file, flags) => ask({ command: "explain", file, flags }));

  plain(sim.command("fuzz"))
    .argument("<file>", "a scenario; without `random-faults` the whole catalogue strikes")
    .summary("look for seeds in which a guarantee does not hold")
    .description(
      "Runs a scenario with one seed after another, each with random faults of its own,\n" +
        "and groups what fails. Runs that reach something rare are followed by others\n" +
        "like them.",
    )
    .option("--runs <n>", "how many runs are made (1000, unless --time is given)")
    .option("--time <duration>", "how long it goes on, as 10m")
    .option("--seed <n>", "the first seed; the scenario's, if not given")
    .option("--variant <name>", "one of the scenario's variants")
    .option("--workers <n>", "threads; as many as there are cores, if not given")
    .option("--bail <n>", "end when so many kinds of failure were found")
    .option("--shard <i/n>", "make only a part of the runs: 1/4")
    .option("--resume", "go on where the same campaign was interrupted")
    .option("--no-guidance", "seeds only, none that are bred from rare ones")
    .option("--unlimited", "let more befall the cluster than Kafka promises to survive")
    .option("--json", "print one JSON document instead of text")
    .addOption(colourOption())
    .action((file, flags) => ask({ command: "fuzz", file, flags }));

  plain(sim.command("shrink"))
    .argument("<file>", "a scenario, a recording or a token: something that fails")
    .summary("make a failing run as small as it can be")
    .description(
      "Makes a failing run as small as it can be while it fails in the same way: fewer\n" +
        "faults, clients, brokers and settings, less time. What is left is written down\n" +
        "as a scenario in which no fault is drawn.",
    )
    .option("--seed <n>", "another seed than the scenario's")
    .option("--variant <name>", "one of the scenario's variants")
    .option("--violation <k>", "which violation of the run, from 1; the first bug by default")
    .option("--time <duration>", "how long it may take, as 1m; as long as it takes, by default")
    .option("--out <file>", "where to write it; reports/NAME-SEED-min.yaml, if not given")
    .action((what, flags) => ask({ command: "shrink", what, flags }));

  plain(sim.command("selftest"))
    .summary("see that the search finds engines that are known to be broken")
    .description(
      "Breaks a rule of the protocol in each of several engines, and sees that the search\n" +
        "of `sim fuzz` finds it out, and finds nothing in the engine as it is.",
    )
    .option("--quick", "only those that are found within a few runs")
    .addOption(colourOption())
    .action((flags) => ask({ command: "selftest", flags }));

  plain(sim.command("replay"))
    .argument("<recording>", "a file that `sim run --record` wrote, or a token: kfs1:...")
    .summary("make a recorded run again, and see that it is the same")
    .description(
      "Makes a recorded run again and compares every event with the recording. A token\n" +
        "is a recording on one line, without its events.",
    )
    .option("--token", "print the recording as a token, and run nothing")
    .option("--json", "print one JSON document instead of text")
    .option("-v, --verbose", "show everything, not only what a first look needs")
    .addOption(colourOption())
    .action((what, flags) => ask({ command: "replay", what, flags }));

  plain(sim.command("check"))
    .argument("<files...>", "scenarios")
    .summary("report every mistake in scenarios, running nothing")
    .description("Reports every mistake in scenarios, running nothing.")
    .action((files) => ask({ command: "check", files }));

  plain(sim.command("list"))
    .argument("[directory]", "where to look", "scenarios")
    .summary("list the scenarios and their variants")
    .description("Lists the scenarios of a directory and their variants.")
    .action((directory) => ask({ command: "list", directory }));

  plain(sim.command("guarantees"))
    .argument("[names...]", "such as no-acked-loss; all of them, in short, if none is named")
    .summary("list the guarantees that every run watches")
    .description(
      "Lists the guarantees that every run watches, each with its sentence. Of those that\n" +
        "are named it tells when they are demanded, what tests them, and where they are\n" +
        "written down.",
    )
    .option("--json", "print one JSON document instead of text")
    .action((names, flags) => ask({ command: "guarantees", names, flags }));

  withDumpOptions(
    plain(sim.command("disk"))
      .usage("<file> [ls [path] | cat <path> | dump <paths...> | export <dir>]")
      .argument("<file>", "a scenario, such as scenarios/leader-failover.yaml")
      .argument("[what...]", "what to do with the disk's files: list them, if nothing is said")
      .summary("look at a simulated disk at an instant, or write it to a real one")
      .description(
        "Runs a scenario to an instant and shows the disk of one node, as a process there\n" +
          "would see it: ls lists files and what of each a loss of power would leave, cat\n" +
          "writes one to stdout, dump shows what is in it as `sim dump` does, export writes\n" +
          "all of them to a new directory, which a real Kafka can open.",
      )
      .option("--at <time>", "the instant, as 12.5s; the end of the run, if not given")
      .option("--broker <n>", "whose disk")
      .option("--controller <n>", "the disk of a controller instead")
      .option("--seed <n>", "another seed than the scenario's")
      .option("--variant <name>", "one of the scenario's variants"),
  ).action((file, words, flags) => ask({ command: "disk", file, words, flags }));

  withDumpOptions(plain(sim.command("dump")))
    .argument("<paths...>", "files of a log directory, or directories")
    .summary("show what Kafka's log files hold, real or exported ones")
    .description(
      "Shows what files of a log directory hold, in the columns of Kafka's own dump\n" +
        "tool: logs, indexes, snapshots, checkpoints. Directories are summarised. What\n" +
        "is damaged is told with the byte where it begins, and makes the exit code 1.",
    )
    .action((paths, flags) => ask({ command: "dump", paths, flags }));

  return sim;
}

function colourOption(): Option {
  return new Option("--color <when>", "colour in the output")
    .choices([...COLOUR_CHOICES])
    .default("auto");
}

/** By the names that they have in `kafka-dump-log.sh`. */
function withDumpOptions(command: Command): Command {
  return command
    .option("--print-data-log", "show records with their keys and values")
    .option("--deep-iteration", "show records, without keys and values")
    .option("--skip-record-metadata", "of records show only key and value")
    .option("--cluster-metadata-decoder", "read values as records of the metadata log")
    .option("--index-sanity-check", "check an index as a broker does when it starts")
    .option("--verify-index-only", "compare an index with its log, show no entries")
    .option("--max-bytes <n>", "how much of a log is read")
    .option("--json", "print one JSON document instead of text");
}

/** Help and errors that look the same on every terminal, and as the rest of our output does. */
function plain(command: Command): Command {
  const full = command.name() === "sim" ? "sim" : `sim ${command.name()}`;
  return command
    .helpOption("-h, --help", "show this help")
    .configureOutput({
      writeOut: (text) => writeShort("stdout", text),
      writeErr: (text) => writeShort("stderr", text),
      getOutHelpWidth: () => 80,
      getErrHelpWidth: () => 80,
      outputError: (message, write) => write(inOurWords(message)),
      getErrHasColors: () => false,
      getOutHasColors: () => false,
    })
    .showHelpAfterError(`  (${full} --help shows what there is)`)
    .exitOverride();
}

/** Commander's `'rum'\n(Did you mean run?)` as our `rum`; did you mean `run`? */
function inOurWords(message: string): string {
  return message
    .replace(/\n\(Did you mean (?!one of)(.*)\?\)/, "; did you mean '$1'?")
    .replace(/\n\(Did you mean (one of .*)\?\)/, "; did you mean $1?")
    .replaceAll(/'([^'\n]*)'/g, "`$1`");
}

async function main(): Promise<ExitCode> {
  const words = process.argv.slice(2);
  let asked: Asked | undefined;
  try {
    program((what) => {
      asked = what;
    }).parse(words, { from: "user" });
  } catch (problem) {
    // Commander has said by itself what was wrong; help and version end with 0.
    if (problem instanceof CommanderError) return problem.exitCode === 0 ? EXIT.ok : EXIT.usage;
    return reportFailure(problem, "sim");
  }
  if (asked === undefined) return EXIT.usage;
  const { perform } = await import("./perform.ts");
  return perform(asked, words);
}

void main().then((code) => {
  process.exitCode = code;
});
