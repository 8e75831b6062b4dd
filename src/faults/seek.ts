import type { LogPlace } from "../ports/hands.ts";
import type { FaultArguments, FaultKind } from "./fault-kind.ts";
import { NodeFault } from "./node-fault.ts";

/** As numbers, as ListOffsets has them. */
const BEGINNING = -2;
const END = -1;

/** An application reads on elsewhere, whatever its group has committed (`KafkaConsumer.seek`). */
export const SEEK: FaultKind = {
  name: "seek",
  meaning:
    "Has a consumer's application read on elsewhere (`seek`, `seekToBeginning`, `seekToEnd`). What is not assigned to it cannot be sought: Kafka throws, which is told, and the application goes on.",
  subject: { name: "seek", type: "consumers", meaning: "Which consumer." },
  parameters: [
    {
      name: "of",
      type: "partition",
      meaning: "In which partition. Default: in all that are assigned to it.",
    },
    { name: "position", type: "position", meaning: "To which offset; or `beginning`, or `end`." },
    {
      name: "timestamp",
      type: "moment",
      meaning:
        "To the first record that has this timestamp, so long after the cluster was ready, or a later one (`offsetsForTimes`); if negative, so long before now. If there is none, to the end.",
    },
  ],
  heals: false,
  lasts: false,
  complain: (given) => {
    const isBoth = given.has("position") && given.has("timestamp");
    if (isBoth) return "`seek` takes `position` or `timestamp`, and not both";
    const isNeither = !given.has("position") && !given.has("timestamp");
    return isNeither ? "`seek` needs the key `position` or `timestamp`" : undefined;
  },
  prepare: (told) => {
    const partition = told.has("of") ? told.text("of") : undefined;
    const to = placeOf(told);
    const where = typeof to === "object" ? `records of ${told.text("timestamp")}` : to;
    return new NodeFault(
      told,
      "seek",
      ({ hands }, node) => hands.seek(node, partition, to),
      () => undefined,
      `,${partition === undefined ? "" : ` ${partition}`} to ${where}`,
    );
  },
};

function placeOf(told: FaultArguments): number | LogPlace {
  if (told.has("timestamp")) return { time: told.number("timestamp") };
  const position = told.number("position");
  if (position === BEGINNING) return "beginning";
  return position === END ? "end" : position;
}
