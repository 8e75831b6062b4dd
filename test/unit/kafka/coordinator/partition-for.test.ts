import { expect, test } from "vitest";
import { partitionFor } from "../../../../src/kafka/coordinator/partition-for.ts";

// `Utils.abs(key.hashCode()) % 50`, as Java computes it.
test.each([
  ["", 0],
  ["a", 97 % 50],
  ["orders-app", 772_757_305 % 50],
  ["console-consumer-1", 35_782_224 % 50],
  // The one text here whose hash is -2^31: its absolute value is taken for 0.
  ["polygenelubricants", 0],
  ["\u00fcber", 7_604_755 % 50],
])("%j is kept where Java's hash code says", (key, partition) => {
  expect(partitionFor(key, 50)).toBe(partition);
});
