import { Simulation } from "../src/cluster/simulation.ts";
import { readScenario } from "../src/scenario/read-scenario.ts";
import { collectGarbage, formatTable, threadTime } from "./measure.ts";

const RECORDS = 60_000;

/** How a producer sends, and how it is read. */
const KINDS = [
  { title: "plain", client: "config: { enable.idempotence: false }", isolation: "uncommitted" },
  { title: "idempotent", client: "config: { enable.idempotence: true }", isolation: "uncommitted" },
  {
    title: "in transactions of 1,000",
    client: "transaction: { records: 1000 }, config: { transactional.id: a }",
    isolation: "committed",
  },
  {
    title: "in transactions of 100",
    client: "transaction: { records: 100 }, config: { transactional.id: a }",
    isolation: "committed",
  },
] as const;

/**
 * What idempotence and transactions cost a run, as a ratio to plain produce: one producer of 2,000 records a second, in
 * turn, so that what slows the machine slows all. Guarantees are on.
 */
export function benchTransactions(rounds: number): string {
  const ratios: number[][] = KINDS.map(() => []);
  const events: number[] = [];
  KINDS.map(play);
  for (let round = 0; round < rounds; round++) {
    const runs = KINDS.map(play);
    const plain = runs[0]?.time ?? 1;
    for (const [at, run] of runs.entries()) {
      ratios[at]?.push(run.time / plain);
      events[at] = run.events;
    }
  }
  const rows = KINDS.map(({ title }, at) => {
    const sorted = (ratios[at] ?? []).sort((left, right) => left - right);
    const [least = 0, median = 0, most = 0] = [
      sorted[0],
      sorted[sorted.length >> 1],
      sorted[sorted.length - 1],
    ];
    const spread = `${median.toFixed(2)} [${least.toFixed(2)}-${most.toFixed(2)}]`;
    return [title, ((events[at] ?? 0) / RECORDS).toFixed(2), spread];
  });
  const heading = [`produce; ${rounds} rounds`, "events a record", "CPU to plain produce"];
  return formatTable([heading, ...rows]);
}

function play({ client, isolation }: (typeof KINDS)[number]): {
  readonly time: number;
  readonly events: number;
} {
  const text = `version: 1
name: transactions
summary: What they cost.
kafka: "4.3"
cluster: { brokers: 3, controllers: 3, config: { transaction.state.log.num.partitions: 1 } }
topics:
  orders: { partitions: 3, replication.factor: 3, config: { min.insync.replicas: 2 } }
clients:
  p1: { produce: orders, rate: 2000/s, records: ${RECORDS}, ${client} }
  c1: { consume: orders, config: { auto.offset.reset: earliest, isolation.level: read_${isolation} } }
settle: 5s
`;
  const { scenario } = readScenario(text, "transactions.yaml");
  if (scenario === undefined) throw new Error("the benchmark's scenario has a mistake");
  const simulation = new Simulation(scenario, { seed: "1" });
  collectGarbage();
  const begin = threadTime();
  while (simulation.advance(100_000));
  const time = threadTime() - begin;
  return { time, events: simulation.finish(undefined).events };
}
