import type { Instant } from "../base/time.ts";
import { controllerName } from "../cluster/cluster.ts";
import { MARK } from "../faults/mark.ts";
import type { BrokerId, Offset } from "../kafka/ids.ts";
import { NO_LEADER } from "../kafka/ids.ts";
import type { Fact, FactOf, PartitionChanged } from "../trace/fact.ts";
import type { RecordedFact } from "./recording.ts";
import type { ReplicaPictures } from "./replica-pictures.ts";

/** One step of a story, as a line of it. */
export interface Step {
  readonly index: number;
  readonly at: Instant;
  readonly event: number;
  readonly verb: string;
  readonly text: string;
  /** The scenario's name for the fault; empty otherwise. */
  readonly note: string;
  /** The number of the fault in the scenario, if the step is one. */
  readonly fault: number | undefined;
  /** What is to be kept when there is no room for all: higher goes first. */
  readonly weight: number;
}

/** What is known when a fact is told: the partition's logs and registration just before it. */
export interface Scene {
  readonly pictures: ReplicaPictures;
  readonly registration: PartitionChanged | undefined;
  /** The end of each replica's log. */
  readonly ends: ReadonlyMap<BrokerId, Offset>;
  /** Has any fault begun? Before, all is as it should be. */
  readonly isDisturbed: boolean;
  /** The offsets that the violation is about. */
  readonly offsets: readonly [first: Offset, last: Offset] | undefined;
}

const WITNESS = 9;
const FAULT = 8;
const DAMAGE = 7;
const ELECTION = 6;
const ISR = 5;
const BACKGROUND = 2;

/**
 * A fact as a step of the story of one partition, if it can decide anything there; undefined otherwise.
 * `isWitness`: it is one of those that contradict each other, and is told whatever it is.
 */
export function stepOf(recorded: RecordedFact, scene: Scene, isWitness: boolean): Step | undefined {
  const told = tell(recorded.fact, scene, isWitness);
  if (told === undefined) return undefined;
  const { index, at, event } = recorded;
  const weight = isWitness ? WITNESS : told.weight;
  return { note: "", fault: undefined, ...told, weight, index, at, event };
}

type Told = Pick<Step, "verb" | "text" | "weight"> & Partial<Pick<Step, "note" | "fault">>;

function tell(fact: Fact, scene: Scene, isWitness: boolean): Told | undefined {
  const { partition } = scene.pictures;
  if ("partition" in fact && fact.partition !== "" && fact.partition !== partition) {
    return undefined;
  }
  switch (fact.kind) {
    case "fault-begun": {
      // A mark does nothing.
      if (fact.verb === MARK.name) return undefined;
      const text = `${fact.verb} ${fact.text}`;
      return { verb: "fault", text, weight: FAULT, note: fact.name, fault: fact.fault };
    }
    case "fault-ended":
      return {
        verb: "heal",
        text: `${fact.verb} ${fact.text}`,
        weight: BACKGROUND,
        note: fact.name,
      };
    case "disk-disturbed":
      return { verb: "disk", text: `${fact.node}  ${fact.how}  ${fact.path}`, weight: DAMAGE };
    case "unflushed-lost":
      if (!fact.path.includes(`/${partition}/`)) return undefined;
      return { verb: "lose", text: `${fact.node}  ${fact.bytes} unflushed bytes`, weight: DAMAGE };
    case "controller-elected":
      if (!scene.isDisturbed) return undefined;
      return {
        verb: "elect",
        text: `${controllerName(fact.controller)} is the active controller, epoch ${fact.quorumEpoch}`,
        weight: BACKGROUND,
      };
    case "partition-changed":
      return registered(fact, scene);
    case "log-loaded":
      return loaded(fact, scene);
    case "log-directory-failed":
      return { verb: "offline", text: `broker-${fact.broker}  ${fact.reason}`, weight: DAMAGE };
    case "truncated": {
      const text = `broker-${fact.broker}  ${fact.from} -> ${fact.to}  ${fact.reason}`;
      return { verb: "cut", text, weight: DAMAGE };
    }
    case "log-start-moved": {
      const text = `broker-${fact.broker}  log start ${fact.from} -> ${fact.to}  ${fact.reason}`;
      return { verb: "expire", text, weight: DAMAGE };
    }
    case "log-cleaned":
      return {
        verb: "clean",
        text: `broker-${fact.broker}  ${fact.from}..${fact.to - 1}`,
        weight: ISR,
      };
    default:
      return isWitness ? testimony(fact, scene) : undefined;
  }
}

