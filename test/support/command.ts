import { spawn, spawnSync } from "node:child_process";
import { chmodSync, closeSync, mkdtempSync, openSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

/** What came of a command. */
export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface How {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly uid?: number;
  /** A file to write to instead of a pipe. */
  readonly stdout?: string;
  /** Where it runs; the root of the repository, if not given. */
  readonly cwd?: string;
}

/** A directory for this test file, which others may look into. */
export const place: string = mkdtempSync(join(tmpdir(), "kafka-sim-"));
chmodSync(place, 0o755);
// Packages that are not in the command are looked for beside it, as where it is installed.
symlinkSync(resolve("node_modules"), join(place, "node_modules"));

/** The command as it is shipped. */
const command = join(place, "sim.cjs");
const built = spawnSync(process.execPath, ["build.mjs", "command", command], { encoding: "utf8" });
if (built.status !== 0) throw new Error(`the command cannot be built: ${built.stderr}`);

/** Nothing of the environment that the tests run in, but where programs are. */
const ENVIRONMENT = { PATH: process.env["PATH"] ?? "" };

/** Runs `sim WORDS` in the root of the repository, its output into pipes. */
export function sim(words: readonly string[], how: How = {}): Ended {
  return node([command, ...words], how);
}

export function node(words: readonly string[], how: How = {}): Ended {
  const { env, input = "", uid, cwd } = how;
  const output = how.stdout === undefined ? "pipe" : openSync(how.stdout, "w");
  const { status, stdout, stderr } = spawnSync(process.execPath, words, {
    encoding: "utf8",
    env: { ...ENVIRONMENT, ...env },
    input,
    maxBuffer: 1 << 26,
    stdio: ["pipe", output, "pipe"],
    ...(uid === undefined ? {} : { uid }),
    ...(cwd === undefined ? {} : { cwd }),
  });
  if (output !== "pipe") closeSync(output);
  return { status, stdout: stdout ?? "", stderr };
}

export interface Living {
  /** Ends the reading of stdout, as `head` does when it has enough. */
  hangUp(): void;
  signal(name: "SIGINT"): void;
}

/** Starts `sim WORDS` and calls `onOutput` at the first output; resolves when it has ended. */
export function simWhile(
  words: readonly string[],
  onOutput: (living: Living) => void,
): Promise<Ended> {
  const child = spawn(process.execPath, [command, ...words], {
    env: ENVIRONMENT,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    if (stdout === "") {
      const hangUp = (): void => void child.stdout.destroy();
      onOutput({ hangUp, signal: (name) => void child.kill(name) });
    }
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  return new Promise((resolve) => {
    child.on("close", (status) => resolve({ status, stdout, stderr }));
  });
}

/** Writes a file for a test; returns its path. */
export function written(name: string, content: string | Uint8Array): string {
  const file = join(place, name);
  writeFileSync(file, content);
  return file;
}
