import type { Duration, Instant } from "../base/time.ts";
import { SECOND } from "../base/time.ts";
import type { CheckerSet } from "../checkers/checker-set.ts";
import { createCheckers } from "../checkers/checker-set.ts";
import type { Guarantee } from "../checkers/guarantee.ts";
import { GUARANTEES } from "../checkers/registry.ts";
import type { ReplicationRules } from "../kafka/replication/replication-rules.ts";
import type { ExpectationWatch } from "../scenario/expectation/expectation.ts";
import type { Scenario } from "../scenario/scenario.ts";
import { EventCauses } from "../sim/event-causes.ts";
import type { EventRecord } from "../sim/scheduler.ts";
import type { Fact } from "../trace/fact.ts";
import type { FactListener } from "../trace/recorder.ts";
import { Timeline } from "../trace/timeline.ts";
import { checkSetupOf } from "./check-setup-of.ts";
import { Cluster, controllerName } from "./cluster.ts";
import { Director } from "./director.ts";
import { DiskView } from "./disk-view.ts";
import type { Plan } from "./plan.ts";
import { makePlan, rosterOf } from "./plan.ts";
import { Readiness } from "./readiness.ts";
import type { RunResult } from "./run-result.ts";
import { clientRows, groupRows, partitionRows, verdictOf } from "./verdict.ts";

export interface SimulationOptions {
  readonly seed: string;
  /** Makes rules from those that the scenario asks for: tests break one here. */
  readonly rules?: (rules: ReplicationRules) => ReplicationRules;
  /** What is watched: with fewer a run is quicker, says less, and is the same run. Default: all of Kafka's. */
  readonly guarantees?: readonly Guarantee[];
  /** Is it kept which event led to which (`causes`)? Costs time and memory; default false. */
  readonly records?: boolean;
}

/** A cluster that has not formed by then never will. */
const WARM_UP_LIMIT: Duration = 120 * SECOND;

/** One run of one scenario, from an empty world to a result; nothing in it knows the time of day. */
export class Simulation {
  readonly cluster: Cluster;
  readonly plan: Plan;
  /** Which event scheduled which, if the run is recorded. */
  readonly causes: EventCauses;
  readonly #readiness: Readiness;
  readonly #timeline: Timeline;
  readonly #checkers: CheckerSet | undefined;
  readonly #director: Director;
  #watches: readonly ExpectationWatch[] = [];
  #phase: "warm-up" | "running" | "over" = "warm-up";
  /** Why it ended before its time, if it did. */
  #stopped: string | undefined;

