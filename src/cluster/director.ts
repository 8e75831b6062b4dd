import type { Duration, Instant } from "../base/time.ts";
import { formatSeconds, SECOND } from "../base/time.ts";
import type { CopyHarm } from "../faults/fault-atlas.ts";
import { FaultAtlas } from "../faults/fault-atlas.ts";
import type { Fault, Stage } from "../faults/fault-kind.ts";
import { METADATA_TOPIC, partitionName } from "../kafka/ids.ts";
import type { Hands } from "../ports/hands.ts";
import type { Frame, NodeAddress } from "../ports/network.ts";
import type { NodesExpression } from "../scenario/expression.ts";
import type { ExpressionWorld } from "../scenario/expression-world.ts";
import { holds } from "../scenario/predicate.ts";
import type { PredicateWatch } from "../scenario/predicate-board.ts";
import { PredicateBoard } from "../scenario/predicate-board.ts";
import type { Roster, RosterNode } from "../scenario/roster.ts";
import type { FaultSpec } from "../scenario/scenario.ts";
import { resolveNodes } from "../scenario/target.ts";
import type { Rng } from "../sim/rng.ts";
import type { EventHandler, Scheduler } from "../sim/scheduler.ts";
import type { ClusterView } from "../trace/cluster-view.ts";
import type { EventClock, FactRecorder } from "../trace/recorder.ts";
import type { Plan, PlannedFault } from "./plan.ts";
import type { Core, Troubles } from "./settle-core.ts";
import { drawCore } from "./settle-core.ts";
import { Told } from "./told.ts";
import { TracedHands } from "./traced-hands.ts";

/** What a director works with. */
export interface DirectorOptions {
  readonly plan: Plan;
  readonly roster: Roster;
  readonly scheduler: Scheduler;
  /** The recorder's clock: the scenario's time, zero when the cluster was ready. */
  readonly clock: EventClock;
  readonly facts: FactRecorder;
  readonly view: ClusterView;
  readonly hands: Hands;
  /** The run's root: each step takes a stream of its own below it. */
  readonly random: Rng;
  /**
   * Called when the story is over and everything was healed: who sends without end is to stop. Where only a
   * core is healed, which is to work and not only to agree, half-way through the settling.
   */
  readonly onSettle: () => void;
}

/** The story, then the time in which the healed cluster must converge, then nothing more. */
export type Phase = "story" | "settling" | "over";

/** A step that did not happen, and why: the run says nothing about it. */
export interface Unfired {
  readonly fault: FaultSpec;
  /** Half a sentence: "`isr(orders-0) == leader(orders-0)` never held". */
  readonly reason: string;
  /** For how long it was waited for. */
  readonly waited: Duration;
}

const METADATA = partitionName(METADATA_TOPIC, 0);

/** How long after it stopped a node is started again while the cluster settles. */
const RESTART_DELAY: Duration = SECOND;

/** One step of the plan, and how far it has come. */
class Step {
  readonly planned: PlannedFault;
  readonly random: Rng;
  /** Firings that are scheduled and have not happened. */
  scheduled = 0;
  /** How often it may still fire by its own trigger; `after` steps wait for others instead. */
  left: number;
  /** It fired, or its target was optional and named nobody. */
  isDone = false;
  /** Why it can fire no more, if it never did. */
  reason: string | undefined;
  waited: Duration = 0;
  /** Matching messages since the last firing. */
  matches = 0;
  watch: PredicateWatch | undefined;

  constructor(planned: PlannedFault, random: Rng) {
    this.planned = planned;
    this.random = random;
    const { trigger } = planned.spec;
    this.left = trigger.kind === "when" || trigger.kind === "message" ? trigger.times : 0;
  }

  get spec(): FaultSpec {
    return this.planned.spec;
  }
}

/** A fault that has begun and whose end is still to come. */
interface OpenFault {
  readonly step: Step;
  readonly fault: Fault;
  /** Where only a core will be healed: what the fault acts through. */
  readonly traced: TracedHands | undefined;
  isOver: boolean;
}

/** The payload of the director's events. */
class Cue {
  readonly act: () => void;
  readonly text: string;

  constructor(act: () => void, text: string) {
    this.act = act;
    this.text = text;
  }
}

