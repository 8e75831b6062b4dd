import { expect, test } from "vitest";
import { ISR_GROWS_BY_REQUEST } from "../../../src/checkers/isr-grows-by-request.ts";
import { History } from "../../support/fact-builders.ts";

function shrunk(): History {
  const history = new History({ guarantees: [ISR_GROWS_BY_REQUEST] });
  return history.shrink([1, 2]);
}

const told = (history: History): string[] => history.violations().map(({ text }) => text.join(" "));

test("a replica that joins at the leader's request holds it", () => {
  const history = shrunk().shrink([1, 2, 3]);

  expect(history.violations()).toEqual([]);
  expect(history.checkers.summaries()[0]).toMatchObject({ state: "held", interesting: 1 });
});

test("one that nobody asked for is caught", () => {
  const history = shrunk();
  history.isr = [1, 2, 3];

  history.registered("none");

  expect(told(history)).toEqual([
    "The controller let broker-3 into the ISR {1,2,3}, which the leader of epoch 0 never asked for, knowing partition epoch 2.",
  ]);
});

test("so is one whose leader asked before it knew of the last change, or in an older epoch", () => {
  const stale = shrunk();
  const asked = { kind: "isr-proposed", broker: 1, partition: "orders-0", isr: [1, 2, 3] } as const;
  stale.note({ ...asked, leaderEpoch: 0, partitionEpoch: 1 });
  stale.isr = [1, 2, 3];
  stale.registered("none");
  const old = shrunk();
  old.note({ ...asked, leaderEpoch: 0, partitionEpoch: 3 });
  old.elect(2, { isr: [1, 2] });
  old.isr = [1, 2, 3];
  old.registered("none");

  expect(told(stale)).toHaveLength(1);
  expect(told(old)).toHaveLength(1);
});

test("and one that is fenced", () => {
  const history = shrunk();
  history.note({ kind: "broker-fenced", broker: 3, brokerEpoch: 3 });

  history.shrink([1, 2, 3]);

  expect(told(history)).toEqual([
    "The controller let broker-3 into the ISR {1,2,3}, though broker-3 is fenced.",
  ]);
});

test("and one that the controller has let shut down, until it is back", () => {
  const leaving = shrunk();
  leaving.note({ kind: "broker-shutting-down", broker: 3, brokerEpoch: 3 });
  const back = shrunk();
  back.note({ kind: "broker-shutting-down", broker: 3, brokerEpoch: 3 });
  back.note({ kind: "broker-registered", broker: 3, brokerEpoch: 9, cleanShutdown: true });
  back.note({ kind: "broker-unfenced", broker: 3, brokerEpoch: 9 });

  leaving.shrink([1, 2, 3]);
  back.shrink([1, 2, 3]);

  expect(told(leaving)).toEqual([
    "The controller let broker-3 into the ISR {1,2,3}, though broker-3 is shutting down.",
  ]);
  expect(told(back)).toEqual([]);
});

const ASKED = { broker: 1, partition: "orders-0", isr: [1, 2, 3], leaderEpoch: 0 } as const;

/** Broker 3 starts, is asked for when it has registered or before, and joins; perhaps it starts anew in between. */
function joined(does: { registersFirst: boolean; startsAnew: boolean }): History {
  const history = shrunk();
  const start = { kind: "node-started", node: "broker-3" } as const;
  const register = (brokerEpoch: number) => {
    history.note({ kind: "broker-registered", broker: 3, brokerEpoch, cleanShutdown: false });
    history.note({ kind: "broker-unfenced", broker: 3, brokerEpoch });
  };
  history.note({ ...start, incarnation: 1 });
  if (does.registersFirst) register(9);
  history.note({ kind: "isr-proposed", ...ASKED, partitionEpoch: 2 });
  if (does.startsAnew) history.note({ ...start, incarnation: 2 });
  if (does.startsAnew || !does.registersFirst) register(12);
  history.isr = [1, 2, 3];
  return history.registered("none");
}

test("and one that has started anew since its leader asked", () => {
  const history = joined({ registersFirst: true, startsAnew: true });

  expect(history.violations()).toMatchObject([
    {
      text: [
        "The controller let broker-3 into the ISR {1,2,3}, which the leader asked for before broker-3 started anew.",
      ],
      permitted: undefined,
    },
  ]);
});

test("one that registers when it has caught up already is the same process", () => {
  const history = joined({ registersFirst: false, startsAnew: false });

  expect(history.violations()).toEqual([]);
});

test("one that starts anew before it ever registered is permitted: it had no broker epoch to be known by", () => {
  const history = joined({ registersFirst: false, startsAnew: true });

  expect(history.violations()).toMatchObject([
    {
      permitted:
        "broker-3 had fetched before it was registered, with no broker epoch to be known by",
    },
  ]);
});

test("one that joined in the moment before is none of them", () => {
  const history = shrunk().shrink([1, 2, 3]);

  history.note({ kind: "broker-shutting-down", broker: 3, brokerEpoch: 3 });

  expect(told(history)).toEqual([]);
});
