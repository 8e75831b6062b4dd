import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { byText } from "../../src/base/order.ts";
import type { MemberSubscription } from "../../src/kafka/group/assignors/member-subscription.ts";
import { assignRange } from "../../src/kafka/group/assignors/range-assignor.ts";
import { assignRoundRobin } from "../../src/kafka/group/assignors/round-robin-assignor.ts";
import {
  assignCooperativeSticky,
  assignSticky,
} from "../../src/kafka/group/assignors/sticky-assignor.ts";
import {
  encodeCooperativeUserData,
  encodeStickyUserData,
} from "../../src/kafka/group/assignors/sticky-user-data.ts";
import type { TargetMember } from "../../src/kafka/group/assignors/target-member.ts";
import type { GroupAssignment } from "../../src/kafka/group/assignors/topic-partitions.ts";
import {
  assignTargetRange,
  assignUniform,
} from "../../src/kafka/group/assignors/uniform-assignor.ts";
import {
  decodeAssignment,
  decodeSubscription,
  encodeAssignment,
  encodeSubscription,
} from "../../src/kafka/group/consumer-protocol.ts";

interface ToldMember {
  readonly id: string;
  readonly instance?: string;
  readonly topics: readonly string[];
  readonly owned?: Readonly<Record<string, readonly number[]>>;
  readonly generation?: number;
}

interface ToldCase {
  readonly assignor: string;
  readonly about: string;
  /** Would Kafka answer otherwise if the same ids had other hashes? */
  readonly byHashOrder?: boolean;
  readonly topics: Readonly<Record<string, number>>;
  readonly members: readonly ToldMember[];
  readonly expected: Readonly<Record<string, Readonly<Record<string, readonly number[]>>>>;
}

interface Told {
  readonly protocol: {
    readonly stickyUserData: string;
    readonly cooperativeUserDataAtFirst: string;
    readonly cooperativeUserData: string;
    readonly subscriptions: Readonly<Record<string, string>>;
    readonly assignments: Readonly<Record<string, string>>;
  };
  readonly cases: readonly ToldCase[];
}

