import { unreachable } from "../base/invariant.ts";
import type { NodesExpression } from "./expression.ts";
import type { KnownNames } from "./known-names.ts";
import type { Place } from "./place.ts";
import type { Reading } from "./reading.ts";
import type { NodeRole } from "./roster.ts";

const ROLES: Readonly<Record<"nodes" | "servers" | "clients", readonly NodeRole[]>> = {
  nodes: ["broker", "controller", "client", "zookeeper"],
  servers: ["broker", "controller"],
  clients: ["client"],
};

/** A target must name a node of the kind that the fault is for, as far as that is known before the run. */
export function complainAboutRoles(
  target: NodesExpression,
  type: "nodes" | "servers" | "clients",
  place: Place,
  fault: string,
  reading: Reading,
): void {
  const found = rolesOf(target, reading.names);
  if (found === undefined || found.some((role) => ROLES[type].includes(role))) return;
  const wanted = type === "clients" ? "clients" : "brokers and controllers";
  reading.complain(place, `\`${fault}\` is for ${wanted}, and this names none`);
}

/** Who is asked something as a consumer must be one, whichever of its target chance may take. */
export function complainAboutDeaf(
  target: NodesExpression,
  place: Place,
  fault: string,
  reading: Reading,
): void {
  const { areNodesKnown, nodes, uncallable } = reading.names;
  const named = namedBy(target, reading.names);
  if (named === undefined || !areNodesKnown) return;
  const deaf = named.find((name) => nodes.get(name) !== "client" || uncallable.has(name));
  if (deaf === undefined && named.length > 0) return;
  const why =
    deaf === undefined ? "this names none" : (uncallable.get(deaf) ?? `\`${deaf}\` is no client`);
  const others = [...nodes].filter(([name, role]) => role === "client" && !uncallable.has(name));
  const all = others.map(([name]) => name).join(" + ");
  reading.complain(
    place,
    `\`${fault}\` is for consumers, and ${why}${all === "" ? "" : `; write ${all}`}`,
  );
}

/** All nodes that a target may mean, by name; undefined if that is not known before the run. */
function namedBy(target: NodesExpression, names: KnownNames): readonly string[] | undefined {
  switch (target.kind) {
    case "node":
      return [target.name];
    case "alive":
    case "pick":
      return namedBy(target.of, names);
    case "combine": {
      const left = namedBy(target.left, names);
      const right = namedBy(target.right, names);
      if (left === undefined || right === undefined) return undefined;
      if (target.operator === "+") return [...left, ...right];
      if (target.operator === "&") return left.filter((name) => right.includes(name));
      // What is taken away by chance, or only while it runs, may be there.
      return isAlwaysTheSame(target.right) ? left.filter((name) => !right.includes(name)) : left;
    }
    default: {
      const roles = rolesOf(target, names);
      if (roles === undefined) return undefined;
      return [...names.nodes].filter(([, role]) => roles.includes(role)).map(([name]) => name);
    }
  }
}

function isAlwaysTheSame(target: NodesExpression): boolean {
  if (target.kind === "combine")
    return isAlwaysTheSame(target.left) && isAlwaysTheSame(target.right);
  return target.kind === "node" || (target.kind === "group" && target.group !== "controller");
}

/** The roles that nodes of a target can have; undefined if that is not known before the run. */
function rolesOf(target: NodesExpression, names: KnownNames): readonly NodeRole[] | undefined {
  switch (target.kind) {
    case "node": {
      const role = names.nodes.get(target.name);
      return role && [role];
    }
    case "group":
      if (target.group === "clients") return ["client"];
      if (target.group === "none") return [];
      return target.group === "brokers" ? ["broker"] : ["broker", "controller"];
    case "rack":
    case "relation":
    case "transaction-coordinator":
    case "group-coordinator":
      return ["broker"];
    case "alive":
    case "pick":
      return rolesOf(target.of, names);
    case "binding":
      return undefined;
    case "combine": {
      const left = rolesOf(target.left, names);
      if (target.operator === "-") return left;
      const right = rolesOf(target.right, names);
      if (left === undefined || right === undefined) return undefined;
      return target.operator === "+" ? [...left, ...right] : left.filter((r) => right.includes(r));
    }
    default:
      return unreachable(target);
  }
}
