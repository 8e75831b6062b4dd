import { expect, test } from "vitest";
import { GUARANTEES } from "../../../src/checkers/registry.ts";
import { History } from "../../support/fact-builders.ts";

test("an orderly history of a change of leader holds every guarantee that it exercises", () => {
  const history = new History();
  history.failedAttempt();
  for (let value = 0; value < 20; value += 2) {
    const batch = history.commit([value, value + 1]);
    history.ack([value, value + 1], value).poll([batch]);
  }
  history.write([20]);
  history.stop(1).elect(2, { isr: [2, 3] });
  history.restart(1).follow(1).truncate(1, 20);
  const last = history.commit([20]);
  history.copy([1]).shrink([1, 2, 3]).ack([20], 20).poll([last]).commit([21]);

  expect(history.violations()).toEqual([]);
  const states = history.checkers.summaries().map(({ name, state }) => `${name} ${state}`);
  expect(states).toEqual([
    "no-acked-loss held",
    "no-duplicates held",
    "sequences-in-order held",
    "no-reorder held",
    "no-divergence held",
    "committed-prefix-kept held",
    "last-value-kept untested",
    "expired-only-by-policy untested",
    "cleaned-below-hw untested",
    "markers-outlive-data untested",
    "offsets-never-change untested",
    "log-in-bounds held",
    "one-leader-per-epoch held",
    "leader-in-isr held",
    "clean-election held",
    "epochs-rise held",
    "isr-grows-by-request held",
    "isr-join-caught-up held",
    "isr-known-to-leader held",
    "hw-within-isr held",
    "hw-needs-min-isr untested",
    "candidates-complete held",
    "ack-after-commit held",
    "copy-left held",
    "appends-in-role held",
    // Nothing was above the high watermark when something was read.
    "promise-kept held",
    "no-dirty-read untested",
    "coordinator-knows-log untested",
    "decision-once untested",
    "records-in-own-transaction untested",
    "fenced-stays-fenced untested",
    "one-producer-per-epoch untested",
    "markers-follow-decision untested",
    "told-as-decided untested",
    "last-stable-offset untested",
    "no-aborted-read untested",
    "assignment-disjoint untested",
    "one-owner untested",
    "group-epochs-rise untested",
    "commits-by-members untested",
    "commits-what-was-read untested",
    "commits-kept untested",
    "consistent-read held",
    "end-not-behind untested",
    "one-controller-per-epoch untested",
    "metadata-agrees untested",
    "metadata-kept untested",
    "offsets-agree held",
    "seen-once held",
    "acked-gets-read held",
    "failed-never-read untested",
    "polls-in-order held",
    "reads-complete held",
    "readers-agree untested",
    "acks-in-order held",
    "appends-in-real-time held",
    "transactions-whole untested",
    "processed-as-promised untested",
    "worked-on-once untested",
    "cluster-recovers untested",
    "isr-requests-end untested",
    "isr-refills untested",
    "replicas-converge untested",
    "acked-everywhere untested",
    "work-goes-on untested",
    "group-settles untested",
    "groups-catch-up untested",
    "transactions-end untested",
    "sends-end untested",
  ]);
});

test("a history in which nothing happens leaves every guarantee untested", () => {
  const history = new History();

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries().map(({ state }) => state)).toEqual(
    GUARANTEES.map(() => "untested"),
  );
});

test("what one unclean election breaks is one finding, led by the first guarantee of the registry", () => {
  const history = new History({ topic: { uncleanLeaderElection: true }, minInsyncReplicas: 1 });
  history.commit([0]);
  history.shrink([1]);
  const lost = history.commit([1, 2]);
  history.ack([1, 2], 1).poll([lost]);

  history.stop(1).elect(3, { isr: [3], election: "unclean" });

  expect(
    history.violations().map(({ kind, follows, permitted }) => ({ kind, follows, permitted })),
  ).toEqual([
    { kind: "acked-record-lost", follows: undefined, permitted: expect.any(String) },
    { kind: "committed-record-truncated", follows: 0, permitted: expect.any(String) },
    { kind: "consumed-record-lost", follows: 0, permitted: expect.any(String) },
  ]);
});

test("violations come in the order of their events, and two causes are two findings", () => {
  const history = new History();
  history.write([0]);
  history.copy([2]).highWatermark(1, 1);
  history.ack([0], 0);

  history.elect(3, { isr: [2, 3] });

  expect(history.violations().map(({ kind, follows }) => [kind, follows])).toEqual([
    ["hw-beyond-isr", undefined],
    ["acked-record-lost", undefined],
    ["committed-record-truncated", 1],
  ]);
});

test("each guarantee has its name and kinds once, and an example that shows its kind", () => {
  const names = GUARANTEES.map(({ name }) => name);
  const kinds = GUARANTEES.flatMap((guarantee) => guarantee.kinds);

  expect(new Set(names).size).toBe(names.length);
  expect(new Set(kinds).size).toBe(kinds.length);
  for (const { kinds: own, example } of GUARANTEES)
    expect(own).toContain(example[0]?.split(" ")[0]);
});
