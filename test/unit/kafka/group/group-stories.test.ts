import fc from "fast-check";
import { expect, test } from "vitest";
import { byNumber, byText } from "../../../../src/base/order.ts";
import type { ConsumerGroup } from "../../../../src/kafka/group/consumer-group.ts";
import { JoiningClient } from "../../../support/group-clients.ts";
import { errorIn, GROUP, GroupFixture, topicIdOf } from "../../../support/group-fixture.ts";

const PARTITIONS = 6;
const ORDERS = topicIdOf("orders");

/** A consumer of KIP-848 that may stop, forget to give up, and come back. */
class Consumer {
  readonly #group: GroupFixture;
  readonly #name: string;
  readonly #instance: string | undefined;
  #lives = 0;
  epoch = -1;
  owned: readonly number[] = [];
  #assigned: readonly number[] = [];

  constructor(group: GroupFixture, name: string, instance: string | undefined) {
    this.#group = group;
    this.#name = name;
    this.#instance = instance;
  }

  get id(): string {
    return `${this.#name}-${this.#lives}`;
  }

  get isIn(): boolean {
    return this.epoch >= 0;
  }

  beat(obeys: boolean): void {
    const isFirst = !this.isIn;
    if (isFirst) this.#lives++;
    const outcome = this.#group.beat({
      memberId: this.id,
      memberEpoch: isFirst ? 0 : this.epoch,
      instanceId: this.#instance,
      rebalanceTimeoutMs: isFirst ? 30_000 : -1,
      subscribedTopicNames: isFirst ? ["orders"] : undefined,
      topicPartitions: isFirst ? [] : [{ topicId: ORDERS, partitions: this.owned }],
    });
    if (!("memberEpoch" in outcome)) {
      // Fenced: everything is given up before it joins again.
      this.#forget();
      return;
    }
    this.epoch = outcome.memberEpoch;
    if (outcome.assignment !== undefined) {
      this.#assigned = outcome.assignment.flatMap(({ partitions }) => partitions);
    }
    if (obeys) this.owned = this.#assigned;
  }

  /** Says that it goes; a static one may say that it will be back. */
  leave(forAWhile: boolean): void {
    if (!this.isIn) return;
    const memberEpoch = forAWhile && this.#instance !== undefined ? -2 : -1;
    this.#group.beat({ memberId: this.id, memberEpoch, instanceId: this.#instance });
    this.#forget();
  }

  /** Is gone without a word. */
  die(): void {
    this.#forget();
  }

  #forget(): void {
    this.epoch = -1;
    this.owned = [];
    this.#assigned = [];
  }
}

const who = fc.integer({ min: 0, max: 3 });
const move = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("beat"), who, flag: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("leave"), who, flag: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("die"), who, flag: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("pass"), who, flag: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("reload"), who, flag: fc.boolean() }) },
);

test("in a KIP-848 group no two members ever own the same, and in the end all is owned", () => {
  let reconciled = 0;
  fc.assert(
    fc.property(fc.array(move, { minLength: 10, maxLength: 60 }), (moves) => {
      const group = new GroupFixture();
      group.topic("orders", PARTITIONS);
      const consumers = ["a", "b", "c", "d"].map(
        (name, i) => new Consumer(group, name, i === 0 ? "i0" : undefined),
      );
      for (const { kind, who: at, flag } of moves) {
        const consumer = consumers[at] as Consumer;
        if (kind === "beat") consumer.beat(flag);
        else if (kind === "leave") consumer.leave(flag);
        else if (kind === "pass") group.pass(flag ? 1_000 : 9_000);
        else if (kind === "reload") group.reload(flag);
        else consumer.die();
        expectDisjoint(group, consumers);
        if (group.state === "Reconciling") reconciled++;
      }
      settle(group, consumers);
      const owned = consumers.flatMap((consumer) => consumer.owned).sort(byNumber);
      expect(owned).toEqual([0, 1, 2, 3, 4, 5]);
      expect(group.state).toBe("Stable");
    }),
    { seed: 42, numRuns: 150 },
  );
  expect(reconciled).toBeGreaterThan(500);
});