/** What is told only if it is one side of the contradiction. */
function testimony(fact: Fact, { pictures, registration, offsets }: Scene): Told | undefined {
  switch (fact.kind) {
    case "send-ended": {
      if (fact.baseOffset < 0) return { verb: fact.outcome, text: fact.client, weight: WITNESS };
      const last = fact.baseOffset + fact.values.length - 1;
      // The last of several promises stands for them all.
      const first = Math.min(fact.baseOffset, offsets?.[0] ?? fact.baseOffset);
      const holders = pictures.holders(fact.baseOffset);
      return {
        verb: fact.outcome === "acked" ? "ack" : fact.outcome,
        text: `${fact.client} <- ${range(first, last)}${heldBy(holders)}`,
        weight: WITNESS,
      };
    }
    case "polled":
      return {
        verb: "read",
        text: `${fact.client} <- ${range(fact.firstOffset, fact.lastOffset)}`,
        weight: WITNESS,
      };
    case "appended": {
      const { baseOffset, lastOffset, partitionLeaderEpoch } = fact.batch;
      const text = `broker-${fact.broker}  ${range(baseOffset, lastOffset)}, epoch ${partitionLeaderEpoch}`;
      return { verb: "append", text, weight: WITNESS };
    }
    case "high-watermark-moved": {
      const isr = registration === undefined ? "" : `; isr ${set(registration.isr)}`;
      const text = `broker-${fact.broker}  high watermark ${fact.highWatermark}${isr}`;
      return { verb: "commit", text, weight: WITNESS };
    }
    case "became-leader": {
      const text = `broker-${fact.broker} leads, epoch ${fact.leaderEpoch}, from offset ${fact.logEndOffset}`;
      return { verb: "lead", text, weight: WITNESS };
    }
    case "isr-proposed":
      return { verb: "ask", text: `broker-${fact.broker}  isr ${set(fact.isr)}`, weight: WITNESS };
    case "position-reset": {
      const text = `${fact.client}  ${fact.from} -> ${fact.to}  ${fact.reason}`;
      return { verb: "reset", text, weight: WITNESS };
    }
    case "node-stopped":
      return { verb: "stop", text: `${fact.node}: ${fact.reason}`, weight: WITNESS };
    default:
      return undefined;
  }
}

function registered(
  fact: PartitionChanged,
  { registration: before, ends }: Scene,
): Told | undefined {
  if (before === undefined) return undefined;
  if (fact.leader !== before.leader || fact.leaderEpoch !== before.leaderEpoch) {
    const isUnclean = fact.election === "unclean" || fact.election === "last-known";
    const end = ends.get(fact.leader);
    const whom =
      fact.leader === NO_LEADER
        ? "no leader"
        : `broker-${fact.leader}, epoch ${fact.leaderEpoch}${end === undefined ? "" : `, from offset ${end}`}`;
    return {
      verb: "elect",
      text: `${isUnclean ? "UNCLEAN " : ""}${whom}${changedIsr(fact, before)}`,
      weight: isUnclean ? DAMAGE : ELECTION,
    };
  }
  if (set(fact.isr) === set(before.isr)) return undefined;
  const allowed =
    fact.isr.length < before.isr.length && fact.isr.length < fact.replicas.length
      ? `; min.insync.replicas=${fact.minInsyncReplicas} ${fact.isr.length >= fact.minInsyncReplicas ? "allows it" : "stops acks=all"}`
      : "";
  return { verb: "isr", text: `${set(before.isr)} -> ${set(fact.isr)}${allowed}`, weight: ISR };
}

function changedIsr(fact: PartitionChanged, before: PartitionChanged): string {
  const [from, to] = [set(before.isr), set(fact.isr)];
  return from === to ? "" : `; isr ${from} -> ${to}`;
}

/** A restart matters if the log that came back is not the one that was there. */
function loaded(fact: FactOf<"log-loaded">, { ends }: Scene): Told | undefined {
  const before = ends.get(fact.broker) ?? 0;
  if (fact.logEndOffset === before && fact.truncatedBytes === 0) return undefined;
  const cut = fact.truncatedBytes > 0 ? `; ${fact.truncatedBytes} damaged bytes cut` : "";
  const text = `broker-${fact.broker} is back with a log of ${before} -> ${fact.logEndOffset}${cut}`;
  return { verb: "load", text, weight: DAMAGE };
}

function heldBy(holders: readonly BrokerId[]): string {
  const [first] = holders;
  if (first === undefined) return ", held by nobody";
  if (holders.length === 1) return `, held by broker-${first} alone`;
  return `, held by ${holders.map((id) => `broker-${id}`).join(", ")}`;
}

function range(first: Offset, last: Offset): string {
  return first === last ? `${first}` : `${first}..${last}`;
}

/** `{1,2,3}`: a set, so in order. */
function set(ids: readonly BrokerId[]): string {
  return `{${[...ids].sort((a, b) => a - b).join(",")}}`;
}
