import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Violation } from "../../src/checkers/guarantee.ts";
import { GUARANTEES, watchedFor } from "../../src/checkers/registry.ts";
import { run, shipped, shippedNames } from "../support/run-scenario.ts";

const HARMFUL = shippedNames().filter((name) =>
  readFileSync(`scenarios/${name}.yaml`, "utf8").includes("violation:"),
);

/** As the guarantee itself puts it: what follows from another's verdict is told when all are known. */
function own(violations: readonly Violation[], name: string): Violation[] {
  return violations
    .filter(({ guarantee }) => guarantee === name)
    .map((violation) => ({ ...violation, follows: undefined }));
}

test.each(HARMFUL)(
  "each guarantee that %s breaks is judged without the others as among them",
  (name) => {
    const story = shipped(name);
    let harmed = 0;
    for (const one of [story, ...story.variants]) {
      const all = run(one, one.seed ?? 1);
      const broken = GUARANTEES.filter(
        (guarantee) => own(all.violations, guarantee.name).length > 0,
      );
      for (const guarantee of broken) {
        harmed++;
        const alone = run(one, one.seed ?? 1, { guarantees: watchedFor(guarantee.name) });
        expect(own(alone.violations, guarantee.name)).toEqual(own(all.violations, guarantee.name));
        expect(alone.digest).toBe(all.digest);
      }
    }
    expect(harmed).toBeGreaterThan(0);
  },
);
