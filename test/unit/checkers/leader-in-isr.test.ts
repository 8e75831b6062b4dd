import { expect, test } from "vitest";
import { LEADER_IN_ISR } from "../../../src/checkers/leader-in-isr.ts";
import type { PartitionChanged } from "../../../src/trace/fact.ts";
import { History } from "../../support/fact-builders.ts";

function textAfter(change: Partial<PartitionChanged>): readonly string[] {
  const history = new History({ guarantees: [LEADER_IN_ISR] });
  history.registered("none", change);
  return history.violations().flatMap(({ text }) => text);
}

test("a leader outside the ISR is found", () => {
  expect(textAfter({ leader: 2, leaderEpoch: 5, isr: [1, 3] })).toEqual([
    "The controller made broker-2 leader in epoch 5 with the ISR {1,3}, where it is not.",
  ]);
});

test("no leader is in no ISR", () => {
  expect(textAfter({ leader: -1, isr: [], elr: [1] })).toEqual([]);
});

test("members that are no replicas are found", () => {
  expect(textAfter({ isr: [1, 2, 4], replicas: [1, 2, 3] })).toEqual([
    "broker-4 is in ISR {1,2,4} or ELR {}, but not among the replicas {1,2,3}.",
  ]);
});

test("a member of both ISR and ELR is found", () => {
  expect(textAfter({ isr: [1], elr: [1, 2] })).toEqual([
    "broker-1 is both in the ISR {1} and in the ELR {1,2}.",
  ]);
});

test("an ELR beside an ISR that is large enough is found, beside a small one it is right", () => {
  expect(textAfter({ isr: [1, 2], elr: [3], minInsyncReplicas: 2 })).toEqual([
    "The ELR is {3} although the ISR {1,2} has 2 or more.",
  ]);
  expect(textAfter({ isr: [1], elr: [3], minInsyncReplicas: 2 })).toEqual([]);
});

test("a fenced broker in the ISR is caught, unless it is the last and nobody leads", () => {
  const fenced = { kind: "broker-fenced", broker: 3, brokerEpoch: 3 } as const;
  const stays = new History({ guarantees: [LEADER_IN_ISR] });
  stays.note(fenced);
  const returns = new History({ guarantees: [LEADER_IN_ISR] });
  returns.registered("none", { isr: [1, 2] });
  returns.note(fenced);
  returns.registered("none");
  const last = new History({ guarantees: [LEADER_IN_ISR] });
  last.registered("none", { isr: [3], leader: -1, leaderEpoch: 1 });
  last.note(fenced);

  for (const bug of [stays, returns]) {
    expect(bug.violations().map(({ text }) => text)).toEqual([
      ["broker-3 is in the ISR {1,2,3}, though fenced."],
    ]);
  }
  expect(last.violations()).toEqual([]);
});
