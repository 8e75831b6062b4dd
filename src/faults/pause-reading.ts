import type { Undo } from "../ports/hands.ts";
import type { FaultKind } from "./fault-kind.ts";
import { NodeFault } from "./node-fault.ts";

/**
 * An application has all that it can take and asks for no more, but goes on to poll, so that it stays in its
 * group (`KafkaConsumer.pause`).
 */
export const PAUSE_READING: FaultKind = {
  name: "pause-reading",
  meaning:
    "Has a consumer's application pause partitions, and poll on (`KafkaConsumer.pause`). With `for` it resumes them.",
  subject: { name: "pause-reading", type: "consumers", meaning: "Which consumer." },
  parameters: [
    {
      name: "of",
      type: "partition",
      meaning: "Which partition; Kafka throws if it is not assigned. Default: all that it has.",
    },
  ],
  heals: true,
  lasts: true,
  prepare: (told) => {
    const partition = told.has("of") ? told.text("of") : undefined;
    const undo: Undo[] = [];
    return new NodeFault(
      told,
      "pause-reading",
      ({ hands }, node) => undo.push(hands.pauseReading(node, partition)),
      () => undo.shift()?.(),
      partition === undefined ? "" : `, ${partition}`,
    );
  },
};
