import type { AnyApi } from "../kafka/protocol/api.ts";
import {
  ALLOCATE_PRODUCER_IDS,
  ALTER_PARTITION,
  BEGIN_QUORUM_EPOCH,
  BROKER_HEARTBEAT,
  BROKER_REGISTRATION,
  CREATE_TOPICS,
  END_QUORUM_EPOCH,
  FETCH,
  INIT_PRODUCER_ID,
  LIST_OFFSETS,
  METADATA,
  OFFSET_FOR_LEADER_EPOCH,
  PRODUCE,
  VOTE,
} from "../kafka/protocol/apis.ts";
import type { NodesExpression } from "./expression.ts";

/** Matches the delivery of messages: `3rd deliver(ProduceResponse broker-1 -> p1)`. */
export interface MessagePattern {
  /** Which of the matching messages, from 1. */
  readonly ordinal: number;
  readonly apiKey: number;
  readonly isResponse: boolean;
  /** undefined: any node. */
  readonly from: NodesExpression | undefined;
  readonly to: NodesExpression | undefined;
}

const APIS: readonly AnyApi[] = [
  PRODUCE,
  FETCH,
  LIST_OFFSETS,
  METADATA,
  CREATE_TOPICS,
  INIT_PRODUCER_ID,
  OFFSET_FOR_LEADER_EPOCH,
  VOTE,
  BEGIN_QUORUM_EPOCH,
  END_QUORUM_EPOCH,
  ALTER_PARTITION,
  BROKER_REGISTRATION,
  BROKER_HEARTBEAT,
  ALLOCATE_PRODUCER_IDS,
];

/** Every message's name: `ProduceRequest`, `ProduceResponse`, ... */
export const MESSAGE_NAMES: readonly string[] = APIS.flatMap(({ name }) => [
  `${name}Request`,
  `${name}Response`,
]);

export function messageNamed(
  name: string,
): { readonly apiKey: number; readonly isResponse: boolean } | undefined {
  const api = APIS.find((one) => name === `${one.name}Request` || name === `${one.name}Response`);
  return api && { apiKey: api.key, isResponse: name.endsWith("Response") };
}
