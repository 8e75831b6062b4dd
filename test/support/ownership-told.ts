import type { Fact } from "../../src/trace/fact.ts";
import { TOPIC } from "./fake-cluster.ts";

/** What happened to a member's partitions, in order: `assigned 0 1`. */
export function ownershipTold(notes: readonly Fact[]): string[] {
  return notes.flatMap((fact) => {
    switch (fact.kind) {
      case "partitions-assigned":
      case "partitions-revoked":
      case "partitions-lost": {
        const numbers = fact.partitions.map((name) => name.slice(TOPIC.length + 1));
        return [[fact.kind.slice("partitions-".length), ...numbers].join(" ")];
      }
      case "zookeeper-rebalance-ended":
        return fact.outcome === "owned" ? [] : [`${fact.outcome} ${fact.attempt}`];
      default:
        return [];
    }
  });
}
