import type { FaultKind } from "./fault-kind.ts";
import { NodeFault } from "./node-fault.ts";

/**
 * A client's application ends in order: a producer sends no more and waits for what it has sent, a
 * consumer reads no more.
 */
export const STOP_CLIENT: FaultKind = {
  name: "stop-client",
  meaning: "Ends a client in order.",
  subject: { name: "stop-client", type: "clients", meaning: "Which client ends." },
  parameters: [],
  heals: false,
  lasts: false,
  stops: true,
  prepare: (told) => new NodeFault(told, "stop-client", ({ hands }, node) => hands.shutdown(node)),
};
