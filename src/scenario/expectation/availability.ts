import type { Duration } from "../../base/time.ts";
import type { PartitionName } from "../../kafka/ids.ts";
import { formatDuration, formatMeasured } from "../duration.ts";
import { PARTITION } from "../expression-form.ts";
import type { Key } from "../form.ts";
import { readKeys } from "../form.ts";
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

const LONGER_THAN = { form: DURATION, meaning: "For longer than this. Default 0." };
const AVAILABLE_KEYS = {
  available: { form: PARTITION, required: true, meaning: "Which partition." },
  "longer-than": LONGER_THAN,
} satisfies Readonly<Record<string, Key<unknown>>>;
const UNAVAILABLE_KEYS = {
  unavailable: { form: PARTITION, required: true, meaning: "Which partition." },
  "longer-than": LONGER_THAN,
} satisfies Readonly<Record<string, Key<unknown>>>;

/** A partition is available while it has a leader whose broker runs. */
export const AVAILABLE: ExpectationKind = {
  name: "available",
  meaning: "A partition never is without a running leader, or not for longer than so.",
  example: "{ available: orders-0, longer-than: 15s }",
  keys: AVAILABLE_KEYS,
  read(map, reading) {
    const { available, "longer-than": time } = readKeys(map, AVAILABLE_KEYS, reading);
    if (available === undefined) return undefined;
    const place = entryOf(map, "available")?.keyPlace ?? map.place;
    return new Availability("available", available, time ?? 0, place);
  },
};

export const UNAVAILABLE: ExpectationKind = {
  name: "unavailable",
  meaning: "A partition is without a running leader, at least once for longer than so.",
  example: "{ unavailable: orders-0, longer-than: 30s }",
  keys: UNAVAILABLE_KEYS,
  read(map, reading) {
    const { unavailable, "longer-than": time } = readKeys(map, UNAVAILABLE_KEYS, reading);
    if (unavailable === undefined) return undefined;
    const place = entryOf(map, "unavailable")?.keyPlace ?? map.place;
    return new Availability("unavailable", unavailable, time ?? 0, place);
  },
};

class Availability implements Expectation {
  readonly name: "available" | "unavailable";
  readonly text: string;
  readonly place: Place;
  readonly partition: PartitionName;
  readonly time: Duration;

  constructor(
    name: "available" | "unavailable",
    partition: PartitionName,
    time: Duration,
    place: Place,
  ) {
    this.name = name;
    this.partition = partition;
    this.time = time;
    this.place = place;
    const but = name === "available" ? ", gaps up to" : " for more than";
    this.text = `${name} ${partition}${time === 0 ? "" : `${but} ${formatDuration(time)}`}`;
  }

  watch(context: WatchContext): ExpectationWatch {
    const holding = new Holding(context.start);
    context.board.watch(hasLeader(this.partition), holding);
    return { result: (end) => this.#judge(holding.longestBroken(end.at), end) };
  }

  #judge(longest: Duration, end: RunEnd): ExpectationResult {
    const found = formatMeasured(longest);
    const isLonger = longest > this.time;
    if (this.name === "unavailable") {
      return resultOf(this, isLonger ? true : end.isComplete ? false : undefined, found);
    }
    return resultOf(this, isLonger ? false : end.isComplete ? true : undefined, found);
  }
}
