import type { Form, Placed } from "./form.ts";
import { list, placed } from "./form.ts";
import { TEXT } from "./scalar-form.ts";

/** What `consume` names: topics, or a pattern that their names must match. */
export interface Consumed {
  readonly topics: readonly Placed<string>[];
  /** A regular expression for whole names; then `topics` is empty. */
  readonly pattern: string | undefined;
}

const TOPIC_LIST = list(placed(TEXT));

/** A topic, a list of topics, or a pattern between slashes. */
export const CONSUMED: Form<Consumed> = {
  takes: "a topic, a list of topics, or a pattern between slashes such as /orders-.*/",
  schema: { oneOf: [TEXT.schema, TOPIC_LIST.schema] },
  read(node, reading, label) {
    if (node.kind === "list") {
      const topics = TOPIC_LIST.read(node, reading, label);
      if (topics === undefined) return undefined;
      if (topics.length === 0) return reading.complain(node.place, `\`${label}\` names no topic`);
      return { topics, pattern: undefined };
    }
    const text = TEXT.read(node, reading, label);
    if (text === undefined) return undefined;
    const [, pattern] = /^\/(.+)\/$/.exec(text) ?? [];
    if (pattern === undefined) return { topics: [{ value: text, place: node.place }], pattern };
    if (!isPattern(pattern)) return reading.complain(node.place, `\`${text}\` is no pattern`);
    return { topics: [], pattern };
  },
};

function isPattern(text: string): boolean {
  try {
    return new RegExp(text).source !== "";
  } catch {
    return false;
  }
}
