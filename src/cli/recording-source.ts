import { readFileSync } from "node:fs";
import type { Recording } from "../replay/recording.ts";
import { decodeRecording, decodeToken, isToken } from "../replay/recording.ts";
import { systemCode, UsageError } from "./complain.ts";

/** A recording that a person named: a file, or a token itself. Throws `UsageError`. */
export function recordingFrom(what: string): Recording {
  return isToken(what) ? fromToken(what) : fromFile(what);
}

/** Is it a recording that is meant, and no scenario? */
export function isRecording(what: string): boolean {
  return isToken(what) || what.endsWith(".kfs");
}

function fromToken(token: string): Recording {
  const recording = decodeToken(token.trim());
  if (recording === undefined) {
    throw new UsageError("the token is damaged: a part is missing, or a letter was changed");
  }
  return recording;
}

function fromFile(path: string): Recording {
  const recording = decodeRecording(read(path));
  if (recording !== undefined) return recording;
  const hint = path.endsWith(".yaml") ? "; a scenario is run with `sim run`" : "";
  throw new UsageError(`${path} is no recording, or a damaged one${hint}`);
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (problem) {
    const code = systemCode(problem);
    if (code === "ENOENT" || code === "ENOTDIR") {
      throw new UsageError(`${path}: no such file; \`sim run --record FILE\` makes recordings`);
    }
    if (code === "EISDIR") throw new UsageError(`${path} is a directory; name a recording in it`);
    throw new UsageError(`${path} cannot be read (${code ?? String(problem)})`);
  }
}
