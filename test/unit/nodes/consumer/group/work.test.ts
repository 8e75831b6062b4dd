import { describe, expect, test } from "vitest";
import { MILLISECOND, SECOND } from "../../../../../src/base/time.ts";
import { OFFSET_COMMIT } from "../../../../../src/kafka/protocol/apis.ts";
import type { CommitPolicy } from "../../../../../src/nodes/consumer/group/group-options.ts";
import { ScriptedGroup } from "../../../../support/scripted-group.ts";

/** One worker after the other draws how long its record takes. */
function pool(workers: number, milliseconds: readonly number[], mode: CommitPolicy["mode"]) {
  let drawn = 0;
  const pace = { draw: () => (milliseconds[drawn++] ?? 0) * MILLISECOND };
  const group = new ScriptedGroup(
    { "enable.auto.commit": false },
    { work: { pace, workers }, commit: { mode, when: "after" } },
    1,
  );
  group.ends[0] = milliseconds.length;
  return group;
}

function worked(group: ScriptedGroup): number[] {
  return group.world.factsOf("records-processed").map(({ firstOffset }) => firstOffset);
}

/** What was asked to be committed, in order. */
function commits(group: ScriptedGroup): (number | undefined)[] {
  return group.world
    .requestsOf(OFFSET_COMMIT)
    .map(({ topics }) => topics[0]?.partitions[0]?.committedOffset);
}

describe("a pool of workers", () => {
  test("begins in order and finishes as each finishes", () => {
    const group = pool(2, [300, 100, 100, 50], "auto").begin(SECOND);

    expect(worked(group)).toEqual([1, 2, 3, 0]);
  });

  test("polls again once all are done", () => {
    const group = pool(3, [10, 600, 10], "auto").begin(300 * MILLISECOND);
    group.ends[0] = 4;
    group.world.run(200 * MILLISECOND);

    expect(group.polled()).toEqual([0, 1, 2]);
    group.world.run(SECOND);
    expect(group.polled()).toEqual([0, 1, 2, 3]);
  });

  test("of one goes through them in order", () => {
    const group = pool(1, [300, 100, 100, 50], "each-finished").begin(SECOND);

    expect(worked(group)).toEqual([0, 1, 2, 3]);
    expect(commits(group)).toEqual([1, 2, 3, 4]);
  });
});

describe("a pool that commits as records are done", () => {
  const times = [300, 100, 200, 50, 10, 400];

  test("each-finished: passes over what is not done, and takes back what it has said", () => {
    const group = pool(2, times, "each-finished").begin(SECOND);

    expect(worked(group)).toEqual([1, 0, 2, 4, 3, 5]);
    expect(commits(group)).toEqual([2, 1, 3, 5, 4, 6]);
  });

  test("smallest-unfinished: never passes over what is not done, nor goes back", () => {
    const group = pool(3, times, "smallest-unfinished").begin(SECOND);

    expect(worked(group)).toEqual([1, 3, 4, 2, 0, 5]);
    expect(commits(group)).toEqual([5, 6]);
  });
});
