import type { Undo } from "../ports/hands.ts";
import type { FaultKind } from "./fault-kind.ts";
import { NodeFault } from "./node-fault.ts";

/** Every operation of a disk takes so many times as long, as on a failing or a crowded device. */
export const SLOW_DISK: FaultKind = {
  name: "slow-disk",
  meaning: "Slows a node's disk down. With `for` it ends.",
  subject: { name: "slow-disk", type: "servers", meaning: "Whose disk is slow." },
  parameters: [
    { name: "factor", type: "factor", required: true, meaning: "How many times as long it takes." },
  ],
  heals: true,
  lasts: true,
  prepare: (told) => {
    const factor = told.number("factor");
    const undo: Undo[] = [];
    return new NodeFault(
      told,
      "slow-disk",
      ({ hands }, node) => undo.push(hands.slowDisk(node, factor)),
      () => undo.shift()?.(),
      `, ${factor} times slower`,
    );
  },
};
