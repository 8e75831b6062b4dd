import type { NodeAddress } from "../ports/network.ts";
import type { Fault, FaultArguments, Harm, Stage } from "./fault-kind.ts";

/** A fault that is the same for each node of a target, and ends for each alike. */
export class NodeFault implements Fault {
  readonly text: string;
  readonly isIdle = false;
  readonly harm: readonly Harm[];
  readonly #nodes: readonly NodeAddress[];
  readonly #strike: (stage: Stage, node: NodeAddress) => void;
  readonly #relieve: (stage: Stage, node: NodeAddress) => void;

  /** `parameter` names the target among what the fault was told. */
  constructor(
    told: FaultArguments,
    parameter: string,
    strike: (stage: Stage, node: NodeAddress) => void,
    relieve: (stage: Stage, node: NodeAddress) => void = () => {},
    more = "",
    harm: readonly Harm[] = [],
  ) {
    this.harm = harm;
    this.text = `${told.describe(parameter)}${more}`;
    this.#nodes = told.nodes(parameter);
    this.#strike = strike;
    this.#relieve = relieve;
  }

  begin(stage: Stage): void {
    for (const node of this.#nodes) this.#strike(stage, node);
  }

  end(stage: Stage): void {
    for (const node of this.#nodes) this.#relieve(stage, node);
  }
}
