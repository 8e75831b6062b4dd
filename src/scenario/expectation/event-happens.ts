import type { BrokerId, PartitionName } from "../../kafka/ids.ts";
import type { Fact, FactKind, FactOf } from "../../trace/fact.ts";
import type { FactRecorder } from "../../trace/recorder.ts";
import type { NodesExpression } from "../expression.ts";
import type { Written } from "../expression-form.ts";
import { PARTITION, TARGET } from "../expression-form.ts";
import type { ExpressionWorld } from "../expression-world.ts";
import type { Form, Key } from "../form.ts";
import { expectScalar, mapping, readKeys } from "../form.ts";
import { isDraw, parseTarget } from "../parse-expression.ts";
import type { Place } from "../place.ts";
import { word } from "../scalar-form.ts";
import { isUnbound, resolveNodes } from "../target.ts";
import { entryOf } from "../yaml-node.ts";
import type {
  Expectation,
  ExpectationKind,
  ExpectationWatch,
  WatchContext,
} from "./expectation.ts";
import { resultOf } from "./expectation.ts";

/** What can be waited for by name: most kinds of facts, and what they say in particular cases. */
interface NamedEvent {
  readonly name: string;
  readonly fact: FactKind;
  matches(fact: Fact): boolean;
}

const FACT_EVENTS: readonly FactKind[] = [
  "node-started",
  "node-stopped",
  "node-paused",
  "node-resumed",
  "unflushed-lost",
  "disk-disturbed",
  "controller-elected",
  "controller-resigned",
  "broker-registered",
  "broker-fenced",
  "broker-unfenced",
  "partition-changed",
  "log-loaded",
  "truncated",
  "log-start-moved",
  "log-cleaned",
  "log-directory-failed",
  "became-leader",
  "became-follower",
  "isr-proposed",
  "coordinator-loaded",
  "coordinator-unloaded",
  "group-state-changed",
  "group-migrated",
  "group-member-joined",
  "group-member-left",
  "group-assigned",
  "offsets-committed",
  "offsets-removed",
  "zookeeper-session-ended",
  "zookeeper-rebalance-ended",
  "transaction-state-changed",
  "transaction-begun",
  "transaction-ended",
  "producer-fenced",
  "producer-id-rotated",
  "hanging-transaction-found",
  "position-reset",
  "offset-told",
  "call-failed",
  "partitions-assigned",
  "partitions-revoked",
  "partitions-lost",
  "commit-ended",
];

const EVENTS: readonly NamedEvent[] = [
  ...FACT_EVENTS.map((kind) => ({ name: kind, fact: kind, matches: () => true })),
  {
    name: "log-recovery-truncated",
    fact: "log-loaded",
    matches: (fact) => fact.kind === "log-loaded" && fact.truncatedBytes > 0,
  },
  {
    name: "unclean-election",
    fact: "partition-changed",
    matches: (fact) => fact.kind === "partition-changed" && fact.election === "unclean",
  },
];

/** `any(X)` says here that one of X is enough, which is what X alone says too. */
const ONE_OF: Form<Written<NodesExpression>> = {
  takes: TARGET.takes,
  schema: TARGET.schema,
  read(node, reading, label) {
    const scalar = expectScalar(node, reading, label, TARGET.takes);
    if (scalar === undefined) return undefined;
    const target = parseTarget(scalar, reading);
    if (target === undefined) return undefined;
    const expression = target.kind === "pick" && target.amount === 1 ? target.of : target;
    if (isDraw(expression)) {
      return reading.complain(scalar.place, `\`${label}\` cannot draw; write any(X) or X`);
    }
    return { expression, text: scalar.text.trim(), place: scalar.place };
  },
};

const BROKER = { form: ONE_OF, meaning: "Only at one of these nodes." };
const IN_PARTITION = { form: PARTITION, meaning: "Only in this partition." };
const EVENT_KEYS = {
  event: {
    form: word(EVENTS.map(({ name }) => name)),
    required: true,
    meaning: "The kind of fact.",
  },
  broker: BROKER,
  partition: IN_PARTITION,
} satisfies Readonly<Record<string, Key<unknown>>>;
const TRUNCATION = mapping("`truncation`", { broker: BROKER, partition: IN_PARTITION });
const TRUNCATION_KEYS = {
  truncation: { form: TRUNCATION, required: true, meaning: "Where." },
} satisfies Readonly<Record<string, Key<unknown>>>;

