import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeBase64url, encodeBase64url } from "../../../src/base/base64url.ts";
import { Simulation } from "../../../src/cluster/simulation.ts";
import { fingerprintOf } from "../../../src/replay/fingerprint.ts";
import { compareWithRecording } from "../../../src/replay/recorded-run.ts";
import { Recorder } from "../../../src/replay/recorder.ts";
import type { Recording } from "../../../src/replay/recording.ts";
import {
  decodeRecording,
  decodeToken,
  encodeRecording,
  encodeToken,
  isToken,
} from "../../../src/replay/recording.ts";
import { baseWith } from "../../support/base-scenario.ts";
import { scenarioOf } from "../../support/scenario-text.ts";

/** Longer than the distance of two checkpoints. */
const LONG = baseWith(["records: 100", "records: 2000"], ["settle: 5s", "settle: 30s"]);

function recorded(text: string, seed: string): Recording {
  const simulation = new Simulation(scenarioOf(text), { seed });
  const recorder = new Recorder(simulation);
  while (simulation.advance(1000)) {}
  return recorder.recording(simulation.finish(undefined), text, "0.0.1");
}

const RECORDING = recorded(LONG, "3");

test("recording a run does not change it", () => {
  const { digest, events } = fingerprintOf(scenarioOf(LONG), "3");

  expect(RECORDING).toMatchObject({ digest, events });
});

test("a recording is the same after it was written and read", () => {
  expect(decodeRecording(encodeRecording(RECORDING))).toEqual(RECORDING);
});

test("the recorded run, made again, is the same", () => {
  const now = fingerprintOf(scenarioOf(LONG), "3");

  expect(compareWithRecording(RECORDING, now, scenarioOf(LONG))).toBeUndefined();
});

test("of another run the first event that differs is named, as it was and as it is", () => {
  const other = scenarioOf(LONG.replace("2000", "2001"));
  const [was, is] = [RECORDING, recorded(LONG.replace("2000", "2001"), "3")];

  const difference = compareWithRecording(was, fingerprintOf(other, "3"), other);

  expect(difference).toMatchObject({ event: expect.any(Number) });
  const { event } = difference as { readonly event: number };
  expect(event).toBeGreaterThan(4096);
  // The same is found from the other side, and nothing before it differs.
  const back = compareWithRecording(is, fingerprintOf(scenarioOf(LONG), "3"), scenarioOf(LONG));
  expect(back).toMatchObject({ event });
});

test("a recording that ends within its file is refused", () => {
  const text = encodeRecording(RECORDING);

  for (const part of [0.1, 0.5, 0.9]) {
    expect(decodeRecording(text.slice(0, Math.floor(text.length * part)))).toBeUndefined();
  }
  expect(decodeRecording("version: 1\nname: no-recording\n")).toBeUndefined();
});

test("a token is the recording without its events", () => {
  const token = encodeToken(RECORDING);

  expect(isToken(token)).toBe(true);
  expect(decodeToken(token)).toEqual({ ...RECORDING, stretches: [] });
  expect(token).toMatch(/^kfs1:[A-Za-z0-9_-]+$/);
});

test("a token in which a letter was lost or changed makes no other run", () => {
  const token = encodeToken(RECORDING);
  const same = JSON.stringify(decodeToken(token));
  const makesNoOther = (damaged: string): boolean => {
    const decoded = decodeToken(damaged);
    // Some letters tell only when it was packed, and by whom.
    return decoded === undefined || JSON.stringify(decoded) === same;
  };

  for (let at = "kfs1:".length; at < token.length; at++) {
    const letter = token[at] === "A" ? "B" : "A";
    expect(makesNoOther(token.slice(0, at) + letter + token.slice(at + 1))).toBe(true);
    expect(makesNoOther(token.slice(0, at) + token.slice(at + 1))).toBe(true);
  }
});

test("a token that is replayed differently is known to differ", () => {
  const token = decodeToken(encodeToken(RECORDING)) as Recording;
  const other = scenarioOf(LONG.replace("2000", "2001"));

  expect(compareWithRecording(token, fingerprintOf(other, "3"), other)).toBe("unknown");
});

test("base64url is what Node makes of the same bytes", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const text = Buffer.from(bytes).toString("base64url");
      expect(encodeBase64url(bytes)).toBe(text);
      expect(decodeBase64url(text)).toEqual(new Uint8Array(bytes));
    }),
    { seed: 42, numRuns: 300 },
  );
});
