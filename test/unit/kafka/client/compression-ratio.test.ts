import { expect, test } from "vitest";
import {
  CompressionRatio,
  estimateCompressed,
} from "../../../../src/kafka/client/compression-ratio.ts";

test("nothing is expected of a codec at first", () => {
  expect(new CompressionRatio().estimation).toBe(1);
});

test("good news is believed in steps of 0.005, down to what was seen", () => {
  const ratio = new CompressionRatio();

  ratio.learn(0.5);
  expect(ratio.estimation).toBeCloseTo(0.995, 6);
  for (let i = 0; i < 200; i++) ratio.learn(0.5);

  expect(ratio.estimation).toBe(0.5);
});

test("bad news is believed at once, and by 0.05 at least", () => {
  const ratio = new CompressionRatio();
  for (let i = 0; i < 200; i++) ratio.learn(0.5);

  ratio.learn(0.51);
  expect(ratio.estimation).toBeCloseTo(0.55, 6);
  ratio.learn(0.9);
  expect(ratio.estimation).toBeCloseTo(0.9, 6);
});

test("after a batch too large for the broker compression counts for nothing", () => {
  const ratio = new CompressionRatio();
  ratio.learn(0.5);

  ratio.reset(0.4);
  expect(ratio.estimation).toBe(1);
  ratio.reset(1.25);
  expect(ratio.estimation).toBe(1.25);
});

test("a batch is taken to come out by a twentieth larger than its ratio says, in single precision", () => {
  expect(estimateCompressed(1000, 1)).toBe(1050);
  expect(estimateCompressed(1000, 0.5)).toBe(525);
  // What Java makes of `(int) (bytes * ratio * 1.05f)`; without rounding they were 10499998.95 and 17616077.85.
  expect(estimateCompressed(9_999_999, 1)).toBe(10_499_998);
  expect(estimateCompressed(16_777_217, 1)).toBe(17_616_076);
});