/**
 * Plays a plan's faults: waits for their triggers, finds out whom they mean, and lets them begin and
 * end; then heals everything, or a core, and gives the cluster time to converge.
 *
 * The story lasts as long as the scenario's `duration`; without one, until no step can fire any more,
 * what was to end by itself has, and every producer with a number of `records` is done.
 */
export class Director implements EventHandler {
  /** What expressions are evaluated against: for expectations too. */
  readonly world: ExpressionWorld;
  /** Where expectations watch their predicates. */
  readonly board: PredicateBoard;
  readonly #options: DirectorOptions;
  readonly #kind: number;
  readonly #bindings = new Map<string, readonly RosterNode[]>();
  readonly #steps: readonly Step[];
  readonly #open: OpenFault[] = [];
  /** Steps whose message has come within the event that is being handled. */
  readonly #matched: Step[] = [];
  /** Ends and later parts of faults that are scheduled. */
  #pending = 0;
  /** What faults may damage; undefined if the scenario promises nothing. */
  readonly #atlas: FaultAtlas | undefined;
  #phase: Phase = "story";
  /** What is healed, once the cluster settles; undefined: everything. */
  #core: Core | undefined = undefined;
  #isStarted = false;
  /** Something happened after which the story may be over. */
  #mayBeOver = false;

  constructor(options: DirectorOptions) {
    const { plan, roster, scheduler, clock, facts, view, random } = options;
    this.#options = options;
    const { goodCopies } = plan;
    this.#atlas = goodCopies === undefined ? undefined : new FaultAtlas(goodCopies);
    this.#kind = scheduler.register("director", this);
    this.world = {
      view,
      roster,
      bindings: this.#bindings,
      event: () => clock.event,
      now: () => clock.now,
    };
    this.board = new PredicateBoard(facts, this.world);
    this.#steps = plan.faults.map(
      (planned) =>
        new Step(planned, random.fork(`fault/${planned.spec.name ?? planned.spec.number}`)),
    );
    facts.on("send-ended", () => {
      this.#mayBeOver = true;
    });
    facts.on("node-stopped", (fact) => {
      this.#mayBeOver = true;
      if (this.#phase === "settling") this.#restartLater(fact.node);
    });
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** Do any triggers ask for messages? If so, `delivered` is to be told of all. */
  get watchesMessages(): boolean {
    return this.#steps.some(({ spec }) => spec.trigger.kind === "message");
  }

  /** Time zero: the cluster is ready, and the clients begin. To be called once. */
  start(): void {
    const { plan, roster, hands } = this.#options;
    this.#isStarted = true;
    for (const [name, { offset, driftPpm }] of plan.clocks) {
      const node = roster.named(name);
      if (node !== undefined) hands.skewClock(node.address, offset, driftPpm);
    }
    for (const step of this.#steps) this.#arm(step);
    if (plan.duration !== undefined) {
      this.#schedule(plan.duration, -1, "the story is over", () => this.#settle());
    }
    this.#mayBeOver = true;
  }

  /** To be called between events, after each. */
  afterEvent(): void {
    if (this.board.isDirty) this.board.evaluate(this.#options.clock.now);
    if (this.#matched.length > 0) for (const step of this.#matched.splice(0)) this.#fire(step);
    if (this.#mayBeOver) {
      this.#mayBeOver = false;
      if (this.#isStoryOver()) this.#settle();
    }
  }

  /** A frame is about to be handed to a node. To be called if `watchesMessages`. */
  delivered(from: NodeAddress, to: NodeAddress, frame: Frame): void {
    if (!this.#isStarted || this.#phase !== "story") return;
    for (const step of this.#steps) {
      const { trigger } = step.spec;
      if (trigger.kind !== "message" || step.left === 0) continue;
      const { pattern } = trigger;
      if (frame.apiKey !== pattern.apiKey || frame.isResponse !== pattern.isResponse) continue;
      if (!this.#isAmong(from, pattern.from) || !this.#isAmong(to, pattern.to)) continue;
      if (++step.matches < pattern.ordinal) continue;
      step.matches = 0;
      step.left--;
      this.#matched.push(step);
    }
  }

  /** Steps that never fired, in the order of the scenario. To be asked when all is over. */
  unfired(): Unfired[] {
    const unfired: Unfired[] = [];
    for (const step of this.#steps) {
      if (step.isDone || step.spec.optional) continue;
      const reason = step.reason ?? "the story was over before";
      unfired.push({ fault: step.spec, reason, waited: step.waited });
    }
    return unfired;
  }

  handle(_subject: number, payload: unknown): void {
    // Only the director itself schedules these events, each with a cue.
    (payload as Cue).act();
  }

  describe(_subject: number, payload: unknown): string {
    return (payload as Cue).text;
  }

  // Triggers.

  #arm(step: Step): void {
    const { trigger } = step.spec;
    switch (trigger.kind) {
      case "at":
        this.#fireLater(step, step.planned.delay);
        break;
      case "when":
        step.watch = this.board.watch(trigger.predicate, {
          changed: (isHolding) => {
            if (!isHolding || step.left === 0 || this.#phase !== "story") return;
            step.left--;
            if (step.left === 0) step.watch?.cancel();
            this.#fire(step);
          },
        });
        this.#giveUpAfter(step, trigger.timeout, `\`${trigger.text}\` never held`);
        break;
      case "message":
        this.#giveUpAfter(step, trigger.timeout, `\`${trigger.text}\` never came`);
        break;
      case "after":
        break;
    }
  }

  /** The step is waited for so long, from time zero or from when it last fired. */
  #giveUpAfter(step: Step, timeout: Duration, reason: string): void {
    const { left } = step;
    if (left === 0) return;
    this.#schedule(timeout, step.spec.number, `waited for ${step.spec.text}`, () => {
      if (step.left === 0) return;
      if (step.left < left) {
        this.#giveUpAfter(step, timeout, reason);
        return;
      }
      step.left = 0;
      step.watch?.cancel();
      step.waited = timeout;
      if (!step.isDone) this.#giveUp(step, reason);
      this.#mayBeOver = true;
    });
  }

  #giveUp(step: Step, reason: string): void {
    step.reason = reason;
    for (const later of this.#stepsAfter(step)) {
      if (later.isDone || later.reason !== undefined) continue;
      this.#giveUp(later, `\`${step.spec.name}\` never fired`);
    }
  }

  #fireLater(step: Step, delay: Duration): void {
    step.scheduled++;
    this.#schedule(delay, step.spec.number, step.spec.text, () => {
      step.scheduled--;
      this.#fire(step);
    });
  }

