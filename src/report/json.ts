import type { RunResult } from "../cluster/run-result.ts";

/** `sim run --json`: one document, `sim-result/1`; instants and durations are microseconds. */
export function resultJson(result: RunResult, version: string): string {
  const { digest, file, seed, variant } = result;
  const again = ["sim", "run", file, "--seed", seed];
  if (variant !== undefined) again.push("--variant", variant);
  return JSON.stringify(
    {
      schema: "sim-result/1",
      engine: version,
      scenario: result.scenario,
      variant: variant ?? null,
      seed,
      kafka: result.kafka,
      verdict: result.verdict,
      reasons: result.reasons,
      trace: digest,
      simulatedUs: result.simulated,
      events: result.events,
      expectations: result.expectations.map(({ text, ok, line }) => ({
        text,
        ok: ok ?? null,
        line,
      })),
      violations: result.violations.map((violation) => ({
        kind: violation.kind,
        guarantee: violation.guarantee,
        partition: violation.partition,
        client: violation.client,
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
      clients: result.clients,
      timeline: result.timeline.map(({ at, event, verb, text, note }) => ({
        atUs: at,
        event,
        verb,
        text,
        note,
      })),
      again,
    },
    undefined,
    2,
  );
}