/** Something is heard of: a kind of fact. */
export const EVENT_HAPPENS: ExpectationKind = {
  name: "event",
  meaning: "Something of this kind happens.",
  example: "{ event: log-recovery-truncated, broker: any(brokers) }",
  keys: EVENT_KEYS,
  read(map, reading) {
    const { event, broker, partition } = readKeys(map, EVENT_KEYS, reading);
    const isUnread = broker === undefined && entryOf(map, "broker") !== undefined;
    const named = EVENTS.find(({ name }) => name === event);
    if (named === undefined || isUnread) return undefined;
    const place = entryOf(map, "event")?.keyPlace ?? map.place;
    return new EventHappens("event", named, broker, partition, place);
  },
};

/** A replica cuts off the end of its log. */
export const TRUNCATION_HAPPENS: ExpectationKind = {
  name: "truncation",
  meaning: "A replica cuts off the end of its log.",
  example: "{ truncation: { broker: $old, partition: orders-0 } }",
  keys: TRUNCATION_KEYS,
  read(map, reading) {
    const fields = readKeys(map, TRUNCATION_KEYS, reading).truncation;
    const named = EVENTS.find(({ name }) => name === "truncated");
    if (fields === undefined || named === undefined) return undefined;
    const { broker, partition } = fields.values;
    if (broker === undefined && fields.has("broker")) return undefined;
    const place = entryOf(map, "truncation")?.keyPlace ?? map.place;
    return new EventHappens("truncation", named, broker, partition, place);
  },
};

class EventHappens implements Expectation {
  readonly name: string;
  readonly text: string;
  readonly place: Place;
  readonly #event: NamedEvent;
  readonly #nodes: NodesExpression | undefined;
  readonly #partition: PartitionName | undefined;

  constructor(
    name: string,
    event: NamedEvent,
    nodes: Written<NodesExpression> | undefined,
    partition: PartitionName | undefined,
    place: Place,
  ) {
    this.name = name;
    this.#event = event;
    this.#nodes = nodes?.expression;
    this.#partition = partition;
    this.place = place;
    const words = [
      name === "event" ? `event ${event.name}` : name,
      ...(partition === undefined ? [] : [partition]),
      ...(nodes === undefined ? [] : [`at ${nodes.text}`]),
    ];
    this.text = words.join(" ");
  }

  watch({ facts, world }: WatchContext): ExpectationWatch {
    /** Ids and names of the nodes where it happened; -1 where a fact names none. */
    const places = new Set<BrokerId | string>();
    listen(facts, this.#event, (fact) => {
      if (this.#partition === undefined || partitionIn(fact) === this.#partition) {
        places.add(nodeIn(fact));
      }
    });
    return {
      result: (end) => {
        // Where the step never fired that was to say at which node, nothing can be told.
        if (this.#nodes !== undefined && isUnbound(this.#nodes, world)) {
          return resultOf(this, undefined);
        }
        const isMet = this.#isMet(places, world);
        return resultOf(this, isMet ? true : end.isComplete ? false : undefined);
      },
    };
  }

  /** Bindings are known at the end, so that is when the nodes are resolved. */
  #isMet(places: ReadonlySet<BrokerId | string>, world: ExpressionWorld): boolean {
    const nodes = this.#nodes;
    if (nodes === undefined) return places.size > 0;
    return resolveNodes(nodes, world).some(({ id, name }) => places.has(id) || places.has(name));
  }
}

function listen(facts: FactRecorder, event: NamedEvent, hear: (fact: Fact) => void): void {
  facts.on(event.fact, (fact: FactOf<FactKind>) => {
    if (event.matches(fact)) hear(fact);
  });
}

function partitionIn(fact: Fact): PartitionName | undefined {
  return "partition" in fact ? fact.partition : undefined;
}

function nodeIn(fact: Fact): BrokerId | string {
  if ("broker" in fact) return fact.broker;
  if ("node" in fact) return fact.node;
  if ("controller" in fact) return fact.controller;
  return "client" in fact ? fact.client : "";
}
