import type { PartitionName } from "../../kafka/ids.ts";
import { PARTITION } from "../expression-form.ts";
import type { Key } from "../form.ts";
import { readKeys } from "../form.ts";
import type { Place } from "../place.ts";
import { integer, word } from "../scalar-form.ts";
import { entryOf } from "../yaml-node.ts";
import type {
  Expectation,
  ExpectationKind,
  ExpectationResult,
  ExpectationWatch,
  RunEnd,
} from "./expectation.ts";
import { resultOf } from "./expectation.ts";
import { VIOLATION_KINDS } from "./guarantee-holds.ts";

const KEYS = {
  violation: { form: word(VIOLATION_KINDS), required: true, meaning: "The kind of violation." },
  partition: { form: PARTITION, meaning: "Only in this partition." },
  "at-least": { form: integer(1), meaning: "How many records it concerns at least. Default 1." },
} satisfies Readonly<Record<string, Key<unknown>>>;

/** The loss is the lesson: the run passes only if it happens. */
export const VIOLATION_HAPPENS: ExpectationKind = {
  name: "violation",
  meaning: "A guarantee is violated: the loss is the lesson.",
  example: "{ violation: acked-record-lost, partition: orders-0, at-least: 1 }",
  keys: KEYS,
  read(map, reading) {
    const values = readKeys(map, KEYS, reading);
    if (values.violation === undefined) return undefined;
    const place = entryOf(map, "violation")?.keyPlace ?? map.place;
    return new ViolationHappens(values.violation, values.partition, values["at-least"] ?? 1, place);
  },
};

class ViolationHappens implements Expectation, ExpectationWatch {
  readonly name = "violation";
  readonly text: string;
  readonly place: Place;
  readonly #kind: string;
  readonly #partition: PartitionName | undefined;
  readonly #atLeast: number;

  constructor(kind: string, partition: PartitionName | undefined, atLeast: number, place: Place) {
    this.#kind = kind;
    this.#partition = partition;
    this.#atLeast = atLeast;
    this.place = place;
    this.text = partition === undefined ? `violation ${kind}` : `violation ${kind} ${partition}`;
  }

  watch(): ExpectationWatch {
    return this;
  }

  result(end: RunEnd): ExpectationResult {
    let count = 0;
    for (const violation of end.violations) {
      const isHere = this.#partition === undefined || violation.partition === this.#partition;
      if (violation.kind === this.#kind && isHere) count += violation.count;
    }
    if (count >= this.#atLeast) return resultOf(this, true, String(count));
    const found = this.#atLeast === 1 ? "it did not happen" : `${count} of ${this.#atLeast}`;
    return resultOf(this, end.isComplete ? false : undefined, found);
  }
}