  #stepsAfter({ spec }: Step): Step[] {
    if (spec.name === undefined) return [];
    return this.#steps.filter(({ spec: { trigger } }) => {
      return trigger.kind === "after" && trigger.fault === spec.name;
    });
  }

  #isAmong(address: NodeAddress, target: NodesExpression | undefined): boolean {
    if (target === undefined) return true;
    return resolveNodes(target, this.world).some((node) => node.address === address);
  }

  // Faults.

  #fire(step: Step): void {
    if (this.#phase !== "story") return;
    this.#mayBeOver = true;
    const { spec } = step;
    const told = new Told(step.planned, this.world, step.random);
    const fault = told.empty === undefined ? spec.kind.prepare(told) : undefined;
    if (fault === undefined || fault.isIdle) {
      if (!spec.optional) {
        const when = formatSeconds(this.#options.clock.now);
        const what = told.empty === undefined ? spec.text : told.empty;
        const why = told.empty === undefined ? "had nothing to act on" : "named no node";
        if (!step.isDone) this.#giveUp(step, `\`${what}\` ${why} at ${when}`);
        return;
      }
    } else {
      for (const { parameter, name } of spec.bindings) {
        this.#bindings.set(name, told.bound(parameter));
      }
      const objection = this.#breach(spec, told) ?? this.#objectionTo(fault);
      if (objection === undefined) this.#begin(step, fault);
      else this.#noteSkipped(spec, fault, objection);
    }
    step.isDone = true;
    step.reason = undefined;
    for (const later of this.#stepsAfter(step)) this.#fireLater(later, later.planned.delay);
  }

  /** Why a fault must not happen, by what its step is to keep. */
  #breach({ kind, keep }: FaultSpec, told: Told): string | undefined {
    if (keep === undefined) return undefined;
    const gone = kind.stops === true ? told.nodes(kind.name) : [];
    if (holds(keep.expression, { ...this.world, gone })) return undefined;
    return `\`${keep.text}\` would not hold`;
  }

  /** Why a fault must not happen, by what the scenario promises of its disks. */
  #objectionTo({ harm = [] }: Fault): string | undefined {
    const atlas = this.#atlas;
    if (atlas === undefined || harm.length === 0) return undefined;
    const { roster, view } = this.#options;
    const voters = roster.ofRole("controller").map(({ id }) => id);
    const harms: CopyHarm[] = [];
    for (const { node, log, offsets, reachesDurable } of harm) {
      const { id: broker, role } = roster.at(node);
      // What the quorum has committed is durable, at more than half of its voters.
      if (role === "controller" && reachesDurable && (log ?? METADATA) === METADATA) {
        const quorum = Math.floor(voters.length / 2) + 1;
        harms.push({ partition: METADATA, replicas: voters, broker, offsets, quorum });
      }
      for (const partition of log === undefined ? roster.partitions : [log]) {
        const { replicas } = view.partition(partition);
        if (!replicas.includes(broker)) continue;
        harms.push({ partition, replicas, broker, offsets, quorum: 0 });
      }
    }
    return atlas.admit(harms);
  }

  #noteSkipped(spec: FaultSpec, fault: Fault, objection: string): void {
    const text = `${spec.kind.name} ${fault.text}: ${objection}`;
    this.#options.facts.note({ kind: "fault-begun", fault: -1, verb: "skip", text, name: "" });
  }

  #begin(step: Step, fault: Fault): void {
    const { spec, planned } = step;
    const { hands } = this.#options;
    const traced = this.#options.plan.settle.core === "all" ? undefined : new TracedHands(hands);
    const open: OpenFault = { step, fault, traced, isOver: false };
    // First the cause, then what it does.
    this.#note("fault-begun", spec, fault.text);
    if (planned.for !== undefined || spec.kind.lasts) this.#open.push(open);
    fault.begin(this.#stage(open));
    if (planned.for === undefined) return;
    this.#pending++;
    this.#schedule(planned.for, spec.number, `end of ${spec.text}`, () => {
      this.#pending--;
      this.#mayBeOver = true;
      this.#end(open);
    });
  }

  #end(open: OpenFault, where = ""): void {
    if (open.isOver) return;
    open.isOver = true;
    this.#open.splice(this.#open.indexOf(open), 1);
    this.#note("fault-ended", open.step.spec, `${open.fault.text}${where}`);
    open.fault.end(this.#stage(open));
  }

  /** Ends what the fault does within the core; the rest stays for ever. */
  #endWithin(open: OpenFault, { addresses }: Core): void {
    const grip = open.traced?.gripOn(addresses) ?? "inside";
    if (grip === "outside") {
      open.isOver = true;
      return;
    }
    if (grip === "both") open.traced?.releaseOnly(addresses);
    this.#end(open, grip === "both" ? ", within the core" : "");
  }

  #stage(open: OpenFault): Stage {
    return {
      hands: open.traced ?? this.#options.hands,
      after: (delay, act) => {
        if (delay === 0) {
          act();
          return;
        }
        this.#pending++;
        this.#schedule(delay, open.step.spec.number, `part of ${open.step.spec.text}`, () => {
          this.#pending--;
          this.#mayBeOver = true;
          if (!open.isOver && this.#phase === "story") act();
        });
      },
    };
  }

  // The end of the story.

  #isStoryOver(): boolean {
    if (!this.#isStarted || this.#phase !== "story") return false;
    if (this.#options.plan.duration !== undefined || this.#pending > 0) return false;
    if (this.#steps.some((step) => step.scheduled > 0 || step.left > 0)) return false;
    return this.#options.plan.cluster.clients.every((client) => {
      if (client.kind !== "producer" || client.records === undefined) return true;
      const { view } = this.#options;
      const node = view.node(client.name);
      if (!node.isUp && node.stoppedBy !== undefined) return true;
      const { sent, ended } = view.client(client.name);
      return sent >= client.records && ended === sent;
    });
  }

  #settle(): void {
    if (this.#phase !== "story") return;
    this.#phase = "settling";
    for (const step of this.#steps) {
      step.watch?.cancel();
      step.left = 0;
    }
    const { roster, view, hands, plan, random, onSettle } = this.#options;
    if (plan.settle.core === "majority") {
      this.#core = drawCore(roster, view, this.#troubles(), random.fork("settle/core"));
    }
    const core = this.#core;
    const servers = core?.servers ?? roster.nodes.filter(({ role }) => role !== "client");
    const down = servers.filter(({ name }) => !view.node(name).isUp);
    const paused = servers.filter(({ name }) => view.node(name).isPaused);
    this.#noteSettle(down, paused);
    for (const open of [...this.#open]) {
      if (core === undefined) this.#end(open);
      else this.#endWithin(open, core);
    }
    for (const { address } of paused) hands.resume(address);
    for (const { address } of down) hands.restart(address);
    const { time } = plan.settle;
    if (core === undefined) onSettle();
    else this.#schedule(Math.floor(time / 2), -1, "the producers have done enough", onSettle);
    this.#schedule(time, -1, "the cluster has settled", () => {
      this.#phase = "over";
    });
  }

  #noteSettle(down: readonly RosterNode[], paused: readonly RosterNode[]): void {
    const { facts } = this.#options;
    const core = this.#core;
    const frozen = core === undefined ? [] : this.#frozenBeyond(core);
    const parts = [
      ...(core === undefined ? [] : [`only ${namesOf(core.servers)} are healed`]),
      ...(this.#open.length > 0 ? [core === undefined ? "faults end" : "faults end there"] : []),
      ...(paused.length > 0 ? [`${namesOf(paused)} resumed`] : []),
      ...(down.length > 0 ? [`${namesOf(down)} started`] : []),
      ...(frozen.length > 0 ? [`for ${namesOf(frozen)} faults stay`] : []),
    ];
    const text = parts.length === 0 ? "nothing is left to heal" : parts.join("; ");
    facts.note({ kind: "fault-begun", fault: -1, verb: "settle", text, name: "" });
    if (core === undefined) return;
    facts.note({
      kind: "core-drawn",
      core: core.servers.map(({ name }) => name),
      frozen: frozen.map(({ name }) => name),
    });
  }

  /** Who is not healed, and not healthy. */
  #frozenBeyond({ others, addresses }: Core): RosterNode[] {
    const { view } = this.#options;
    const spoiled = this.#troubles().spoiledBeyond(addresses);
    return others.filter(({ name, address }) => !view.node(name).isAlive || spoiled.has(address));
  }

  #troubles(): Troubles {
    const hands = this.#open.flatMap(({ traced }) => traced ?? []);
    return {
      spoiledBeyond: (healed) => new Set(hands.flatMap((one) => one.spoiledBeyond(healed))),
      isCut: (one, other) => hands.some((each) => each.hasCut(one, other)),
    };
  }

  /** A shutdown that was under way may end only now; who is healed is to settle with all its nodes. */
  #restartLater(name: string): void {
    const node = this.#options.roster.named(name);
    if (node === undefined || node.role === "client") return;
    if (this.#core?.addresses.has(node.address) === false) return;
    this.#schedule(RESTART_DELAY, -1, `start of ${name}`, () => {
      if (this.#phase === "settling") this.#options.hands.restart(node.address);
    });
  }

  #note(kind: "fault-begun" | "fault-ended", spec: FaultSpec, text: string): void {
    const [first] = spec.arguments.values();
    const binding = first?.text.startsWith("$") === true ? first.text : "";
    this.#options.facts.note({
      kind,
      fault: spec.number,
      verb: spec.kind.name,
      text,
      name: spec.name ?? binding,
    });
  }

  #schedule(delay: Duration, subject: number, text: string, act: () => void): void {
    const { scheduler } = this.#options;
    const at: Instant = scheduler.now + delay;
    scheduler.at(at, this.#kind, subject, new Cue(act, text));
  }
}

function namesOf(nodes: readonly RosterNode[]): string {
  return nodes.map(({ name }) => name).join(", ");
}
