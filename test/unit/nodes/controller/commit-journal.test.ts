import { expect, test } from "vitest";
import { CommitJournal } from "../../../../src/nodes/controller/commit-journal.ts";

test("a committed record is noted once, whoever of the controllers tells it again", () => {
  const journal = new CommitJournal();

  const first = [0, 1, 2].map((offset) => journal.isNew(offset, 1));
  const again = [0, 1, 2, 3].map((offset) => journal.isNew(offset, 1));

  expect(first).toEqual([true, true, true]);
  expect(again).toEqual([false, false, false, true]);
});

test("what an earlier leader appended and a later one commits is noted", () => {
  const journal = new CommitJournal();
  journal.isNew(0, 1);
  journal.isNew(5, 2);

  expect(journal.isNew(6, 1)).toBe(true);
});

test("a record of a newer epoch is noted, though one at its offset was lost after it had been noted", () => {
  const journal = new CommitJournal();
  for (const offset of [0, 1, 2, 3]) journal.isNew(offset, 1);

  // The only controller came back without 2 and 3.
  const told = [0, 1].map((offset) => journal.isNew(offset, 1));
  const written = [2, 3].map((offset) => journal.isNew(offset, 2));
  const again = [1, 2, 3].map((offset) => journal.isNew(offset, offset < 2 ? 1 : 2));

  expect(told).toEqual([false, false]);
  expect(written).toEqual([true, true]);
  expect(again).toEqual([false, false, false]);
});
