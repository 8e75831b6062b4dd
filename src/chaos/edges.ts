import { unreachable } from "../base/invariant.ts";
import type { ConfigValue } from "../kafka/config/config-table.ts";
import type { ClientSpec, ConfigSpec, Scenario } from "../scenario/scenario.ts";
import type { Rng } from "../sim/rng.ts";
import { Dice } from "./dice.ts";

/** A config that a seed has drawn: where it stands in a scenario, and what it became. */
export interface DrawnEdge {
  /** `cluster/config/log.roll.ms` */
  readonly path: string;
  readonly value: ConfigValue;
}

/**
 * Values of one config, or of some that are drawn together, near which something changes. None of them changes what
 * Kafka promises: acks, min.insync.replicas and retention are the scenario's own.
 */
interface Edge {
  /** Percent of seeds that draw one of these; the others leave the default. */
  readonly chance: number;
  readonly options: readonly Readonly<Record<string, ConfigValue>>[];
}

function edge(chance: number, name: string, values: readonly ConfigValue[]): Edge {
  return { chance, options: values.map((value) => ({ [name]: value })) };
}

/** Times are as short as a story of half a minute needs them, each before and after the others that it runs against. */
const BROKER_EDGES: readonly Edge[] = [
  edge(100, "replica.lag.time.max.ms", [1_500, 3_000, 5_000, 10_000]),
  {
    chance: 100,
    options: [
      { "broker.session.timeout.ms": 1_500, "broker.heartbeat.interval.ms": 300 },
      { "broker.session.timeout.ms": 3_000, "broker.heartbeat.interval.ms": 500 },
      { "broker.session.timeout.ms": 6_000, "broker.heartbeat.interval.ms": 1_000 },
    ],
  },
  edge(50, "leader.imbalance.check.interval.seconds", [1, 5]),
  // A fetch brings at least one batch, whatever it is allowed (KIP-74). Never with one that waits for many bytes: who
  // is given a batch each half second does not catch up.
  {
    chance: 45,
    options: [
      { "replica.fetch.max.bytes": 1 },
      { "replica.fetch.max.bytes": 2_000 },
      { "replica.fetch.response.max.bytes": 1 },
      { "replica.fetch.response.max.bytes": 4_000 },
      { "replica.fetch.min.bytes": 2_000 },
      { "replica.fetch.min.bytes": 20_000 },
    ],
  },
  edge(20, "replica.fetch.wait.max.ms", [200]),
  edge(30, "replica.fetch.backoff.ms", [100]),
  edge(30, "replica.socket.timeout.ms", [1_500, 4_000]),
  edge(30, "replica.high.watermark.checkpoint.interval.ms", [300, 2_000]),
  edge(20, "max.incremental.fetch.session.cache.slots", [0, 1]),
  edge(30, "log.roll.ms", [500, 3_000]),
  edge(15, "log.index.interval.bytes", [0, 500]),
  edge(10, "log.flush.interval.messages", [1, 20]),
  edge(20, "controller.quorum.fetch.timeout.ms", [700, 4_000]),
  edge(20, "controller.quorum.election.timeout.ms", [300, 3_000]),
  edge(15, "controller.quorum.append.linger.ms", [0, 200]),
];

const PRODUCER_EDGES: readonly Edge[] = [
  edge(30, "max.in.flight.requests.per.connection", [1, 2]),
  edge(40, "linger.ms", [0, 50]),
  edge(20, "batch.size", [0, 300]),
  edge(30, "retry.backoff.ms", [0, 1_000]),
  edge(30, "request.timeout.ms", [1_500, 5_000]),
  edge(20, "metadata.max.age.ms", [1_000, 10_000]),
];

const CONSUMER_EDGES: readonly Edge[] = [
  edge(20, "max.poll.records", [1, 7]),
  edge(20, "max.partition.fetch.bytes", [0, 1_000]),
  edge(20, "fetch.min.bytes", [5_000]),
  edge(20, "metadata.max.age.ms", [1_000, 10_000]),
];

/** The scenario with the configs that a seed draws near their edges, of those that it does not set itself. */
export function drawEdges(
  scenario: Scenario,
  random: Rng,
): { readonly scenario: Scenario; readonly drawn: readonly DrawnEdge[] } {
  const drawn: DrawnEdge[] = [];
  const { cluster } = scenario;
  const config = withEdges("cluster/config", cluster.config, BROKER_EDGES, random, drawn);
  const clients = scenario.clients.map((client) => clientWithEdges(client, random, drawn));
  return { scenario: { ...scenario, cluster: { ...cluster, config }, clients }, drawn };
}

function clientWithEdges(client: ClientSpec, random: Rng, drawn: DrawnEdge[]): ClientSpec {
  const path = `clients/${client.name}`;
  const edged = (key: string, config: ConfigSpec, edges: readonly Edge[]): ConfigSpec =>
    withEdges(`${path}/${key}`, config, edges, random, drawn);
  switch (client.kind) {
    case "producer":
      return { ...client, config: edged("config", client.config, PRODUCER_EDGES) };
    case "consumer":
      return { ...client, config: edged("config", client.config, CONSUMER_EDGES) };
    case "processor": {
      const consumerConfig = edged("consumer-config", client.consumerConfig, CONSUMER_EDGES);
      if (client.to === undefined) return { ...client, consumerConfig };
      const config = edged("producer-config", client.config, PRODUCER_EDGES);
      return { ...client, consumerConfig, config };
    }
    default:
      return unreachable(client);
  }
}

function withEdges(
  path: string,
  config: ConfigSpec,
  edges: readonly Edge[],
  random: Rng,
  drawn: DrawnEdge[],
): ConfigSpec {
  const values: Record<string, ConfigValue> = { ...config.values };
  for (const { chance, options } of edges) {
    const names = options.flatMap((option) => Object.keys(option));
    if (names.some((name) => Object.hasOwn(config.values, name))) continue;
    // A stream for each, so that one more in the table moves no other.
    const dice = new Dice(random.fork(`${path}/${names[0]}`));
    if (!dice.percent(chance)) continue;
    for (const [name, value] of Object.entries(dice.of(options))) {
      values[name] = value;
      drawn.push({ path: `${path}/${name}`, value });
    }
  }
  return { ...config, values };
}
