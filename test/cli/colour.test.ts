import { expect, test } from "vitest";
import { isColoured } from "../../src/cli/colour.ts";

/** What only a terminal can show, and what no test of the whole command therefore sees. */
test.each([
  ["on a terminal", "auto", true, {}, true],
  ["elsewhere", "auto", false, {}, false],
  ["on a terminal with NO_COLOR", "auto", true, { NO_COLOR: "1" }, false],
  ["on a terminal with an empty NO_COLOR", "auto", true, { NO_COLOR: "" }, true],
  ["on a dumb terminal", "auto", true, { TERM: "dumb" }, false],
  ["on a dumb terminal, forced", "auto", true, { TERM: "dumb", FORCE_COLOR: "1" }, true],
  ["on a terminal with FORCE_COLOR=0", "auto", true, { FORCE_COLOR: "0" }, false],
  ["on a terminal, refused", "never", true, {}, false],
  ["elsewhere, asked for", "always", false, { NO_COLOR: "1" }, true],
])(
  "%s, --color %s: on a terminal %s, %o, coloured %s",
  (_what, choice, isTerminal, env, expected) => {
    expect(isColoured(choice, isTerminal, env)).toBe(expected);
  },
);
