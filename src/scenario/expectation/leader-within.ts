import type { Duration, Instant } from "../../base/time.ts";
import type { LeaderEpoch, PartitionName } from "../../kafka/ids.ts";
import { NO_LEADER } from "../../kafka/ids.ts";
import { formatDuration, formatMeasured } from "../duration.ts";
import { PARTITION } from "../expression-form.ts";
import type { ExpressionWorld } from "../expression-world.ts";
import type { Key } from "../form.ts";
import { mapping, readKeys } from "../form.ts";
import type { Place } from "../place.ts";
import { DURATION } from "../scalar-form.ts";
import { entryOf } from "../yaml-node.ts";
import type {
  Expectation,
  ExpectationKind,
  ExpectationResult,
  ExpectationWatch,
  RunEnd,
  WatchContext,
} from "./expectation.ts";
import { resultOf } from "./expectation.ts";
import { Holding, hasLeader } from "./holding.ts";
import { STEP_NAME } from "./step-name.ts";

const INNER = mapping("`leader-within`", {
  partition: { form: PARTITION, required: true, meaning: "Which partition." },
  time: { form: DURATION, required: true, meaning: "How long it may take." },
  after: {
    form: STEP_NAME,
    meaning: "From which step on. Without it: no gap between leaders may be longer.",
  },
});
const KEYS = {
  "leader-within": { form: INNER, required: true, meaning: "What is measured." },
} satisfies Readonly<Record<string, Key<unknown>>>;

/**
 * After a step, another leader is elected in time: one of a newer leader epoch whose broker runs.
 * Without a step, the partition is never without a running leader for longer.
 */
export const LEADER_WITHIN: ExpectationKind = {
  name: "leader-within",
  meaning: "A new leader is elected in time.",
  example: "{ leader-within: { partition: orders-0, time: 15s, after: kill } }",
  keys: KEYS,
  read(map, reading) {
    const fields = readKeys(map, KEYS, reading)["leader-within"];
    const { partition, time, after } = fields?.values ?? {};
    if (partition === undefined || time === undefined) return undefined;
    const place = entryOf(map, "leader-within")?.keyPlace ?? map.place;
    return new LeaderWithin(partition, time, after, place);
  },
};

class LeaderWithin implements Expectation {
  readonly name = "leader-within";
  readonly text: string;
  readonly place: Place;
  readonly partition: PartitionName;
  readonly time: Duration;
  readonly after: string | undefined;

  constructor(partition: PartitionName, time: Duration, after: string | undefined, place: Place) {
    this.partition = partition;
    this.time = time;
    this.after = after;
    this.place = place;
    this.text = `leader-within ${formatDuration(time)}`;
  }

  watch(context: WatchContext): ExpectationWatch {
    const { after } = this;
    return after === undefined
      ? new GapWatch(this, context)
      : new ElectionWatch(this, after, context);
  }
}

/** Measures from each firing of a step to the next election. */
class ElectionWatch implements ExpectationWatch {
  readonly #expectation: LeaderWithin;
  readonly #world: ExpressionWorld;
  /** The firing that no election has followed yet. */
  #since: Instant | undefined;
  #epoch: LeaderEpoch = -1;
  /** The longest of those that were followed by one. */
  #longest: Duration | undefined;

  constructor(expectation: LeaderWithin, after: string, context: WatchContext) {
    const { facts, world } = context;
    this.#expectation = expectation;
    this.#world = world;
    facts.on("fault-begun", (fact, at) => {
      if (fact.name !== after || this.#since !== undefined) return;
      this.#since = at;
      this.#epoch = world.view.partition(expectation.partition).leaderEpoch;
    });
    facts.on("partition-changed", (fact, at) => {
      if (fact.partition === expectation.partition) this.#look(at);
    });
    facts.on("node-started", (_, at) => this.#look(at));
    facts.on("node-resumed", (_, at) => this.#look(at));
  }

  result(end: RunEnd): ExpectationResult {
    const limit = this.#expectation.time;
    if (this.#longest !== undefined && this.#longest > limit) {
      return resultOf(this.#expectation, false, formatMeasured(this.#longest));
    }
    if (this.#since !== undefined) {
      const waited = end.at - this.#since;
      const ok = waited > limit || end.isComplete ? false : undefined;
      return resultOf(this.#expectation, ok, `none in ${formatMeasured(waited)}`);
    }
    return this.#longest === undefined
      ? resultOf(this.#expectation, undefined)
      : resultOf(this.#expectation, true, formatMeasured(this.#longest));
  }

  #look(at: Instant): void {
    if (this.#since === undefined) return;
    const { view, roster } = this.#world;
    const partition = view.partition(this.#expectation.partition);
    if (partition.leader === NO_LEADER || partition.leaderEpoch <= this.#epoch) return;
    const leader = roster.withId(partition.leader);
    if (leader === undefined || !view.node(leader.name).isAlive) return;
    this.#longest = Math.max(this.#longest ?? 0, at - this.#since);
    this.#since = undefined;
  }
}

/** Measures the longest time without a running leader. */
class GapWatch implements ExpectationWatch {
  readonly #expectation: LeaderWithin;
  readonly #holding: Holding;

  constructor(expectation: LeaderWithin, context: WatchContext) {
    this.#expectation = expectation;
    this.#holding = new Holding(context.start);
    context.board.watch(hasLeader(expectation.partition), this.#holding);
  }

  result(end: RunEnd): ExpectationResult {
    const longest = this.#holding.longestBroken(end.at);
    const ok = longest > this.#expectation.time ? false : end.isComplete ? true : undefined;
    return resultOf(this.#expectation, ok, formatMeasured(longest));
  }
}
