import { fail, unreachable } from "../base/invariant.ts";
import type { Parameter } from "../faults/fault-kind.ts";
import { METADATA_TOPIC, partitionName } from "../kafka/ids.ts";
import type { NodesExpression } from "./expression.ts";
import { PARTITION, TARGET } from "./expression-form.ts";
import { complainAboutDeaf, complainAboutRoles } from "./fault-target.ts";
import type { Form, JsonSchema } from "./form.ts";
import { expectList } from "./form.ts";
import type { Place } from "./place.ts";
import type { Reading } from "./reading.ts";
import { shortened } from "./reading.ts";
import {
  BANDWIDTH,
  BOUND,
  DRAWN_DURATION,
  DRIFT,
  DURATION,
  drawnWord,
  integer,
  OFFSETS,
  POSITION,
  PROBABILITY,
  SIGNED_DURATION,
  size,
  TEXT,
} from "./scalar-form.ts";
import type { ArgumentSpec } from "./scenario.ts";
import type { YamlNode } from "./yaml-node.ts";

/** No topic of a scenario, but a log on every node's disk. */
const METADATA_PARTITION = partitionName(METADATA_TOPIC, 0);

/** The most that a disk has left. */
const ROOM: Form<number> = size(0, Number.MAX_SAFE_INTEGER);

/** One thing that a fault is told, by the type of its parameter; undefined, with a complaint, if it cannot be read. */
export function readArgument(
  parameter: Parameter,
  node: YamlNode,
  reading: Reading,
): ArgumentSpec | undefined {
  const { place } = node;
  const text = node.kind === "scalar" ? node.text.replace(/\s+/g, " ").trim() : "";
  const { name, type } = parameter;
  switch (type) {
    case "nodes":
    case "servers":
    case "clients":
    case "consumers": {
      const target = TARGET.read(node, reading, name);
      if (target === undefined) return undefined;
      if (type === "consumers") complainAboutDeaf(target.expression, place, name, reading);
      else complainAboutRoles(target.expression, type, place, name, reading);
      return { kind: "nodes", target: target.expression, text, place };
    }
    case "groups":
      return readGroups(node, reading, name);
    case "latency":
    case "stagger": {
      const duration = DRAWN_DURATION.read(node, reading, name);
      return duration && { kind: "duration", duration, text, place };
    }
    case "duration":
      return numeric(DURATION.read(node, reading, name), text, place);
    case "offset":
    case "moment":
      return numeric(SIGNED_DURATION.read(node, reading, name), text, place);
    case "drift":
      return numeric(DRIFT.read(node, reading, name), text, place);
    case "factor":
      return numeric(integer(2, 1_000_000).read(node, reading, name), text, place);
    case "count":
      return numeric(integer(1, 1_000_000).read(node, reading, name), text, place);
    case "size":
      return numeric(ROOM.read(node, reading, name), text, place);
    case "offsets": {
      const offsets = OFFSETS.read(node, reading, name);
      return offsets && { kind: "offsets", offsets, text, place };
    }
    case "bound":
      return numeric(BOUND.read(node, reading, name), text, place);
    case "position":
      return numeric(POSITION.read(node, reading, name), text, place);
    case "topic":
      return readTopic(node, reading, name);
    case "partition": {
      const isMetadata = text === METADATA_PARTITION;
      const partition = isMetadata ? text : PARTITION.read(node, reading, name);
      return partition === undefined ? undefined : { kind: "text", text: partition, place };
    }
    case "log-directory":
      return readLogDirectory(node, reading, name);
    case "bandwidth":
      return numeric(BANDWIDTH.read(node, reading, name), text, place);
    case "probability": {
      const ratio = PROBABILITY.read(node, reading, name);
      return ratio && { kind: "probability", ratio, text, place };
    }
    case "word": {
      const words = parameter.words ?? fail(`the parameter ${name} has no words`);
      const word = drawnWord(words).read(node, reading, name);
      return word && { kind: "word", word, text, place };
    }
    case "text": {
      const read = TEXT.read(node, reading, name);
      return read === undefined ? undefined : { kind: "text", text: shortened(read), place };
    }
    default:
      return unreachable(type);
  }
}

function readTopic(node: YamlNode, reading: Reading, label: string): ArgumentSpec | undefined {
  const text = TEXT.read(node, reading, label);
  if (text === undefined) return undefined;
  const { topics, areTopicsKnown } = reading.names;
  if (areTopicsKnown && !topics.has(text)) {
    return reading.unknown(node.place, "topic", text, topics.keys());
  }
  return { kind: "text", text, place: node.place };
}

/** With or without the slash that it may have in `log.dirs`. */
function readLogDirectory(
  node: YamlNode,
  reading: Reading,
  label: string,
): ArgumentSpec | undefined {
  const text = TEXT.read(node, reading, label)?.replace(/^\//, "");
  if (text === undefined) return undefined;
  const { logDirectories } = reading.names;
  if (logDirectories.size > 0 && !logDirectories.has(text)) {
    return reading.unknown(node.place, "log directory", text, logDirectories);
  }
  return { kind: "text", text, place: node.place };
}

function numeric(value: number | undefined, text: string, place: Place): ArgumentSpec | undefined {
  return value === undefined ? undefined : { kind: "number", value, text, place };
}

/** `[[broker-1, broker-2], [broker-3]]`. */
function readGroups(node: YamlNode, reading: Reading, label: string): ArgumentSpec | undefined {
  const items = expectList(node, reading, label);
  if (items === undefined) return undefined;
  const groups: NodesExpression[] = [];
  for (const item of items) {
    const members = item.kind === "list" ? item.items : [item];
    let group: NodesExpression | undefined;
    for (const member of members) {
      const target = TARGET.read(member, reading, label);
      if (target === undefined) return undefined;
      const right = target.expression;
      group = group === undefined ? right : { kind: "combine", operator: "+", left: group, right };
    }
    if (group === undefined) return reading.complain(item.place, "a group needs a node");
    groups.push(group);
  }
  if (groups.length < 2) return reading.complain(node.place, "`groups` takes two groups or more");
  return { kind: "groups", groups, text: "", place: node.place };
}

/** What the parameter takes, for editors. */
export function parameterSchema(parameter: Parameter): JsonSchema {
  switch (parameter.type) {
    case "nodes":
    case "servers":
    case "clients":
    case "consumers":
      return TARGET.schema;
    case "groups":
      return { type: "array", minItems: 2, items: { type: ["array", "string"] } };
    case "latency":
    case "stagger":
      return DRAWN_DURATION.schema;
    case "duration":
      return DURATION.schema;
    case "offset":
    case "moment":
      return SIGNED_DURATION.schema;
    case "drift":
      return DRIFT.schema;
    case "factor":
      return integer(2, 1_000_000).schema;
    case "count":
      return integer(1, 1_000_000).schema;
    case "size":
      return ROOM.schema;
    case "offsets":
      return OFFSETS.schema;
    case "bound":
      return BOUND.schema;
    case "position":
      return POSITION.schema;
    case "topic":
      return TEXT.schema;
    case "partition":
      return PARTITION.schema;
    case "log-directory":
      return TEXT.schema;
    case "bandwidth":
      return BANDWIDTH.schema;
    case "probability":
      return PROBABILITY.schema;
    case "word":
      return drawnWord(parameter.words ?? []).schema;
    case "text":
      return TEXT.schema;
    default:
      return unreachable(parameter.type);
  }
}
