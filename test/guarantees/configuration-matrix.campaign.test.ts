import { beforeAll, describe, expect, test } from "vitest";
import type { RunResult } from "../../src/cluster/run-result.ts";
import { runsOf } from "../support/campaign-runs.ts";
import { playSeeds } from "../support/campaign-tally.ts";
import { isGap } from "../support/known-gaps.ts";
import { run } from "../support/run-scenario.ts";
import type { Cell, Column, Expected, Row } from "./configuration-matrix.ts";
import { COLUMNS, MATRIX, ROWS, SET_ANEW } from "./configuration-matrix.ts";
import { SCENES, SETTINGS, underFaults } from "./configuration-scenes.ts";

const SEEDS = runsOf(12, 200);
/** A scene need not show it in every seed. */
const TRIES = 5;

const CELLS = (Object.keys(MATRIX) as Row[]).flatMap((row) =>
  COLUMNS.map((column) => ({ row, column, cell: ours(MATRIX[row][column]) })),
);

function ours(cell: Cell): "never" | "later" | Expected {
  return typeof cell === "object" && "but" in cell ? cell.but : cell;
}

/** What of a row happened in a run: the causes that permit it; BUG if none does. */
function shown(row: Row, result: RunResult): string[] {
  const kinds: readonly string[] = ROWS[row];
  const found = result.violations
    .filter(({ kind }) => kinds.includes(kind))
    .map(({ kind, permitted }) => permitted ?? `BUG ${kind}`);
  if (!kinds.includes(SET_ANEW)) return found;
  // Connections are reset, too.
  const resets = result.timeline.filter(
    ({ verb, text }) => verb === SET_ANEW && text.includes("->"),
  );
  return [...found, ...resets.map(({ text, note }) => `${text} ${note}`)];
}

describe("what is expected happens, and is permitted by its cause", () => {
  const expected = CELLS.flatMap(({ row, column, cell }) =>
    typeof cell === "object" ? [{ row, column, ...cell }] : [],
  );
  const played = new Map<string, RunResult>();
  const play = (scene: string, seed: number): RunResult => {
    const key = `${scene} ${seed}`;
    const known = played.get(key) ?? run((SCENES[scene] as () => never)(), seed);
    played.set(key, known);
    return known;
  };

  test.each(expected)("$row, $column", ({ row, scene, cause }) => {
    const causes: string[] = [];
    for (let seed = 1; seed <= TRIES && !causes.some((one) => cause.test(one)); seed++) {
      causes.push(...shown(row, play(scene, seed)));
    }

    expect(causes.filter((one) => one.startsWith("BUG"))).toEqual([]);
    expect(causes.filter((one) => cause.test(one))).not.toEqual([]);
  });
});

describe(`what must never happen does not, in ${SEEDS} seeds of faults that try`, () => {
  const columns = COLUMNS.filter((column) => SETTINGS[column] !== undefined);
  const found = new Map<string, string[]>();
  let elections = 0;

  beforeAll(async () => {
    for (const column of columns) {
      const scenario = underFaults(SETTINGS[column] ?? {});
      await playSeeds(SEEDS, (seed) => note(column, seed, run(scenario, seed)));
    }
  });

  function note(column: Column, seed: number, result: RunResult): void {
    if (result.timeline.some(({ verb }) => verb === "elect")) elections++;
    for (const row of Object.keys(ROWS) as Row[]) {
      const key = `${row} ${column}`;
      for (const cause of shown(row, result)) {
        // With no settings does Kafka keep that.
        if (isGap(cause, ["producerSnapshots"])) continue;
        const list = found.get(key) ?? [];
        list.push(`${seed}: ${cause}`);
        found.set(key, list);
      }
    }
  }

  const never = CELLS.filter(({ column, cell }) => cell === "never" && columns.includes(column));

  test.each(never)("$row, $column", ({ row, column }) => {
    expect(found.get(`${row} ${column}`) ?? []).toEqual([]);
  });

  test("and the faults do try: leaders change in most runs", () => {
    expect(elections).toBeGreaterThan((columns.length * SEEDS) / 2);
  });
});

test("the matrix is whole: of each cell it is said what may happen, or with which issue it comes", () => {
  const untried = CELLS.filter(
    ({ column, cell }) => cell === "never" && SETTINGS[column] === undefined,
  );
  const laterRows = (Object.keys(ROWS) as Row[]).filter((row) => ROWS[row].length === 0);

  expect(untried).toEqual([]);
  for (const { row, column, cell } of CELLS) {
    const isLater =
      laterRows.includes(row) || column === "subscribe" || column === "transactions v1";
    expect(cell === "later", `${row}, ${column}`).toBe(isLater);
  }
});
