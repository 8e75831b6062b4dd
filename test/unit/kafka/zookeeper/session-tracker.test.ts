import { expect, test } from "vitest";
import { SECOND } from "../../../../src/base/time.ts";
import { SessionTracker } from "../../../../src/kafka/zookeeper/session-tracker.ts";

test("a session ends at the first tick after its timeout since it was heard of last", () => {
  const tracker = new SessionTracker();
  const id = tracker.open(6_000, SECOND);
  tracker.touch(id, 2 * SECOND);

  // 2 s + 6 s is 8 s, and ticks are every 3 s.
  expect(tracker.expire(9 * SECOND - 1)).toEqual([]);
  expect(tracker.expire(9 * SECOND)).toEqual([id]);
  expect(tracker.timeoutMs(id)).toBeUndefined();
});

test("what clients wish for is held between two ticks and twenty", () => {
  const tracker = new SessionTracker();

  expect(tracker.timeoutMs(tracker.open(10, 0))).toBe(6_000);
  expect(tracker.timeoutMs(tracker.open(10_000, 0))).toBe(10_000);
  expect(tracker.timeoutMs(tracker.open(600_000, 0))).toBe(60_000);
});

test("after a pause of the server all sessions have their whole time again", () => {
  const tracker = new SessionTracker();
  const id = tracker.open(6_000, 0);

  tracker.touchAll(100 * SECOND);

  expect(tracker.expire(105 * SECOND)).toEqual([]);
  expect(tracker.expire(108 * SECOND)).toEqual([id]);
});
