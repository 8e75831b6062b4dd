import type { Instant } from "../base/time.ts";
import type { RunResult } from "../cluster/run-result.ts";
import type { Explanation } from "../explain/explain.ts";
import { commandOf } from "./text.ts";

const SCHEMA = "sim-result/1";

/** `sim run --json`: one document, `sim-result/1`; instants and durations are microseconds. */
export function resultJson(
  result: RunResult,
  explanation: Explanation | undefined,
  version: string,
): string {
  const { violations, timeline, expectations } = result;
  return document({
    schema: SCHEMA,
    engine: version,
    ...identity(result),
    verdict: result.verdict,
    reasons: result.reasons,
    drawn: result.drawn,
    trace: result.digest,
    simulatedUs: result.simulated,
    events: result.events,
    expectations: expectations.map(({ text, ok, line }) => ({
      // Every expectation is shown by its key first.
      name: text.split(" ", 1)[0],
      text,
      ok: ok ?? null,
      line,
    })),
    violations: violations.map((violation) => ({
      kind: violation.kind,
      guarantee: violation.guarantee,
      partition: violation.partition === "" ? null : violation.partition,
      client: violation.client === "" ? null : violation.client,
      atUs: violation.at,
      event: violation.event,
      offsets: violation.offsets ?? null,
      count: violation.count,
      text: violation.text,
      permitted: violation.permitted ?? null,
      follows: violation.follows ?? null,
    })),
    guarantees: result.guarantees,
    partitions: result.partitions,
    clients: result.clients.map((client) => {
      if (client.kind === "consumer") {
        const { worstRealtimeLag, ...counts } = client;
        return { ...counts, worstRealtimeLagUs: worstRealtimeLag };
      }
      if (client.kind === "processor") return client;
      const { longestStall, ...counts } = client;
      return { ...counts, longestStallUs: longestStall };
    }),
    groups: result.groups.map(({ unowned, ...counts }) => ({
      ...counts,
      unowned: unowned.map(({ partition, total, longest }) => ({
        partition,
        totalUs: total,
        longestUs: longest,
      })),
    })),
    timeline: timeline.map(({ at, event, verb, text, note }) => ({
      atUs: at,
      event,
      verb,
      text,
      note: note === "" ? null : note,
    })),
    explanation: explanation === undefined ? null : explanationJson(explanation),
    again: commandOf(result),
  });
}

/** The steps by which it came to one violation, and what was found by running it again. */
export function explanationJson(explanation: Explanation): object {
  const { violation, steps, needed, avoidedBy } = explanation;
  return {
    event: violation.event,
    kind: violation.kind,
    partition: violation.partition === "" ? null : violation.partition,
    because: steps.map(({ at, event, verb, text, note }) => ({
      atUs: at,
      event,
      verb,
      text,
      note: note === "" ? null : note,
    })),
    needed: needed ?? null,
    avoidedBy: avoidedBy ?? null,
  };
}

export interface BrokenRun
  extends Pick<RunResult, "scenario" | "file" | "variant" | "seed" | "kafka"> {
  readonly at: Instant;
  readonly event: number;
  /** Which rule of its own the simulator broke. */
  readonly message: string;
}

/** The same for a run that a bug of the simulator ended: how far it came, and how to repeat it. */
export function brokenJson(run: BrokenRun, version: string): string {
  return document({
    schema: SCHEMA,
    engine: version,
    ...identity(run),
    verdict: "bug",
    reasons: [run.message],
    simulatedUs: run.at,
    events: run.event,
    again: commandOf(run),
  });
}

function identity({
  scenario,
  variant,
  seed,
  kafka,
}: Pick<RunResult, "scenario" | "variant" | "seed" | "kafka">): object {
  // The command line takes no seed but a whole number.
  return { scenario, variant: variant ?? null, seed: Number(seed), kafka };
}

function document(value: object): string {
  return JSON.stringify(value, undefined, 2);
}
