import { describe, expect, test } from "vitest";
import { DAY, HOUR, MINUTE, SECOND } from "../../../../src/base/time.ts";
import { resetPolicyOf } from "../../../../src/kafka/client/reset-policy.ts";
import { complainAboutConfig } from "../../../../src/kafka/config/config-table.ts";
import { CONSUMER_CONFIGS } from "../../../../src/kafka/config/consumer-configs.ts";

const complaint = (value: string): string | undefined =>
  complainAboutConfig(CONSUMER_CONFIGS["auto.offset.reset"], value);

describe("auto.offset.reset", () => {
  test.each(["latest", "earliest", "none"])("takes %s", (word) => {
    expect(complaint(word)).toBeUndefined();
    expect(resetPolicyOf(word)).toBe(word);
  });

  // What AutoOffsetResetStrategy of Kafka 4.3.1 makes of the same texts.
  test.each([
    ["by_duration:PT1H", HOUR],
    ["by_duration:+PT1H", HOUR],
    ["by_duration:PT90M", 90 * MINUTE],
    ["by_duration:P2D", 2 * DAY],
    ["by_duration:P1DT2H3M4.5S", 26 * HOUR + 3 * MINUTE + 4.5 * SECOND],
    ["by_duration:pt1,25s", 1.25 * SECOND],
    ["by_duration:PT1.S", SECOND],
    ["by_duration:PT0.0000015S", 1],
  ])("takes %s", (text, duration) => {
    expect(complaint(text)).toBeUndefined();
    expect(resetPolicyOf(text)).toBe(duration);
  });

  test.each([
    "by_duration",
    "by_duration:",
    "by_duration:P",
    "by_duration:PT",
    "by_duration:P1DT",
    "by_duration:1h",
    "by_duration:P1H",
    "by_duration:PT.5S",
    "by_duration:-PT1H",
    "by_duration:PT-1H",
    "BY_DURATION:PT1H",
    "Latest",
  ])("refuses %s", (text) => {
    expect(complaint(text)).toBe("must be one of latest, earliest, none, or like by_duration:PT1H");
  });
});
