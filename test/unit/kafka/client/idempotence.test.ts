import { expect, test } from "vitest";
import {
  acksOf,
  complaintAboutIdempotence,
  isIdempotent,
} from "../../../../src/kafka/client/idempotence.ts";
import { resolveConfigs } from "../../../../src/kafka/config/config-table.ts";
import type { ProducerConfigs } from "../../../../src/kafka/config/producer-configs.ts";
import { PRODUCER_CONFIGS } from "../../../../src/kafka/config/producer-configs.ts";

function configs(given: Record<string, unknown>): ProducerConfigs {
  return resolveConfigs(PRODUCER_CONFIGS, given);
}

test("idempotence is on by default, and gives way to acks and retries unless it was asked for", () => {
  expect(isIdempotent(configs({}), false)).toBe(true);
  expect(isIdempotent(configs({ acks: "1" }), false)).toBe(false);
  expect(isIdempotent(configs({ retries: 0 }), false)).toBe(false);
  expect(complaintAboutIdempotence(configs({ acks: "1" }), false)).toBeUndefined();
  expect(isIdempotent(configs({ "enable.idempotence": false }), true)).toBe(false);
});

test("a producer refuses what idempotence, asked for, cannot work with", () => {
  expect(complaintAboutIdempotence(configs({ acks: "1" }), true)).toMatch(/acks=all/);
  expect(complaintAboutIdempotence(configs({ retries: 0 }), true)).toMatch(/retries/);
  const crowded = configs({ "max.in.flight.requests.per.connection": 6 });
  expect(complaintAboutIdempotence(crowded, false)).toMatch(/at most 5/);
  expect(complaintAboutIdempotence(configs({}), true)).toBeUndefined();
});

test("acks=all is -1", () => {
  expect(["all", "-1", "1", "0"].map((acks) => acksOf(configs({ acks })))).toEqual([-1, -1, 1, 0]);
});
