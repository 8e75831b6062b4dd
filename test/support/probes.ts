import type { Fact } from "../../src/trace/fact.ts";

/** Things worth reaching: a campaign about them that never reaches one has tested nothing of it. */
export const PROBES = {
  "leader change": (fact) =>
    fact.kind === "partition-changed" && fact.election !== "none" && fact.leader >= 0,
  "no leader": (fact) => fact.kind === "partition-changed" && fact.leader < 0,
  "election from the ELR": (fact) => fact.kind === "partition-changed" && fact.election === "elr",
  "last known leader": (fact) =>
    fact.kind === "partition-changed" && fact.election === "last-known",
  "unclean election": (fact) => fact.kind === "partition-changed" && fact.election === "unclean",
  "shrunken isr": (fact) =>
    fact.kind === "partition-changed" && fact.isr.length < fact.replicas.length,
  "isr below the minimum": (fact) =>
    fact.kind === "partition-changed" && fact.isr.length < fact.minInsyncReplicas,
  "isr of one": (fact) => fact.kind === "partition-changed" && fact.isr.length === 1,
  truncation: (fact) => fact.kind === "truncated",
  "controller change": (fact) => fact.kind === "controller-elected",
  "unflushed pages lost": (fact) => fact.kind === "unflushed-lost",
  "torn tail": (fact) => fact.kind === "log-loaded" && fact.truncatedBytes > 0,
  "fenced broker": (fact) => fact.kind === "broker-fenced",
  "failed request": (fact) => fact.kind === "request-failed",
  "failed send": (fact) => fact.kind === "send-ended" && fact.outcome !== "acked",
} satisfies Readonly<Record<string, (fact: Fact) => boolean>>;

export type Probe = keyof typeof PROBES;

/** In the order of the table. */
export const PROBE_NAMES = Object.keys(PROBES) as readonly Probe[];
