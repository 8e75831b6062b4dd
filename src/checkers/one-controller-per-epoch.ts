import type { Instant } from "../base/time.ts";
import type { BrokerId, QuorumEpoch } from "../kafka/ids.ts";
import { nodeName } from "./broker-name.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";

export const ONE_CONTROLLER_PER_EPOCH: Guarantee = {
  name: "one-controller-per-epoch",
  sentence:
    "In each quorum epoch at most one controller leads, by its own word and by what it writes to the metadata log, and each that is elected has a higher epoch than those before.",
  source: "KIP-595; RaftEventSimulationTest's SingleLeader and MonotonicEpoch",
  kinds: ["two-controllers-in-epoch"],
  condition:
    "Always. An older controller that has not heard yet is nothing unusual; and the only voter of a quorum may forget an epoch if its power is cut before it has written down that it leads.",
  testedBy: "quorum epochs after the first in which a controller led",
  example: [
    "two-controllers-in-epoch   at 10.391s, event 8211",
    "  controller-2 wrote to the metadata log in quorum epoch 5, in which controller-1 led.",
  ],
  create: (context) => new OneControllerPerEpoch(context),
};

class OneControllerPerEpoch implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #owners = new Map<QuorumEpoch, BrokerId>();
  #highest: QuorumEpoch = -1;

  constructor({ facts, metadata }: CheckContext) {
    facts.on("controller-elected", ({ controller, quorumEpoch }, at, event) => {
      const text = `${nodeName(controller)} became active in quorum epoch ${quorumEpoch}`;
      this.#claim(controller, quorumEpoch, text, at, event);
      if (quorumEpoch >= this.#highest || metadata.mayLeadAnew(controller)) {
        this.#highest = quorumEpoch;
        return;
      }
      this.#report(`${text}, after epoch ${this.#highest} had begun.`, at, event);
    });
    metadata.onTerm(({ epoch, replica, at, event }) => {
      const text = `${nodeName(replica.node)} wrote to the metadata log in quorum epoch ${epoch}`;
      this.#claim(replica.node, epoch, text, at, event);
    });
  }

  #claim(node: BrokerId, epoch: QuorumEpoch, text: string, at: Instant, event: number): void {
    this.evaluations++;
    const owner = this.#owners.get(epoch);
    if (owner === undefined) {
      if (this.#owners.size > 0) this.interesting++;
      this.#owners.set(epoch, node);
    } else if (owner !== node) {
      this.#report(`${text}, in which ${nodeName(owner)} led.`, at, event);
    }
  }

  #report(text: string, at: Instant, event: number): void {
    this.violations.push(violationOf(ONE_CONTROLLER_PER_EPOCH, { at, event, text: [text] }));
  }
}
