import type { Undo } from "../ports/hands.ts";
import type { FaultKind } from "./fault-kind.ts";
import { NodeFault } from "./node-fault.ts";

/**
 * A node's clock is wrong: ahead or behind by an offset, or running too fast or too slow. The node
 * sees only its own clock, and so do its timers.
 */
export const CLOCK_SKEW: FaultKind = {
  name: "clock-skew",
  meaning: "Sets a node's clock wrong. With `for` it is put right.",
  subject: { name: "clock-skew", type: "nodes", meaning: "Whose clock is wrong." },
  parameters: [
    { name: "offset", type: "offset", meaning: "How far it jumps: 5s, or -5s." },
    { name: "drift", type: "drift", meaning: "How fast it then gains: 200ppm, or -200ppm." },
  ],
  heals: true,
  lasts: true,
  complain: (given) =>
    given.has("offset") || given.has("drift")
      ? undefined
      : "a wrong clock needs an `offset` or a `drift`",
  prepare: (told) => {
    const offset = told.has("offset") ? told.number("offset") : 0;
    const drift = told.has("drift") ? told.number("drift") : 0;
    const parts = [
      ...(told.has("offset") ? [`offset ${told.text("offset")}`] : []),
      ...(told.has("drift") ? [`drift ${told.text("drift")}`] : []),
    ];
    const undo: Undo[] = [];
    return new NodeFault(
      told,
      "clock-skew",
      ({ hands }, node) => undo.push(hands.skewClock(node, offset, drift)),
      () => undo.shift()?.(),
      `, ${parts.join(", ")}`,
    );
  },
};