/** Those that the coordinator still knows own disjoint sets: who was fenced learns of it at its next heartbeat. */
function expectDisjoint(group: GroupFixture, consumers: readonly Consumer[]): void {
  const known = group.groups.get(GROUP);
  const owned = consumers
    .filter(({ id, isIn }) => isIn && known?.members.has(id) === true)
    .flatMap((consumer) => consumer.owned);
  expect(new Set(owned).size).toBe(owned.length);
}

function settle(group: GroupFixture, consumers: readonly Consumer[]): void {
  // Long enough for the sessions of the dead.
  for (let round = 0; round < 30; round++) {
    group.pass(4_000);
    for (const consumer of consumers) consumer.beat(true);
    expectDisjoint(group, consumers);
  }
}

test("what a coordinator knows of a KIP-848 group is what its log says, compacted or not", () => {
  fc.assert(
    fc.property(
      fc.array(move, { minLength: 5, maxLength: 40 }),
      fc.boolean(),
      (moves, compacted) => {
        const group = new GroupFixture();
        group.topic("orders", PARTITIONS);
        const consumers = ["a", "b", "c", "d"].map(
          (name, i) => new Consumer(group, name, i === 0 ? "i0" : undefined),
        );
        for (const { kind, who: at, flag } of moves) {
          if (kind === "beat") (consumers[at] as Consumer).beat(flag);
          else if (kind === "leave") (consumers[at] as Consumer).leave(flag);
          else if (kind === "pass") group.pass(flag ? 1_000 : 9_000);
        }
        const before = toldOf(group);

        group.reload(compacted);

        expect(toldOf(group)).toEqual(before);
      },
    ),
    { seed: 42, numRuns: 150 },
  );
});

function toldOf(group: GroupFixture): unknown {
  const known = group.groups.get(GROUP) as ConsumerGroup | undefined;
  if (known === undefined) return undefined;
  const { epoch, metadataHash, targetEpoch, targetTimestamp, state } = known;
  const byName = <T>(map: ReadonlyMap<string, T>) => [...map].sort(([a], [b]) => (a < b ? -1 : 1));
  const free = [0, 1, 2, 3, 4, 5].map((partition) => known.isFree(ORDERS, partition));
  return {
    epoch,
    metadataHash,
    targetEpoch,
    targetTimestamp,
    state,
    members: byName(known.members),
    target: byName(known.target),
    free,
  };
}

const mixedMove = fc.record({
  kind: fc.constantFrom("go", "go", "go", "go", "beat", "beat", "leave", "die", "pass", "reload"),
  who: fc.integer({ min: 0, max: 4 }),
  flag: fc.boolean(),
});

test("in a group that migrates no two members ever own the same, and in the end all is owned", () => {
  const migrations = { consumer: 0, classic: 0 };
  const moves = fc.array(mixedMove, { minLength: 20, maxLength: 80 });
  fc.assert(
    fc.property(moves, fc.boolean(), fc.boolean(), (story, isEager, isStatic) => {
      const group = new GroupFixture();
      group.topic("orders", PARTITIONS);
      const instance = isStatic ? "i0" : undefined;
      const clients: (Consumer | JoiningClient)[] = [
        new JoiningClient(group, isEager, instance),
        new JoiningClient(group, isEager),
        new JoiningClient(group, isEager),
        new Consumer(group, "d", instance),
        new Consumer(group, "e", undefined),
      ];
      const play = (kind: string, at: number, flag: boolean): void => {
        const client = clients[at] as Consumer | JoiningClient;
        if (kind === "pass") group.pass(flag ? 1_000 : 9_000);
        else if (kind === "reload") {
          const isConsumer = group.classic === undefined;
          const before = isConsumer && toldOf(group);
          group.step((effects) => group.groups.onUnloaded(effects));
          group.reload(flag);
          if (isConsumer) expect(toldOf(group)).toEqual(before);
        } else if (kind === "die") client.die();
        else if (kind === "leave") client.leave(flag);
        else if (client instanceof Consumer) client.beat(flag || kind === "go");
        else {
          client.beat();
          if (kind === "go") client.step();
        }
        expectOneOwner(group, clients);
      };
      for (const { kind, who: at, flag } of story) play(kind, at, flag);
      // Two clients cannot have one instance id in the end; and who comes by KIP-848 fails until a group has
      // chosen its strategy, which others must wait for then.
      if (isStatic) play("die", 0, true);
      for (let round = 0; round < 70; round++) {
        group.pass(4_000);
        const late = round < 30 ? [] : [3, 4];
        for (const at of [isStatic ? 1 : 0, 1, 2, ...late]) play("go", at, true);
      }
      for (const { kind, ...note } of group.notes)
        if (kind === "group-migrated" && "to" in note) migrations[note.to as "classic"]++;

      const owned = clients.flatMap((client) => client.owned).sort(byNumber);
      expect(owned).toEqual([0, 1, 2, 3, 4, 5]);
      expect(group.state).toBe("Stable");
    }),
    { seed: 42, numRuns: 100 },
  );
  expect(migrations.consumer).toBeGreaterThan(100);
  expect(migrations.classic).toBeGreaterThan(20);
});