  constructor(scenario: Scenario, options: SimulationOptions) {
    const plan = makePlan(scenario, options.seed);
    const rules = options.rules?.(plan.cluster.rules) ?? plan.cluster.rules;
    this.plan = { ...plan, cluster: { ...plan.cluster, rules } };
    const cluster = new Cluster(this.plan.cluster);
    this.cluster = cluster;
    const { facts, view, scheduler, clock, hands, random } = cluster;
    this.causes = options.records === true ? scheduler.recordCauses() : new EventCauses();
    this.#readiness = new Readiness(facts, view, this.plan.cluster);
    // Before whatever reacts to facts: a story is told in the order in which it happened.
    this.#timeline = new Timeline(facts, controllerName);
    const { guarantees = GUARANTEES } = options;
    this.#checkers =
      guarantees.length === 0
        ? undefined
        : createCheckers(facts, checkSetupOf(cluster), guarantees);
    this.#director = new Director({
      plan: this.plan,
      roster: rosterOf(this.plan, cluster.table),
      scheduler,
      clock,
      facts,
      view,
      hands,
      random,
      onSettle: () => cluster.stopProducing(),
    });
    cluster.start();
  }

  /** What the headline says. */
  get size(): { readonly brokers: number; readonly partitions: number } {
    const { brokers, topics } = this.plan.cluster;
    let partitions = 0;
    for (const { numPartitions, assignments } of topics) {
      partitions += assignments.length > 0 ? assignments.length : numPartitions;
    }
    return { brokers: brokers.length, partitions };
  }

  /** Since time zero; negative while the cluster forms. */
  get now(): Instant {
    return this.#phase === "warm-up" ? 0 : this.cluster.clock.now;
  }

  get events(): number {
    return this.cluster.scheduler.event;
  }

  /** Hears every fact from now on. */
  onFact(listener: FactListener<Fact>): void {
    this.cluster.facts.onAny(listener);
  }

  /** Describes the events numbered [from, to], as they come. */
  listEvents(from: number, to: number, sink: (record: EventRecord) => void): void {
    this.cluster.scheduler.recordEvents(from, to, sink);
  }

  /** Why the run ended before its time, if it did. */
  get stopped(): string | undefined {
    return this.#stopped;
  }

  /** Handles up to `events` further events; false when the run is over. */
  advance(events: number): boolean {
    for (let left = events; left > 0 && this.#phase !== "over"; left--) {
      if (this.#phase === "warm-up") this.#warmUp();
      else this.#step();
    }
    return this.#phase !== "over";
  }

  /**
   * The same, but no event after the instant `until` of the scenario: false also when the next one is
   * after it, and then `now` may be earlier.
   */
  advanceTo(until: Instant, events: number): boolean {
    const { clock, scheduler } = this.cluster;
    for (let left = events; left > 0 && this.#phase !== "over"; left--) {
      if (this.#phase === "warm-up") this.#warmUp();
      else if (scheduler.nextTime() - clock.zero > until) return false;
      else this.#step();
    }
    return this.#phase !== "over";
  }

  /** Is there nothing more to come? */
  get isOver(): boolean {
    return this.#phase === "over";
  }

  /** The disk of a broker or controller, by the node's name. */
  diskOf(node: string): DiskView | undefined {
    const { table, disks } = this.cluster;
    const disk = disks[table.names.indexOf(node)];
    return disk === undefined ? undefined : new DiskView(disk);
  }

  #warmUp(): void {
    const { cluster } = this;
    if (!cluster.scheduler.step()) this.#stop("the cluster came to a standstill while it formed");
    else if (cluster.refusal !== undefined) this.#stop(cluster.refusal);
    else if (this.#readiness.isReady) this.#begin();
    else if (cluster.scheduler.now > WARM_UP_LIMIT) {
      this.#stop(`the cluster was not ready after 120s: ${this.#readiness.missing}`);
    }
  }

  /** Time zero. */
  #begin(): void {
    const { cluster } = this;
    const director = this.#director;
    cluster.clock.begin();
    this.#timeline.begin();
    this.#phase = "running";
    if (director.watchesMessages) {
      cluster.fabric.observe((from, to, frame) => director.delivered(from, to, frame));
    }
    this.#watches = this.plan.scenario.expect.map((expectation) =>
      expectation.watch({
        facts: cluster.facts,
        board: director.board,
        world: director.world,
        start: cluster.clock.now,
      }),
    );
    director.start();
    cluster.startClients();
    director.afterEvent();
  }

  #step(): void {
    const { cluster, plan } = this;
    const director = this.#director;
    if (!cluster.scheduler.step()) {
      this.#stop("nothing was left to happen");
      return;
    }
    director.afterEvent();
    if (director.phase === "over") {
      this.#phase = "over";
    } else if (cluster.clock.now >= plan.limit.time) {
      this.#stop(`the scenario's limit of ${plan.limit.time / SECOND}s simulated is spent`);
    } else if (cluster.scheduler.event >= plan.limit.events) {
      this.#stop(`the scenario's limit of ${plan.limit.events} events is spent`);
    }
  }

  #stop(reason: string): void {
    this.#stopped = reason;
    this.#phase = "over";
  }

  /** What came out. `interrupted` says who ended the run from outside, if anybody did. */
  finish(interrupted: string | undefined): RunResult {
    const { cluster, plan } = this;
    const { scenario, seed } = plan;
    const director = this.#director;
    if (interrupted !== undefined) this.#stop(interrupted);
    const at = cluster.clock.now;
    this.#checkers?.atEnd(at, cluster.scheduler.event);
    director.board.evaluate(at);
    const violations = this.#checkers?.violations() ?? [];
    const guarantees = this.#checkers?.summaries() ?? [];
    const tested = new Set(
      guarantees.filter(({ state }) => state !== "untested").map(({ name }) => name),
    );
    const expectations = this.#watches.map((watch) => {
      const { ok, text, place } = watch.result({
        at,
        isComplete: this.#stopped === undefined,
        violations,
        isTested: (guarantee) => tested.has(guarantee),
      });
      return { ok, text, line: place.line };
    });
    const clients = clientRows(plan.cluster.clients, cluster.view, at);
    const { verdict, reasons } = verdictOf({
      stopped: this.#stopped,
      unfired: director.unfired(),
      clients,
      violations,
      expectations,
    });
    return {
      scenario: scenario.name,
      summary: scenario.summary,
      file: scenario.file,
      seed,
      variant: scenario.variant,
      kafka: scenario.kafka,
      brokers: plan.cluster.brokers.length,
      verdict,
      reasons,
      drawn: plan.choices,
      timeline: this.#timeline.entries(),
      partitions: partitionRows(cluster.view),
      clients,
      groups: groupRows(cluster.view, at),
      expectations,
      guarantees,
      violations,
      simulated: at,
      events: cluster.scheduler.event,
      digest: cluster.scheduler.digest.value(),
      checkpoints: cluster.scheduler.digest.checkpoints,
      warmUp: cluster.clock.zero,
    };
  }
}
