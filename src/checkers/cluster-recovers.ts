import type { Instant } from "../base/time.ts";
import { formatSeconds } from "../base/time.ts";
import type { BrokerId } from "../kafka/ids.ts";
import { brokerName, brokerOf, nodeName } from "./broker-name.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { NodeState } from "./liveness.ts";
import { isServer } from "./liveness.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import { isLed, whyDown, whyIdle } from "./stuck-replica.ts";
import { controllerWaiver, stuckWaiver } from "./waivers/stuck-waiver.ts";
import type { Waiver } from "./waivers/waiver.ts";
import { listed } from "./wording.ts";

export const CLUSTER_RECOVERS: Guarantee = {
  name: "cluster-recovers",
  sentence:
    "When nothing is left to heal, every server runs, a controller is active, every broker is unfenced and has the newest metadata, and every partition is led.",
  source: "KIP-500, KIP-631; LV6",
  kinds: ["server-down", "no-controller", "broker-fenced", "metadata-behind", "no-leader"],
  condition:
    "At the end, if the cluster has settled, and has come no closer to it, for as long as a step may take by its configs; not of servers with faults that stay. Permitted: such faults of a leader or an active controller that is relied on, or of all that may lead; a log directory given up, a damaged disk, an earlier rule of the protocol.",
  testedBy: "servers and partitions of a cluster that faults have struck",
  example: [
    "no-leader   orders-0   at 120.000s, event 81220",
    "  orders-0 has had no leader for 60.000s: broker-1, in sync, is down since 12.000s (crash); broker-2 and broker-3 are neither in sync nor eligible.",
  ],
  create: (context) => new ClusterRecovers(context),
};