/**
 * Of those that are in the group as the coordinator sees it: in a classic one, in its generation; and in one that has
 * migrated, not in one before that, as the coordinator counts on what they were to have.
 */
function expectOneOwner(
  { groups, notes }: GroupFixture,
  clients: readonly (Consumer | JoiningClient)[],
): void {
  const known = groups.get(GROUP);
  const migrated = notes.findLast((note) => note.kind === "group-migrated");
  const migratedIn = migrated !== undefined && "to" in migrated ? migrated.generation : 0;
  const owned = clients
    .filter((client) => known?.members.has(client.id) === true)
    .filter((client) => {
      if (client instanceof Consumer) return true;
      if (known?.kind === "classic") return client.generation === known.generation;
      return client.generation >= migratedIn;
    })
    .flatMap((client) => client.owned);
  expect(new Set(owned).size).toBe(owned.length);
}

const classicMove = fc.record({
  kind: fc.constantFrom("join", "join", "sync", "sync", "beat", "leave", "pass", "pass", "reload"),
  who,
});

test("a classic group comes to rest, whatever its members do", () => {
  let rebalances = 0;
  fc.assert(
    fc.property(fc.array(classicMove, { minLength: 10, maxLength: 60 }), (moves) => {
      const group = new GroupFixture();
      const ids = ["", "", "", ""];
      const joins = new Map<number, number>();
      const learn = (): void => {
        for (const [at, request] of [...joins]) {
          let answer = group.joined(request);
          if (answer === undefined) continue;
          joins.delete(at);
          if (errorIn(answer) === "MEMBER_ID_REQUIRED") {
            const again = group.join(answer.memberId);
            answer = group.joined(again);
            if (answer === undefined) {
              joins.set(at, again);
              continue;
            }
          }
          ids[at] = errorIn(answer) === "NONE" ? answer.memberId : "";
        }
      };
      const play = (kind: string, at: number): void => {
        const id = ids[at] ?? "";
        if (kind === "join" && !joins.has(at)) joins.set(at, group.join(id));
        else if (kind === "sync") group.sync(id, { [id]: new Map([["orders", [at]]]) });
        else if (kind === "beat" && group.heartbeat(id) === "UNKNOWN_MEMBER_ID") ids[at] = "";
        else if (kind === "pass") group.pass(4_000);
        else if (kind === "leave" && id !== "") {
          group.leave({ memberId: id, groupInstanceId: undefined, reason: undefined });
          ids[at] = "";
        } else if (kind === "reload") {
          // Those who wait are told to look for the other coordinator.
          group.step((effects) => group.groups.onUnloaded(effects));
          learn();
          group.reload();
        }
        learn();
      };
      for (const { kind, who: at } of moves) play(kind, at);
      for (let round = 0; round < 100; round++) {
        for (const at of ids.keys()) {
          play("beat", at);
          if (ids[at] === "" || group.state === "PreparingRebalance") play("join", at);
          if (group.state === "CompletingRebalance") play("sync", at);
        }
        play("pass", 0);
      }
      rebalances += group.generation;

      expect(group.state).toBe("Stable");
      expect([...(group.classic?.members.keys() ?? [])].sort(byText)).toEqual(
        [...ids].sort(byText),
      );
    }),
    { seed: 42, numRuns: 100 },
  );
  expect(rebalances).toBeGreaterThan(100);
});
