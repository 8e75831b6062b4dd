import type { FaultKind } from "./fault-kind.ts";
import { momentary } from "./fault-kind.ts";

/**
 * A topic grows. Its clients find out with their next metadata (`metadata.max.age.ms`): then members of groups join
 * again for what is new, and keys go elsewhere than the records before them.
 */
export const ADD_PARTITIONS: FaultKind = {
  name: "add-partitions",
  meaning: "Gives a topic more partitions, as `kafka-topics.sh --alter --partitions` does.",
  subject: { name: "add-partitions", type: "topic", meaning: "To which topic." },
  parameters: [
    { name: "total", type: "count", required: true, meaning: "How many it is to have then." },
  ],
  heals: false,
  lasts: false,
  prepare: (told) => {
    const topic = told.text("add-partitions");
    const total = told.number("total");
    return momentary(`${topic}, to ${total}`, ({ hands }) => hands.addPartitions(topic, total));
  },
};
