import { fail } from "../../base/invariant.ts";
import type { JoinGroupProtocol } from "../protocol/group-membership.ts";

export const NO_ASSIGNMENT: Uint8Array = new Uint8Array(0);

/** A request that waits for its answer, as the coordinator numbers them. */
export type RequestId = number;

/** A member of a classic group (`ClassicGroupMember`). */
export class ClassicMember {
  readonly memberId: string;
  /** Of a static member (KIP-345). */
  readonly groupInstanceId: string | undefined;
  readonly clientId: string;
  readonly clientHost: string;
  readonly protocolType: string;
  rebalanceTimeoutMs: number;
  sessionTimeoutMs: number;
  protocols: readonly JoinGroupProtocol[];
  assignment: Uint8Array;
  /** It has joined, and knows neither its id nor its generation yet: it cannot send heartbeats. */
  isNew = false;
  /** Its JoinGroup waits for the next generation. */
  awaitingJoin: RequestId | undefined = undefined;
  /** Its SyncGroup waits for the leader's. */
  awaitingSync: RequestId | undefined = undefined;

  constructor(
    memberId: string,
    said: {
      readonly groupInstanceId: string | undefined;
      readonly clientId: string;
      readonly clientHost: string;
      readonly protocolType: string;
      readonly rebalanceTimeoutMs: number;
      readonly sessionTimeoutMs: number;
      readonly protocols: readonly JoinGroupProtocol[];
    },
    assignment: Uint8Array = NO_ASSIGNMENT,
  ) {
    this.memberId = memberId;
    this.groupInstanceId = said.groupInstanceId;
    this.clientId = said.clientId;
    this.clientHost = said.clientHost;
    this.protocolType = said.protocolType;
    this.rebalanceTimeoutMs = said.rebalanceTimeoutMs;
    this.sessionTimeoutMs = said.sessionTimeoutMs;
    this.protocols = said.protocols;
    this.assignment = assignment;
  }

  get isStatic(): boolean {
    return this.groupInstanceId !== undefined;
  }

  /** It need not be heard of while the coordinator owes it an answer; a new one must join again in time. */
  get hasSatisfiedHeartbeat(): boolean {
    if (this.isNew) return false;
    return this.awaitingJoin !== undefined || this.awaitingSync !== undefined;
  }

  /** The first of its protocols that all can follow. */
  vote(candidates: ReadonlySet<string>): string {
    const choice = this.protocols.find(({ name }) => candidates.has(name));
    return choice?.name ?? fail(`${this.memberId} supports no protocol of all`);
  }

  /** What it said for one protocol. */
  metadata(protocol: string): Uint8Array {
    const found = this.protocols.find(({ name }) => name === protocol);
    return found?.metadata ?? fail(`${this.memberId} does not support ${protocol}`);
  }

  /** Would it join with the very same protocols, in the same order? */
  matches(protocols: readonly JoinGroupProtocol[]): boolean {
    return isSameProtocols(protocols, this.protocols);
  }
}

export function isSameProtocols(
  some: readonly JoinGroupProtocol[],
  others: readonly JoinGroupProtocol[],
): boolean {
  return (
    some.length === others.length &&
    some.every(({ name, metadata }, i) => {
      const other = others[i];
      return other?.name === name && isSame(other.metadata, metadata);
    })
  );
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, i) => byte === other[i]);
}
