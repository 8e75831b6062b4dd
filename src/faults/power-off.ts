import { fail } from "../base/invariant.ts";
import { UNFLUSHED } from "../ports/hands.ts";
import type { FaultKind } from "./fault-kind.ts";
import { NodeFault } from "./node-fault.ts";

/** What was not flushed can be of any partition. */
const ALL_RECORDS = { log: undefined, offsets: undefined, reachesDurable: false };

/**
 * The machine loses power. The process dies, and so does the page cache: of what was written since
 * the last flush, the disk keeps what `unflushed` says. All nodes of the target fall at once.
 */
export const POWER_OFF: FaultKind = {
  name: "power-off",
  meaning: "Cuts the power: what was not flushed is lost. With `for` the power comes back.",
  subject: { name: "power-off", type: "servers", meaning: "Which machine loses power." },
  parameters: [
    {
      name: "unflushed",
      type: "word",
      words: UNFLUSHED,
      meaning: "What becomes of unflushed pages.",
    },
  ],
  heals: true,
  lasts: false,
  costs: "records",
  stops: true,
  prepare: (told) => {
    const word = told.word("unflushed");
    const mode = UNFLUSHED.find((one) => one === word) ?? fail(`no way to lose pages: ${word}`);
    return new NodeFault(
      told,
      "power-off",
      ({ hands }, node) => hands.powerOff(node, mode),
      ({ hands }, node) => hands.powerOn(node),
      `; unflushed pages ${mode}`,
      mode === "kept" ? [] : told.nodes("power-off").map((node) => ({ node, ...ALL_RECORDS })),
    );
  },
};