class ClusterRecovers implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;

  constructor(context: CheckContext) {
    this.#context = context;
  }

  atEnd(at: Instant, event: number): void {
    const { liveness, logs, metadata } = this.#context;
    if (!liveness.isJudged(at)) return;
    const servers = [...liveness.nodes.values()].filter(
      (node) => isServer(node) && !liveness.isFrozen(node.name),
    );
    this.evaluations = servers.length + logs.partitions.length;
    if (liveness.wasDisturbed) this.interesting = this.evaluations;
    for (const server of servers) this.#lookAtServer(server, at, event);
    this.#lookAtController(at, event);
    for (const { broker, node } of brokersIn(servers)) this.#lookAtBroker(broker, node, at, event);
    for (const { node, applied } of metadata.replicas.values()) {
      const state = liveness.nodes.get(nodeName(node));
      if (state?.isUp !== true || state.isPaused || liveness.isFrozen(state.name)) continue;
      const last = Math.max(liveness.appliedAt(node), state.since);
      if (applied >= metadata.canon.pathEnd || !liveness.isQuiet(last, at)) continue;
      const text = `${state.name} has taken in metadata up to ${applied} and no more for ${formatSeconds(liveness.quietFor(last, at))}; others have them up to ${metadata.canon.pathEnd}.`;
      this.#report("metadata-behind", "", text, this.#waiverOf(state.name), at, event);
    }
    for (const partition of logs.partitions) this.#lookAtPartition(partition, at, event);
  }

  #lookAtServer({ name, since }: NodeState, at: Instant, event: number): void {
    const why = whyDown(this.#context, name);
    if (why === undefined || !this.#context.liveness.isOverdue(since, at)) return;
    this.#report("server-down", "", `${name} ${why}.`, this.#waiverOf(name), at, event);
  }

  #lookAtController(at: Instant, event: number): void {
    const { liveness, metadata } = this.#context;
    const { controller } = liveness;
    const isActive = controller >= 0 && whyDown(this.#context, nodeName(controller)) === undefined;
    if (isActive || !liveness.isOverdue(liveness.steppedAt, at)) return;
    const voters = [...metadata.replicas.values()].filter(({ isVoter }) => isVoter);
    const told = voters.map(({ node, log }) => {
      const name = nodeName(node);
      return `${name} ${whyDown(this.#context, name) ?? `has metadata up to ${log.end}`}`;
    });
    const text = `No controller has been active for ${formatSeconds(liveness.quietFor(liveness.steppedAt, at))}: ${told.join("; ")}.`;
    this.#report("no-controller", "", text, undefined, at, event);
  }

  #lookAtBroker(broker: BrokerId, { since }: NodeState, at: Instant, event: number): void {
    const { liveness, brokers, metadata } = this.#context;
    if (!liveness.isWell(broker) || !brokers.isFenced(broker)) return;
    const last = Math.max(liveness.steppedAt, since);
    if (!liveness.isOverdue(last, at)) return;
    const applied = metadata.replicas.get(broker)?.applied ?? 0;
    const name = brokerName(broker);
    const text = `${name} has been fenced for ${formatSeconds(liveness.quietFor(since, at))}: it runs, and has taken in metadata up to ${applied} of ${metadata.canon.pathEnd}.`;
    this.#report("broker-fenced", "", text, this.#waiverOf(name), at, event);
  }

  #lookAtPartition(partition: PartitionGhost, at: Instant, event: number): void {
    const { liveness } = this.#context;
    const { registration, name } = partition;
    if (registration === undefined || isLed(this.#context, partition)) return;
    const last = Math.max(liveness.steppedAt, liveness.isrStepAt(partition));
    if (!liveness.isOverdue(last, at)) return;
    const { leader, leaderEpoch, isr, elr, replicas } = registration;
    const time = formatSeconds(liveness.quietFor(last, at));
    const idle = leader < 0 ? undefined : whyIdle(this.#context, leader);
    const text =
      leader < 0
        ? `${name} has had no leader for ${time}: ${this.#whyNobodyLeads(isr, elr, replicas)}.`
        : `${brokerName(leader)} should lead ${name} in epoch ${leaderEpoch} and has not for ${time}: it ${idle ?? "has not taken it up"}.`;
    const waiver = stuckWaiver(this.#context, partition, [
      ...new Set([...isr, ...elr, ...replicas]),
    ]);
    this.#report("no-leader", name, text, waiver, at, event);
  }

  #whyNobodyLeads(
    isr: readonly BrokerId[],
    elr: readonly BrokerId[],
    replicas: readonly BrokerId[],
  ): string {
    const told = (broker: BrokerId, what: string): string =>
      `${brokerName(broker)}, ${what}, ${whyIdle(this.#context, broker) ?? "runs"}`;
    const others = replicas.filter((one) => !isr.includes(one) && !elr.includes(one));
    return [
      ...isr.map((broker) => told(broker, "in sync")),
      ...elr.map((broker) => told(broker, "eligible")),
      ...(others.length === 0
        ? []
        : [
            `${listed(others.map(brokerName))} ${others.length === 1 ? "is" : "are"} neither in sync nor eligible`,
          ]),
    ].join("; ");
  }

  #waiverOf(node: string): Waiver | undefined {
    const { disks, liveness } = this.#context;
    const text = disks.waive(node);
    if (text !== undefined) return { text, cause: liveness.settledIn };
    return controllerWaiver(this.#context);
  }

  #report(
    kind: string,
    partition: string,
    text: string,
    waiver: Waiver | undefined,
    at: Instant,
    event: number,
  ): void {
    this.violations.push(
      violationOf(CLUSTER_RECOVERS, {
        kind,
        partition,
        at,
        event,
        text: [text],
        permitted: waiver?.text,
        cause: waiver?.cause ?? this.#context.liveness.settledIn,
      }),
    );
  }
}

function brokersIn(servers: readonly NodeState[]): { broker: BrokerId; node: NodeState }[] {
  return servers.flatMap((node) => {
    const broker = brokerOf(node.name);
    return broker < 0 ? [] : [{ broker, node }];
  });
}
