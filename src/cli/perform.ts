import { shellWords } from "../report/shell-words.ts";
import { checkCommand } from "./check-command.ts";
import { reportFailure } from "./complain.ts";
import type { DiskFlags } from "./disk-command.ts";
import { diskCommand } from "./disk-command.ts";
import { dumpCommand } from "./dump-command.ts";
import type { DumpFlags } from "./dump-paths.ts";
import type { ExitCode } from "./exit-code.ts";
import type { ExplainFlags } from "./explain-command.ts";
import { explainCommand } from "./explain-command.ts";
import type { FuzzFlags } from "./fuzz-command.ts";
import { fuzzCommand } from "./fuzz-command.ts";
import type { GuaranteesFlags } from "./guarantees-command.ts";
import { guaranteesCommand } from "./guarantees-command.ts";
import { listCommand } from "./list-command.ts";
import { guardOutput } from "./output.ts";
import type { ReplayFlags } from "./replay-command.ts";
import { replayCommand } from "./replay-command.ts";
import type { RunFlags } from "./run-command.ts";
import { runCommand } from "./run-command.ts";

import type { SelftestFlags } from "./selftest-command.ts";
import { selftestCommand } from "./selftest-command.ts";
import type { ShrinkFlags } from "./shrink-command.ts";
import { shrinkCommand } from "./shrink-command.ts";

/** What was asked for, as the command line was understood. */
export type Asked =
  | { readonly command: "run"; readonly file: string; readonly flags: RunFlags }
  | { readonly command: "explain"; readonly file: string; readonly flags: ExplainFlags }
  | { readonly command: "fuzz"; readonly file: string; readonly flags: FuzzFlags }
  | { readonly command: "selftest"; readonly flags: SelftestFlags }
  | { readonly command: "shrink"; readonly what: string; readonly flags: ShrinkFlags }
  | { readonly command: "replay"; readonly what: string; readonly flags: ReplayFlags }
  | { readonly command: "check"; readonly files: readonly string[] }
  | { readonly command: "list"; readonly directory: string }
  | {
      readonly command: "guarantees";
      readonly names: readonly string[];
      readonly flags: GuaranteesFlags;
    }
  | {
      readonly command: "disk";
      readonly file: string;
      readonly words: readonly string[];
      readonly flags: DiskFlags;
    }
  | { readonly command: "dump"; readonly paths: readonly string[]; readonly flags: DumpFlags };

/** Does it. Never rejects: what goes wrong is told on stderr. `words` are the arguments as they were given. */
export async function perform(asked: Asked, words: readonly string[]): Promise<ExitCode> {
  guardOutput();
  try {
    switch (asked.command) {
      case "run":
        return await runCommand(asked.file, asked.flags);
      case "explain":
        return await explainCommand(asked.file, asked.flags);
      case "fuzz":
        return await fuzzCommand(asked.file, asked.flags);
      case "selftest":
        return await selftestCommand(asked.flags);
      case "shrink":
        return await shrinkCommand(asked.what, asked.flags);
      case "replay":
        return await replayCommand(asked.what, asked.flags);
      case "check":
        return checkCommand(asked.files);
      case "list":
        return listCommand(asked.directory);
      case "guarantees":
        return guaranteesCommand(asked.names, asked.flags);
      case "disk":
        return await diskCommand(asked.file, asked.words, asked.flags);
      case "dump":
        return await dumpCommand(asked.paths, asked.flags);
    }
  } catch (problem) {
    return reportFailure(problem, shellWords(["sim", ...words]));
  }
}
