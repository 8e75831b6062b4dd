import { fail } from "../base/invariant.ts";
import type { Duration } from "../base/time.ts";
import type { FaultArguments } from "../faults/fault-kind.ts";
import type { OffsetRange } from "../ports/disk-failure.ts";
import type { NodeAddress } from "../ports/network.ts";
import type { DurationSource, Random, Ratio } from "../ports/random.ts";
import type { ExpressionWorld } from "../scenario/expression-world.ts";
import type { RosterNode } from "../scenario/roster.ts";
import { resolveNodes, roleOf } from "../scenario/target.ts";
import type { PlannedArgument, PlannedFault } from "./plan.ts";

/** What a fault is told at the instant at which it fires: its targets resolved, once and for all. */
export class Told implements FaultArguments {
  readonly #fault: PlannedFault;
  readonly #world: ExpressionWorld;
  readonly #random: Random;
  readonly #targets = new Map<string, readonly RosterNode[]>();
  readonly #groups: (readonly RosterNode[])[] = [];
  /** The words of the first target that names no node. */
  readonly empty: string | undefined;

  constructor(fault: PlannedFault, world: ExpressionWorld, random: Random) {
    this.#fault = fault;
    this.#world = world;
    this.#random = random;
    let empty: string | undefined;
    for (const [name, argument] of fault.arguments) {
      if (argument.kind === "nodes") {
        const nodes = resolveNodes(argument.target, world, random);
        this.#targets.set(name, nodes);
        if (nodes.length === 0) empty ??= argument.text;
      } else if (argument.kind === "groups") {
        for (const target of argument.groups) {
          const nodes = resolveNodes(target, world, random);
          this.#groups.push(nodes);
          if (nodes.length === 0) empty ??= "one of `groups`";
        }
      }
    }
    this.empty = empty;
  }

  /** The nodes of a target, for `as`. */
  bound(parameter: string): readonly RosterNode[] {
    return this.#targets.get(parameter) ?? [];
  }

  has(parameter: string): boolean {
    return this.#fault.arguments.has(parameter);
  }

  nodes(parameter: string): readonly NodeAddress[] {
    return this.bound(parameter).map(({ address }) => address);
  }

  groups(): readonly (readonly NodeAddress[])[] {
    return this.#groups.map((nodes) => nodes.map(({ address }) => address));
  }

  others(nodes: readonly NodeAddress[]): readonly NodeAddress[] {
    const { roster } = this.#world;
    return roster.nodes.map(({ address }) => address).filter((one) => !nodes.includes(one));
  }

  latency(parameter: string): DurationSource {
    return this.#argument(parameter, "duration").source;
  }

  number(parameter: string): number {
    return this.#argument(parameter, "number").value;
  }

  offsets(parameter: string): OffsetRange {
    return this.#argument(parameter, "offsets").offsets;
  }

  probability(parameter: string): Ratio {
    return this.#argument(parameter, "probability").ratio;
  }

  word(parameter: string): string {
    if (this.has(parameter)) return this.#argument(parameter, "word").word;
    const { parameters } = this.#fault.spec.kind;
    const known = parameters.find(({ name }) => name === parameter);
    return known?.words?.[0] ?? fail(`the parameter ${parameter} has no words`);
  }

  text(parameter: string): string {
    return this.#fault.arguments.get(parameter)?.text ?? fail(`nothing was said of ${parameter}`);
  }

  stagger(parameter: string): Duration {
    return this.has(parameter)
      ? this.#argument(parameter, "duration").source.draw(this.#random)
      : 0;
  }

  describe(parameter: string): string {
    const { target } = this.#argument(parameter, "nodes");
    const role = roleOf(target);
    const names = this.names(this.nodes(parameter));
    return role === "" ? names : `${names}, ${role}`;
  }

  names(nodes: readonly NodeAddress[]): string {
    return nodes.map((address) => this.#world.roster.at(address).name).join(", ");
  }

  #argument<Kind extends PlannedArgument["kind"]>(
    parameter: string,
    kind: Kind,
  ): Extract<PlannedArgument, { kind: Kind }> {
    const argument = this.#fault.arguments.get(parameter);
    if (argument?.kind !== kind) fail(`the parameter ${parameter} is no ${kind}`);
    // Of the arguments, this one is of the kind that was asked for.
    return argument as Extract<PlannedArgument, { kind: Kind }>;
  }
}
