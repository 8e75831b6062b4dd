import { expect, test } from "vitest";
import { SECOND } from "../../../../../src/base/time.ts";
import { HEARTBEAT, OFFSET_COMMIT } from "../../../../../src/kafka/protocol/apis.ts";
import type { SelfAssignment } from "../../../../../src/nodes/consumer/group/group-options.ts";
import { TOPIC } from "../../../../support/fake-cluster.ts";
import { ScriptedGroup } from "../../../../support/scripted-group.ts";

const SECOND_HALF: SelfAssignment = { kind: "assigned", topic: TOPIC, partitions: [1] };

function group(configs: Record<string, unknown> = {}): ScriptedGroup {
  const made = new ScriptedGroup(configs, { subscription: SECOND_HALF });
  made.ends[0] = 5;
  made.ends[1] = 5;
  return made;
}

test("a consumer that assigns itself partitions reads those, from what is committed, and joins nothing", () => {
  const assigned = group();
  assigned.committed.set(1, 3);

  assigned.begin(60 * SECOND);

  expect(assigned.ownership).toEqual(["assigned 1"]);
  expect(assigned.polled(0)).toEqual([]);
  expect(assigned.polled(1)).toEqual([3, 4]);
  expect(assigned.asked).not.toContain("JoinGroup");
  expect(assigned.world.requestsOf(HEARTBEAT)).toEqual([]);
});

test("it commits as nobody in particular", () => {
  const assigned = group().begin(6 * SECOND);

  const [commit] = assigned.world.requestsOf(OFFSET_COMMIT);
  expect(commit).toMatchObject({ generationIdOrMemberEpoch: -1, memberId: "" });
  expect(assigned.committed).toEqual(new Map([[1, 5]]));
});

test("a group with members refuses its commits, and it reads on", () => {
  const assigned = group();
  assigned.errors.commit.push("UNKNOWN_MEMBER_ID");
  assigned.begin(6 * SECOND);

  assigned.ends[1] = 8;
  assigned.world.run(SECOND);

  const [ended] = assigned.world.factsOf("commit-ended");
  expect(ended).toMatchObject({ outcome: "failed", error: "UNKNOWN_MEMBER_ID" });
  expect(assigned.polled(1)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
});

test("closed, it commits what it has read, and has nothing to leave", () => {
  const assigned = group().begin(SECOND);

  assigned.consumer.onShutdown();
  assigned.world.run(SECOND);

  expect(assigned.committed.get(1)).toBe(5);
  expect(assigned.asked).not.toContain("LeaveGroup");
  expect(assigned.world.exited).toBe("closed");
});
