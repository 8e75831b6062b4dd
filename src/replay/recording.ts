import { decodeBase64url, encodeBase64url } from "../base/base64url.ts";
import { decodeUtf8, encodeUtf8 } from "../base/utf8.ts";
import { compressGzip, decompressGzip } from "../kafka/log/compression/gzip.ts";

/**
 * All that a run was: what makes it again, and what it must then do. The simulator's version is part of
 * it, since another one may run the same seed differently.
 */
export interface Recording {
  /** The version of the simulator that made it. */
  readonly engine: string;
  /** The scenario's file as it was named, and all that was in it. */
  readonly file: string;
  readonly text: string;
  readonly variant: string | undefined;
  readonly seed: string;
  /** Of the whole run: 16 hexadecimal digits. */
  readonly digest: string;
  readonly events: number;
  /** The events in order, cut where the digest has its checkpoints; none in a token. */
  readonly stretches: readonly Stretch[];
}

/** The events between two checkpoints. */
export interface Stretch {
  /** The number of the last of them. */
  readonly event: number;
  /** As it stood when that was mixed in. */
  readonly digest: string;
  /** A line for each, in brief, packed. */
  readonly packed: Uint8Array;
}

const SCHEMA = "sim-recording/1";
const TOKEN = "kfs1:";
const BEST = 9;

/** Lines of a stretch, packed so that a run of some ten thousand events makes a file of a few hundred KiB. */
export function packLines(lines: readonly string[]): Uint8Array {
  return compressGzip(encodeUtf8(lines.join("\n")), BEST);
}

export function unpackLines(packed: Uint8Array): readonly string[] {
  return decodeUtf8(decompressGzip(packed, 0, packed.length)).split("\n");
}

/** As the file that `sim run --record` writes: JSON, one line for the head and one for each stretch. */
export function encodeRecording(recording: Recording): string {
  const { stretches, ...head } = recording;
  const lines: unknown[] = [{ schema: SCHEMA, ...head }];
  for (const { event, digest, packed } of stretches) {
    lines.push({ event, digest, packed: encodeBase64url(packed) });
  }
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** Undefined if the text is no recording of this kind, or a damaged one. */
export function decodeRecording(text: string): Recording | undefined {
  try {
    const [head, ...rest] = text.trimEnd().split("\n");
    const recording = headOf(JSON.parse(head ?? ""));
    if (recording === undefined) return undefined;
    const stretches = rest.map((line) => stretchOf(JSON.parse(line)));
    if (stretches.at(-1)?.event !== recording.events) return undefined;
    return { ...recording, stretches };
  } catch {
    return undefined;
  }
}

/** A recording on one line, without its events: short enough for a chat if the scenario is small. */
export function encodeToken({ stretches: _, ...head }: Recording): string {
  const text = JSON.stringify({ schema: SCHEMA, ...head });
  return TOKEN + encodeBase64url(compressGzip(encodeUtf8(text), BEST));
}

export function isToken(text: string): boolean {
  return text.startsWith(TOKEN);
}

/** Undefined if the token is damaged: a letter lost or changed never makes another run of it. */
export function decodeToken(token: string): Recording | undefined {
  const packed = decodeBase64url(token.slice(TOKEN.length));
  if (packed === undefined) return undefined;
  try {
    return headOf(JSON.parse(decodeUtf8(decompressGzip(packed, 0, packed.length))));
  } catch {
    return undefined;
  }
}

function headOf(value: unknown): Recording | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const head = new Map<string, unknown>(Object.entries(value));
  if (head.get("schema") !== SCHEMA) return undefined;
  const [engine, file, text, seed, digest] = ["engine", "file", "text", "seed", "digest"].map(
    (key) => textOf(head.get(key)),
  );
  const variant = textOf(head.get("variant"));
  const events = head.get("events");
  if (engine === undefined || file === undefined || text === undefined) return undefined;
  if (seed === undefined || digest === undefined || typeof events !== "number") return undefined;
  return { engine, file, text, variant, seed, digest, events, stretches: [] };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Throws if it is none. */
function stretchOf(value: unknown): Stretch {
  const line = new Map<string, unknown>(Object.entries(Object(value)));
  const [event, digest] = [line.get("event"), line.get("digest")];
  const packed = decodeBase64url(textOf(line.get("packed")) ?? "!");
  if (typeof event !== "number" || typeof digest !== "string" || packed === undefined) {
    throw new Error("no stretch of a recording");
  }
  return { event, digest, packed };
}