const path = process.env["ASSIGNMENTS"] ?? `${import.meta.dirname}/fixture/assignments.json.gz`;
const bytes = readFileSync(path);
const told: Told = JSON.parse((path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString());

const ASSIGNORS = [
  "range",
  "roundrobin",
  "sticky",
  "cooperative-sticky",
  "server-range",
  "uniform",
];

function assign(told: ToldCase): GroupAssignment {
  const counts = new Map(Object.entries(told.topics));
  switch (told.assignor) {
    case "range":
      return assignRange(told.members.map(eager), counts);
    case "roundrobin":
      return assignRoundRobin(told.members.map(eager), counts);
    case "sticky":
      return assignSticky(told.members.map(eager), counts);
    case "cooperative-sticky":
      return assignCooperativeSticky(told.members.map(cooperative), counts);
    case "server-range":
      return assignTargetRange(told.members.map(targeted), counts);
    default:
      return assignUniform(told.members.map(targeted), counts);
  }
}

function eager(member: ToldMember): MemberSubscription {
  const { generation } = member;
  const owned = new Map(Object.entries(member.owned ?? {}));
  const userData = generation === undefined ? undefined : encodeStickyUserData(owned, generation);
  return { ...cooperative(member), ownedPartitions: new Map(), userData };
}

function cooperative(member: ToldMember): MemberSubscription {
  return {
    memberId: member.id,
    instanceId: member.instance,
    topics: member.topics,
    ownedPartitions: new Map(Object.entries(member.owned ?? {})),
    generation: member.generation,
    userData: undefined,
  };
}

function targeted(member: ToldMember): TargetMember {
  const target = new Map(Object.entries(member.owned ?? {}));
  return { memberId: member.id, instanceId: member.instance, topicIds: member.topics, target };
}

/** As the fixture tells an assignment. */
function plain(assignment: GroupAssignment): ToldCase["expected"] {
  return Object.fromEntries(
    [...assignment].map(([memberId, partitions]) => [memberId, Object.fromEntries(partitions)]),
  );
}

describe("assignors", () => {
  test.each(ASSIGNORS)("%s assigns as Kafka's does", (assignor) => {
    const cases = told.cases.filter((each) => each.assignor === assignor);
    expect(cases.length).toBeGreaterThan(50);

    for (const each of cases) {
      expect(plain(assign(each)), JSON.stringify(each)).toEqual(each.expected);
    }
  });

  test.each(ASSIGNORS)("%s does not depend on the order in which members are told", (assignor) => {
    for (const each of told.cases.filter((one) => one.assignor === assignor)) {
      const members = [...each.members].reverse();

      expect(plain(assign({ ...each, members })), JSON.stringify(each)).toEqual(each.expected);
    }
  });

  test("only those of Kafka's that remember who had what go by the order of hashes", () => {
    const dependent = told.cases.filter((each) => each.byHashOrder === true);

    const names = new Set(dependent.map((each) => each.assignor));

    expect([...names].sort(byText)).toEqual(["cooperative-sticky", "sticky", "uniform"]);
  });
});

describe("what members tell their leader", () => {
  const { protocol } = told;
  const owned = new Map([
    ["tr", [0, 1]],
    ["us", [300]],
  ]);
  const data = Uint8Array.from([1, 2, 3]);
  const plainly = {
    topics: ["us", "tr"],
    userData: undefined,
    ownedPartitions: new Map<string, number[]>(),
    generation: undefined,
    rackId: undefined,
  };
  const owning = {
    topics: ["us", "tr"],
    userData: data,
    ownedPartitions: owned,
    generation: 7,
    rackId: "rack-1",
  };

  test("subscriptions have Kafka's bytes", () => {
    expect(hex(encodeSubscription(plainly))).toBe(protocol.subscriptions["plain v3"]);
    expect(hex(encodeSubscription(owning))).toBe(protocol.subscriptions["owning v3"]);
  });

  test("subscriptions of every version are read as far as they go", () => {
    const inOrder = { ...owning, topics: ["tr", "us"] };
    const nothing = { ownedPartitions: new Map<string, number[]>() };
    const read = (name: string) => decodeSubscription(unhex(protocol.subscriptions[name] ?? ""));

    expect(read("plain v3")).toEqual({ ...plainly, topics: ["tr", "us"] });
    expect(read("owning v3")).toEqual(inOrder);
    expect(read("owning v2")).toEqual({ ...inOrder, rackId: undefined });
    expect(read("owning v1")).toEqual({ ...inOrder, rackId: undefined, generation: undefined });
    expect(read("owning v0")).toEqual({
      ...inOrder,
      ...nothing,
      rackId: undefined,
      generation: undefined,
    });
  });

  test("assignments have Kafka's bytes and are read again", () => {
    const none = { partitions: new Map<string, number[]>(), userData: undefined };
    const some = { partitions: owned, userData: data };

    expect(hex(encodeAssignment(none))).toBe(protocol.assignments["none"]);
    expect(hex(encodeAssignment(some))).toBe(protocol.assignments["some"]);
    expect(decodeAssignment(encodeAssignment(some))).toEqual(some);
  });

  test("what is cut off is nothing", () => {
    const subscription = encodeSubscription(owning);
    const assignment = encodeAssignment({ partitions: owned, userData: data });

    for (let size = 0; size < subscription.length; size++) {
      expect(decodeSubscription(subscription.subarray(0, size))).toBeUndefined();
    }
    for (let size = 0; size < assignment.length; size++) {
      expect(decodeAssignment(assignment.subarray(0, size))).toBeUndefined();
    }
  });

  test("user data of the sticky assignors have Kafka's bytes", () => {
    expect(hex(encodeStickyUserData(new Map([["tr", [0, 11]]]), 7))).toBe(protocol.stickyUserData);
    expect(hex(encodeCooperativeUserData(-1))).toBe(protocol.cooperativeUserDataAtFirst);
    expect(hex(encodeCooperativeUserData(7))).toBe(protocol.cooperativeUserData);
  });
});

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

function unhex(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "hex"));
}
