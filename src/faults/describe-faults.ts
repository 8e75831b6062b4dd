import type { FaultKind, Parameter } from "./fault-kind.ts";
import { FAULT_KINDS } from "./registry.ts";

/** The page docs/faults.md: every fault in its own words. */
export function describeFaults(): string {
  return `${[INTRODUCTION, ...FAULT_KINDS.map(describe)].join("\n\n")}\n`;
}

const INTRODUCTION = `# Faults

<!-- Written by describeFaults (src/faults). To renew: npx vitest run test/unit/scenario/reference.test.ts --update -->

What can go wrong in a scenario, one step of \`faults:\` each. What sets a step off, and how targets
are written, is told in [scenario-language.md](scenario-language.md). When the cluster begins to
settle, all that lasts is healed, what is paused goes on, and what is down is started again. Records
that a disk has lost or damaged stay so; with \`good-copies\` under \`cluster/disk\` a scenario says of how
many replicas that must not happen, and a fault that would is skipped.`;

function describe({ name, meaning, subject, parameters, heals }: FaultKind): string {
  const given = subject === undefined ? parameters : [subject, ...parameters];
  const rows = given.map(
    (parameter) => `| \`${parameter.name}\` | ${takes(parameter)} | ${parameter.meaning} |`,
  );
  const inside = subject === undefined ? "Its value is a mapping of these keys." : "";
  const end = heals ? "With `for` it ends by itself." : "It is over at once.";
  return [
    `## ${name}`,
    `${meaning}${meaning.includes("`for`") ? "" : ` ${end}`}`,
    ...(inside === "" ? [] : [inside]),
    ["| key | takes | |", "|---|---|---|", ...rows].join("\n"),
  ].join("\n\n");
}

function takes({ type, words, required }: Parameter): string {
  const what =
    type === "word" ? (words ?? []).map((word) => `\`${word}\``).join(", ") : TAKES[type];
  return required === true ? `${what}; required` : what;
}

const TAKES: Readonly<Record<Exclude<Parameter["type"], "word">, string>> = {
  nodes: "a target",
  servers: "a target of brokers and controllers",
  clients: "a target of clients",
  consumers: "a target of clients that consume",
  groups: "a list of lists of targets",
  latency: "a duration, or a draw for each message",
  stagger: "a duration, or a draw for each node",
  duration: "a duration",
  offset: "a duration of either sign",
  drift: "parts per million: 200ppm",
  factor: "an integer from 2 on",
  count: "an integer from 1 on",
  size: "bytes: 4096 or 10MiB",
  offsets: "offsets: 100..200",
  bound: "an offset, or `high-watermark`",
  position: "an offset, beginning or end",
  moment: "a duration of either sign",
  topic: "a topic: orders",
  partition: "a partition: orders-0",
  "log-directory": "one of `log.dirs`",
  probability: "0.05 or 5%",
  bandwidth: "1MiB/s",
  text: "a text",
};
