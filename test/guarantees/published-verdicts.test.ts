import { describe, expect, test } from "vitest";
import type { RunResult } from "../../src/cluster/run-result.ts";
import type { ProtocolSwitches } from "../../src/kafka/protocol-switches.ts";
import { run, shipped } from "../support/run-scenario.ts";

interface Verdict {
  /** What a published model says of a rule. */
  readonly model: string;
  readonly scenario: string;
  readonly variant: string;
  /** The guarantee that names it, and the switch that permits it. */
  readonly guarantee: string;
  readonly rule: string;
}

/** The table in docs/modelled.md, which shows the command for each. */
const VERDICTS: readonly Verdict[] = [
  {
    model: "truncation by high watermark loses committed data",
    scenario: "truncate-to-what",
    variant: "at-the-high-watermark",
    guarantee: "no-acked-loss",
    rule: "truncation: high-watermark",
  },
  {
    model: "KIP-101 diverges on fast fail-overs",
    scenario: "two-fail-overs",
    variant: "kip-101",
    guarantee: "no-divergence",
    rule: "truncation: kip-101",
  },
  {
    model: "KIP-279 without fencing breaks StrongIsr",
    scenario: "stale-follower",
    variant: "kip-279-unfenced",
    guarantee: "committed-prefix-kept",
    rule: "truncation: kip-279",
  },
  {
    model: "truncation on fetch without the current epoch breaks StrongIsr",
    scenario: "stale-follower",
    variant: "unfenced",
    guarantee: "committed-prefix-kept",
    rule: "fetch.epoch-fencing: false",
  },
  {
    model: "a high watermark over the committed ISR breaks ValidHighWatermark",
    scenario: "about-to-join",
    variant: "committed-isr",
    guarantee: "hw-within-isr",
    rule: "isr.hw-set: committed",
  },
];

describe.each(VERDICTS)("$model", ({ scenario, variant, guarantee, rule }) => {
  test("as the simulator finds, and puts down to the rule", () => {
    const story = shipped(scenario, variant);

    const { verdict, violations } = run(story, story.seed ?? 1);

    const named = violations.filter((one) => one.guarantee === guarantee);
    expect(named[0]?.permitted).toBe(`the protocol switch ${rule}`);
    expect(verdict).toBe("pass");
  });

  test("and in the same story the full present rule holds", () => {
    const story = shipped(scenario);

    const { verdict, violations, guarantees } = run(story, story.seed ?? 1);

    const state = guarantees.find(({ name }) => name === guarantee)?.state;
    const broken = violations.filter(({ permitted }) => permitted === undefined);
    const ofRule = violations.filter(({ permitted }) => permitted?.startsWith("the protocol"));
    expect([...broken, ...ofRule]).toEqual([]);
    // With acks=1 two fail-overs lose records by any rule; the logs must agree all the same.
    if (guarantee !== "no-divergence") expect(violations).toEqual([]);
    expect(state).toBe("held");
    expect(verdict).toBe("pass");
  });
});

/** The variant with these switches, and all others as Kafka has them now. */
function under(scenario: string, variant: string, protocol: Partial<ProtocolSwitches>): RunResult {
  const story = shipped(scenario, variant);
  return run({ ...story, cluster: { ...story.cluster, protocol } }, story.seed ?? 1);
}

test("KIP-279 with fencing keeps what was committed", () => {
  const { violations, guarantees } = under("stale-follower", "kip-279-unfenced", {
    truncation: "kip-279",
  });

  const kept = guarantees.find(({ name }) => name === "committed-prefix-kept");
  expect(violations).toEqual([]);
  expect(kept?.state).toBe("held");
});

test("KIP-279 keeps the logs the same where KIP-101 does not", () => {
  const { violations } = under("two-fail-overs", "kip-101", { truncation: "kip-279" });

  const kinds = violations.map(({ kind }) => kind);
  expect(kinds).not.toContain("log-divergence");
  expect(kinds).not.toContain("hw-beyond-isr");
});
