import { expect, test } from "vitest";
import { FetchPosition } from "../../../../src/kafka/client/fetch-position.ts";

/** A position at offset 10, the last record read being of epoch 2, under leader 1 of epoch 2. */
function reading(): FetchPosition {
  const position = new FetchPosition();
  position.seek(5, -1, 1, 2);
  position.advance(10, 2);
  return position;
}

test("a position without an epoch of its own needs no proof", () => {
  const position = new FetchPosition();
  position.seek(5, -1, 1, 2);

  position.followLeader(2, 3);

  expect(position.state).toBe("fetching");
  expect(position.leaderId).toBe(2);
});

test("a new leader epoch asks for proof, the same one does not", () => {
  const position = reading();

  expect(position.followLeader(1, 2)).toBe(false);
  expect(position.state).toBe("fetching");
  expect(position.followLeader(2, 3)).toBe(true);
  expect(position.state).toBe("await-validation");
});

test("a partition without a leader keeps its position as it is", () => {
  const position = reading();

  expect(position.followLeader(-1, 3)).toBe(false);
  expect([position.state, position.leaderId]).toEqual(["fetching", 1]);
});

test("an end offset at or above the position proves it, one below shows a truncation", () => {
  const proved = reading();
  const cut = reading();
  const lost = reading();
  for (const position of [proved, cut, lost]) position.followLeader(2, 3);

  expect(proved.completeValidation(10, 3, 2, 10)).toEqual({ kind: "valid" });
  expect(proved.state).toBe("fetching");
  expect(cut.completeValidation(10, 3, 2, 9)).toEqual({ kind: "truncated", offset: 9, epoch: 2 });
  expect(lost.completeValidation(10, 3, -1, -1)).toEqual({
    kind: "truncated",
    offset: -1,
    epoch: -1,
  });
});

test("an answer to an older question proves nothing", () => {
  const position = reading();
  position.followLeader(2, 3);
  position.followLeader(3, 4);

  expect(position.completeValidation(10, 3, 2, 20)).toEqual({ kind: "stale" });
  expect(position.state).toBe("await-validation");
});

test("a position never goes back by reading", () => {
  const position = reading();

  expect(() => position.advance(9, 2)).toThrow(/goes back/);
});
