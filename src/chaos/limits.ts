import { unreachable } from "../base/invariant.ts";
import type { NodesExpression } from "../scenario/expression.ts";
import type { ArgumentSpec, FaultSpec } from "../scenario/scenario.ts";
import { writeTarget } from "../scenario/write-target.ts";
import type { Dice } from "./dice.ts";
import type { Terrain } from "./terrain.ts";

/**
 * What may die in one run. Kafka promises that an acknowledged record survives
 *
 * - any deaths of processes, as long as no broker loses what it has written to its page cache, or
 * - `min.insync.replicas - 1` brokers that do lose it (unclean stops, KIP-966), if no others die: whoever is killed
 *   counts as stopped uncleanly, page cache or not, and is in no ISR when it comes back; and so may be
 *   who is told to stop, before it has registered.
 *
 * Controllers are no part of it: what they have said is flushed, so that they may lose all the rest.
 *
 * As in the fault atlas of TigerBeetle's VOPR it is drawn beforehand who may be harmed, so that the faults
 * themselves need no memory, and any of them can be left out without freeing others.
 */
export type Limits =
  | { readonly kind: "unlimited" }
  | { readonly kind: "processes" }
  | { readonly kind: "page-caches"; readonly brokers: readonly string[] };

export function drawLimits(terrain: Terrain, isUnlimited: boolean, dice: Dice): Limits {
  if (isUnlimited) return { kind: "unlimited" };
  const losses = terrain.minInSync - 1;
  if (losses < 1 || dice.percent(50)) return { kind: "processes" };
  return { kind: "page-caches", brokers: dice.some(losses, terrain.brokers) };
}

/** Half a sentence for the profile. */
export function describeLimits(limits: Limits): string {
  switch (limits.kind) {
    case "unlimited":
      return "anything may die";
    case "processes":
      return "processes die, page caches survive";
    case "page-caches":
      return `of brokers only ${limits.brokers.join(", ")} may die, and lose the page cache`;
    default:
      return unreachable(limits);
  }
}

/** The brokers that may be killed. */
export function mortalBrokers(limits: Limits, { brokers }: Terrain): readonly string[] {
  return limits.kind === "page-caches" ? limits.brokers : brokers;
}

/** The step as far as the limits allow it: its target confined, or a page cache spared; or nothing of it. */
export function heldTo(limits: Limits, step: FaultSpec): FaultSpec | undefined {
  const { costs } = step.kind;
  if (limits.kind === "unlimited" || costs === undefined) return step;
  if (limits.kind === "page-caches") return confinedTo(limits.brokers, step);
  if (costs === "process") return step;
  const spared = confinedTo([], step);
  if (spared?.text === step.text) return step;
  return step.kind.name === "power-off" ? sparingPageCaches(step) : spared;
}

function sparingPageCaches(step: FaultSpec): FaultSpec {
  const place = step.place;
  const kept: ArgumentSpec = {
    kind: "word",
    word: { kind: "fixed", value: "kept" },
    text: "kept",
    place,
  };
  return { ...step, arguments: new Map([...step.arguments, ["unflushed", kept]]) };
}

/** The step without brokers but these. */
function confinedTo(brokers: readonly string[], step: FaultSpec): FaultSpec | undefined {
  const { name } = step.kind;
  const argument = step.arguments.get(name);
  if (argument?.kind !== "nodes") return step;
  const target = confined(argument.target, brokers);
  if (target === undefined) return undefined;
  if (target === argument.target) return step;
  const text = writeTarget(target);
  return {
    ...step,
    arguments: new Map([...step.arguments, [name, { ...argument, target, text }]]),
    text: `${name}: ${text}`,
  };
}

/** A target without brokers but these; undefined if nobody is left. The same object if nothing changes. */
function confined(
  target: NodesExpression,
  brokers: readonly string[],
): NodesExpression | undefined {
  switch (target.kind) {
    case "node":
      return target.name.startsWith("broker-") && !brokers.includes(target.name)
        ? undefined
        : target;
    case "group":
      if (target.group === "brokers") return unionOf(brokers);
      return target.group === "all" ? unionOf(brokers, CONTROLLERS) : target;
    case "rack":
    case "relation":
    case "transaction-coordinator":
    case "group-coordinator":
      return meet(target, unionOf(brokers));
    case "binding":
      return meet(target, unionOf(brokers, CONTROLLERS, CLIENTS));
    case "alive":
    case "pick": {
      const of = confined(target.of, brokers);
      return of === target.of ? target : of && { ...target, of };
    }
    case "combine": {
      const left = confined(target.left, brokers);
      if (target.operator !== "+") {
        return left === target.left ? target : left && { ...target, left };
      }
      const right = confined(target.right, brokers);
      if (left === undefined || right === undefined) return left ?? right;
      return left === target.left && right === target.right ? target : { ...target, left, right };
    }
    default:
      return unreachable(target);
  }
}

const CONTROLLERS: NodesExpression = { kind: "group", group: "controllers" };
const CLIENTS: NodesExpression = { kind: "group", group: "clients" };

function unionOf(
  brokers: readonly string[],
  ...others: readonly NodesExpression[]
): NodesExpression | undefined {
  const named = brokers.map((name): NodesExpression => ({ kind: "node", name }));
  let union: NodesExpression | undefined;
  for (const one of [...named, ...others]) {
    union = union === undefined ? one : { kind: "combine", operator: "+", left: union, right: one };
  }
  return union;
}

function meet(
  left: NodesExpression,
  right: NodesExpression | undefined,
): NodesExpression | undefined {
  return right && { kind: "combine", operator: "&", left, right };
}
