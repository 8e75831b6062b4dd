// Kept because it is the first run that a newcomer sees: what it prints changes only if that is meant.
// To renew after such a change: npm run golden:update
import { expect, test } from "vitest";
import { sim } from "../support/command.ts";

const COMMAND = ["run", "scenarios/leader-failover.yaml", "--seed", "42"];

test("the first run prints what it always has, to the byte, in any process", async () => {
  const one = sim(COMMAND);
  const other = sim(COMMAND);

  expect(other).toEqual(one);
  expect(one.status).toBe(0);
  expect(one.stderr).toBe("");
  await expect(one.stdout).toMatchFileSnapshot("leader-failover.txt");
});

test("the first run is the same in a second process, event by event, as --verify finds", () => {
  const ended = sim([...COMMAND, "--verify"]);

  expect(ended.stderr).toMatch(/^verified: the same \d{4,} events in a second process\n$/);
  expect(ended.status).toBe(0);
});
