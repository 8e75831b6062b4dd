import { ERRORS } from "../../kafka/error-code.ts";
import type { NodesExpression } from "../expression.ts";
import { TARGET } from "../expression-form.ts";
import type { Key } from "../form.ts";
import { readKeys } from "../form.ts";
import type { Place } from "../place.ts";
import { word } from "../scalar-form.ts";
import { resolveNodes } from "../target.ts";
import { entryOf } from "../yaml-node.ts";
import type {
  Expectation,
  ExpectationKind,
  ExpectationWatch,
  WatchContext,
} from "./expectation.ts";
import { resultOf } from "./expectation.ts";

const KEYS = {
  error: {
    form: word(Object.keys(ERRORS).filter((name) => name !== "NONE")),
    required: true,
    meaning: "Kafka's name for the error.",
  },
  to: { form: TARGET, meaning: "Only to these clients. Default: to any." },
} satisfies Readonly<Record<string, Key<unknown>>>;

/** A client is told of an error, whether it tries again or gives up. */
export const ERROR_HAPPENS: ExpectationKind = {
  name: "error",
  meaning: "A client meets an error.",
  example: "{ error: NOT_ENOUGH_REPLICAS, to: p1 }",
  keys: KEYS,
  read(map, reading) {
    const { error, to } = readKeys(map, KEYS, reading);
    if (error === undefined || (to === undefined && entryOf(map, "to") !== undefined)) {
      return undefined;
    }
    const place = entryOf(map, "error")?.keyPlace ?? map.place;
    return new ErrorHappens(error, to?.expression, to?.text, place);
  },
};

class ErrorHappens implements Expectation {
  readonly name = "error";
  readonly text: string;
  readonly place: Place;
  readonly #error: string;
  readonly #to: NodesExpression | undefined;

  constructor(
    error: string,
    to: NodesExpression | undefined,
    toText: string | undefined,
    place: Place,
  ) {
    this.#error = error;
    this.#to = to;
    this.place = place;
    this.text = toText === undefined ? `error ${error}` : `error ${error} to ${toText}`;
  }

  watch({ facts, world }: WatchContext): ExpectationWatch {
    const met = new Set<string>();
    const note = (client: string, error: string): void => {
      if (error === this.#error) met.add(client);
    };
    facts.on("request-failed", (fact) => note(fact.client, fact.error));
    facts.on("send-ended", (fact) => note(fact.client, fact.error));
    return {
      result: (end) => {
        const to = this.#to;
        const isMet =
          to === undefined
            ? met.size > 0
            : resolveNodes(to, world).some(({ name }) => met.has(name));
        return resultOf(this, isMet ? true : end.isComplete ? false : undefined);
      },
    };
  }
}
