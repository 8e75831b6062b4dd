import type { LogPlace } from "../ports/hands.ts";
import type { FaultKind } from "./fault-kind.ts";
import { NodeFault } from "./node-fault.ts";

/** No misfortune: an application asks how far logs go, and is told. */
export const ASK_OFFSETS: FaultKind = {
  name: "ask-offsets",
  meaning:
    "No fault: has a consumer's application ask where partitions begin or end (`beginningOffsets`, `endOffsets`), or which record was the first of a time (`offsetsForTimes`), and wait for the answer, which is told.",
  subject: { name: "ask-offsets", type: "consumers", meaning: "Which consumer." },
  parameters: [
    {
      name: "of",
      type: "partition",
      meaning: "Of which partition, assigned to it or not. Default: of all that are.",
    },
    {
      name: "which",
      type: "word",
      words: ["end", "beginning"],
      meaning:
        "Where it ends (the default), to who reads committed records only its last stable offset; or where it begins.",
    },
    {
      name: "timestamp",
      type: "moment",
      meaning:
        "Or the first record that has this timestamp, so long after the cluster was ready, or a later one; if negative, so long before now.",
    },
  ],
  heals: false,
  lasts: false,
  complain: (given) =>
    given.has("which") && given.has("timestamp")
      ? "`ask-offsets` takes `which` or `timestamp`, and not both"
      : undefined,
  prepare: (told) => {
    const partition = told.has("of") ? told.text("of") : undefined;
    const isTime = told.has("timestamp");
    const which: LogPlace = isTime
      ? { time: told.number("timestamp") }
      : told.word("which") === "end"
        ? "end"
        : "beginning";
    const what = isTime ? `records of ${told.text("timestamp")}` : told.word("which");
    return new NodeFault(
      told,
      "ask-offsets",
      ({ hands }, node) => hands.askOffsets(node, partition, which),
      () => undefined,
      `,${partition === undefined ? "" : ` ${partition}`} ${what}`,
    );
  },
};
