import type { FaultKind } from "./fault-kind.ts";
import { NodeFault } from "./node-fault.ts";

/** As numbers, as ListOffsets has them. */
const BEGINNING = -2;
const END = -1;

/** An application reads on elsewhere, whatever its group has committed (`KafkaConsumer.seek`). */
export const SEEK: FaultKind = {
  name: "seek",
  meaning:
    "Has a consumer's application read on elsewhere (`seek`, `seekToBeginning`, `seekToEnd`). If the partition is not assigned it dies of the exception.",
  subject: { name: "seek", type: "consumers", meaning: "Which consumer." },
  parameters: [
    { name: "of", type: "partition", required: true, meaning: "In which partition." },
    {
      name: "position",
      type: "position",
      required: true,
      meaning: "To which offset; or `beginning`, or `end`.",
    },
  ],
  heals: false,
  lasts: false,
  prepare: (told) => {
    const partition = told.text("of");
    const position = told.number("position");
    const to = position === BEGINNING ? "beginning" : position === END ? "end" : position;
    return new NodeFault(
      told,
      "seek",
      ({ hands }, node) => hands.seek(node, partition, to),
      () => undefined,
      `, ${partition} to ${to}`,
    );
  },
};
