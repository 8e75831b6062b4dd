import type { Consumed } from "./consume-form.ts";
import { CONSUMED } from "./consume-form.ts";
import type { DurationSpec } from "./draw.ts";
import type { Form, Key, Placed } from "./form.ts";
import { mapping, placed } from "./form.ts";
import { DRAWN_DURATION, TEXT, word } from "./scalar-form.ts";
import type { ProcessorSpec, StoreSpec } from "./scenario.ts";

/** What `process` says; topics are yet to be found. */
export interface Processed {
  readonly from: Consumed;
  readonly to: Placed<string> | undefined;
  readonly store: StoreSpec | undefined;
  readonly group: string;
  readonly guarantee: ProcessorSpec["guarantee"];
  readonly work: DurationSpec | undefined;
}

/** What is set for such a client where its own configs say nothing: as Kafka Streams does (`StreamsConfig`). */
export const PROCESS_DEFAULTS = {
  consumer:
    "Its ConsumerConfig. By default as Kafka Streams has it: `auto.offset.reset: earliest`, and with exactly-once `isolation.level: read_committed`. `enable.auto.commit` is false.",
  producer:
    "Its ProducerConfig. With exactly-once by default `transactional.id` is the client's name, and `transaction.timeout.ms` 10000, as Kafka Streams has it.",
} as const;

export const STORE_KEYS = {
  name: { form: TEXT, required: true, meaning: "Its name; applications may share it." },
  key: {
    form: word(["unique", "none"] as const),
    required: true,
    meaning:
      "Does a row have the place of its record for a key, so that it is written over (`unique`), or does each add one (`none`)?",
  },
} satisfies Readonly<Record<string, Key<unknown>>>;

const STORE_FIELDS = mapping("a store", STORE_KEYS);

/** A table outside of Kafka, to which transactions do not reach. */
const STORE: Form<StoreSpec> = {
  ...STORE_FIELDS,
  read(node, reading, label) {
    const fields = STORE_FIELDS.read(node, reading, label);
    if (fields === undefined) return undefined;
    const { name, key } = fields.values;
    return name === undefined || key === undefined
      ? undefined
      : { name, isKeyUnique: key === "unique" };
  },
};

export const PROCESS_KEYS = {
  from: {
    form: CONSUMED,
    required: true,
    meaning: "What it reads: a topic, several, `[orders, returns]`, or a pattern, `/orders-.*/`.",
  },
  to: { form: placed(TEXT), meaning: "The topic to which it writes a record for each." },
  store: {
    form: STORE,
    meaning: "The table outside of Kafka to which it writes a row for each: { name, key }.",
  },
  group: { form: TEXT, required: true, meaning: "Its group (`group.id`)." },
  guarantee: {
    form: placed(word(["at-most-once", "at-least-once", "exactly-once"] as const)),
    required: true,
    meaning:
      "How it commits: before its work on what a poll gave it; after it, when all that it wrote is acknowledged; or in one transaction with what it wrote (needs `to`).",
  },
  work: {
    form: DRAWN_DURATION,
    meaning: "How long it works on each record, drawn for each. Default: no time.",
  },
} satisfies Readonly<Record<string, Key<unknown>>>;

const PROCESS_FIELDS = mapping("`process`", PROCESS_KEYS);

export const PROCESS: Form<Processed> = {
  ...PROCESS_FIELDS,
  read(node, reading, label) {
    const fields = PROCESS_FIELDS.read(node, reading, label);
    if (fields === undefined) return undefined;
    const { from, to, store, group, guarantee, work } = fields.values;
    if (from === undefined || group === undefined || guarantee === undefined) return undefined;
    const given = node.kind === "map" ? node.entries.map(({ key }) => key) : [];
    if (!given.includes("to") && !given.includes("store")) {
      return reading.complain(fields.place, "`process` needs the key `to` or `store`");
    }
    if (!given.includes("to") && guarantee.value === "exactly-once") {
      const message =
        "exactly-once needs `to`: a transaction reaches only what is written to Kafka";
      return reading.complain(guarantee.place, message);
    }
    return { from, to, store, group, guarantee: guarantee.value, work };
  },
};
