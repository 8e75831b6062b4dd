import type { DumpFlags } from "./dump-paths.ts";
import { dumpPaths } from "./dump-paths.ts";
import type { ExitCode } from "./exit-code.ts";
import { RealFiles } from "./real-files.ts";

/** `sim dump PATH...`: what files of a log directory hold, here or on a real broker's disk. */
export function dumpCommand(paths: readonly string[], flags: DumpFlags): Promise<ExitCode> {
  return dumpPaths(new RealFiles(), paths.map(withoutSlash), flags);
}

/** `orders-0/` names what `orders-0` does; `/` stays. */
function withoutSlash(path: string): string {
  return path.replace(/(?<=[^/])\/+$/, "");
}
