import { describe, expect, test } from "vitest";
import {
  boolean,
  complainAboutConfig,
  number,
  parseConfig,
  resolveConfigs,
  text,
} from "../../../../src/kafka/config/config-table.ts";
import { topicConfigsOf } from "../../../../src/kafka/config/topic-configs.ts";

const TABLE = {
  "linger.ms": number(5, 0),
  "enable.idempotence": boolean(true),
  acks: text("all", ["all", "0", "1"]),
} as const;

describe("configs are resolved", () => {
  test("to their defaults if nobody sets them", () => {
    expect(resolveConfigs(TABLE)).toEqual({
      "linger.ms": 5,
      "enable.idempotence": true,
      acks: "all",
    });
  });

  test("to what the last one sets who sets them at all", () => {
    const cluster = { "linger.ms": 10, acks: "1" };
    const own = { "linger.ms": 20, acks: undefined };

    expect(resolveConfigs(TABLE, cluster, own)).toMatchObject({ "linger.ms": 20, acks: "1" });
  });

  test("from text as a properties file has it", () => {
    const given = { "linger.ms": "7", "enable.idempotence": "false", acks: 1 };

    expect(resolveConfigs(TABLE, given)).toEqual({
      "linger.ms": 7,
      "enable.idempotence": false,
      acks: "1",
    });
  });

  test("without the names of other tables", () => {
    expect(resolveConfigs(TABLE, { "batch.size": 1 })).not.toHaveProperty(["batch.size"]);
  });
});

describe("a topic's config comes", () => {
  test("from the topic itself before the broker's, by the broker's own name for it", () => {
    const broker = { "min.insync.replicas": 2, "log.roll.ms": 1000 };

    const configs = topicConfigsOf({ "min.insync.replicas": "3" }, broker);

    expect(configs).toMatchObject({ "min.insync.replicas": 3, "segment.ms": 1000 });
  });

  test("from Kafka's defaults if neither sets it", () => {
    expect(topicConfigsOf({}, {})).toMatchObject({ "min.insync.replicas": 1 });
  });
});

describe("a value is complained about", () => {
  test.each([
    [number(1), "five", "takes a number"],
    [number(1), true, "takes a number"],
    [number(1), "", "takes a number"],
    [number(1), Number.NaN, "takes a number"],
    [number(1), "0x10", "takes a number"],
    [number(1), 1.5, "takes a whole number"],
    [number(1), "1.5", "takes a whole number"],
    [number(1, 0), -1, "must be at least 0"],
    [number(1, 0, 10), "11", "must be at most 10"],
    [{ ...number(1, -1, 9), except: 0 }, 0, "must not be 0"],
    [boolean(true), "yes", "takes a boolean"],
    [boolean(true), 1, "takes a boolean"],
    [text("a"), true, "takes a text"],
    [text("all", ["all", "0", "1"]), 2, "must be one of all, 0, 1"],
  ])("%o given %o: %s", (definition, value, complaint) => {
    expect(complainAboutConfig(definition, value)).toBe(complaint);
  });
});

describe("a value is taken", () => {
  test.each([
    [number(1, 0, 10), 0],
    [number(1, 0, 10), "10"],
    [number(1), "-3"],
    [boolean(true), "false"],
    [text("all", ["all", "0", "1"]), 0],
  ])("%o given %o", (definition, value) => {
    expect(complainAboutConfig(definition, value)).toBeUndefined();
    expect(parseConfig(definition, value)).toBeTypeOf(typeof definition.default);
  });
});
