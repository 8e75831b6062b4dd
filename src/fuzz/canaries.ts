import type { ProtocolSwitches } from "../kafka/protocol-switches.ts";

/** An engine that is known to be broken: a search that does not find it out finds nothing. */
export interface Canary {
  readonly name: string;
  /** What is wrong with it, as half a sentence. */
  readonly breaks: string;
  readonly protocol: Partial<ProtocolSwitches>;
  /** Any of these guarantees names what is wrong. */
  readonly caughtBy: readonly string[];
  /** Is it found so soon that it belongs into a quick test? */
  readonly isQuick: boolean;
}

/** Rules that Kafka once had or was about to have; published models show what each of them loses. */
export const CANARIES: readonly Canary[] = [
  {
    name: "truncation by high watermark",
    breaks: "followers cut off what was committed (before KIP-101)",
    protocol: { truncation: "high-watermark" },
    caughtBy: ["committed-prefix-kept", "no-acked-loss", "no-divergence"],
    isQuick: true,
  },
  {
    name: "truncation of KIP-101",
    breaks: "logs part when leaders change fast (before KIP-279)",
    protocol: { truncation: "kip-101" },
    caughtBy: ["no-divergence", "log-in-bounds", "offsets-never-change"],
    isQuick: false,
  },
  {
    name: "no fencing",
    breaks: "leaders serve followers of another epoch (before KIP-320)",
    protocol: { truncation: "kip-279", "fetch.epoch-fencing": false },
    caughtBy: ["hw-within-isr", "no-divergence", "committed-prefix-kept", "offsets-never-change"],
    isQuick: false,
  },
  {
    name: "isr over the high watermark",
    breaks: "followers join the ISR before they have the leader's epoch (KAFKA-7128)",
    protocol: { "isr.expand-rule": "high-watermark" },
    caughtBy: ["isr-join-caught-up", "candidates-complete", "no-acked-loss"],
    isQuick: true,
  },
  {
    name: "diverging fetches count",
    breaks: "a fetch that must truncate first moves the high watermark (KAFKA-13141)",
    protocol: { "leader.update-state-on-diverging-fetch": true },
    caughtBy: ["hw-within-isr", "isr-join-caught-up"],
    isQuick: false,
  },
  {
    name: "high watermark without min ISR",
    breaks: "records count as committed on too few replicas (KAFKA-15583)",
    protocol: { "leader.hw-requires-min-isr": false },
    caughtBy: ["hw-needs-min-isr"],
    isQuick: true,
  },
  {
    name: "high watermark over the committed ISR",
    breaks: "whoever is about to join the ISR is not waited for (KIP-497)",
    protocol: { "isr.hw-set": "committed" },
    caughtBy: ["hw-within-isr", "candidates-complete"],
    isQuick: false,
  },
];

/** The story in which they are looked for; `canary` is undefined for the engine as it is. */
export function canaryScenario(canary: Canary | undefined): string {
  const switches = Object.entries(canary?.protocol ?? {}).map(
    ([name, value]) => `    ${name}: ${value}\n`,
  );
  const expected = [...new Set(CANARIES.flatMap(({ caughtBy }) => caughtBy))];
  return `version: 1
name: canary
kafka: "4.3"
seed: 1
cluster:
  brokers: 3
  controllers: 1
  config:
    replica.lag.time.max.ms: 2000
    broker.session.timeout.ms: 2000
    broker.heartbeat.interval.ms: 300
${switches.length > 0 ? `  protocol:\n${switches.join("")}` : ""}topics:
  orders: { partitions: 1, replication.factor: 3, config: { min.insync.replicas: 2 } }
clients:
  p1: { produce: orders, rate: exponential(60/s) }
  p2: { produce: orders, rate: exponential(40/s), records: 2000 }
random-faults:
  generators: [crash, pause, isolate, partition, power-cut, slow-network, reset]
  quiet-after: 20s
duration: 22s
settle: 10s
${canary === undefined ? "" : `expect: [${expected.join(", ")}]\n`}`;
}
