import type { Api } from "./api.ts";
import {
  INT8,
  INT16,
  INT32,
  INT64,
  NO_TAGS,
  REQUEST_OVERHEAD,
  RESPONSE_OVERHEAD,
  textSize,
} from "./wire-size.ts";

/** EndTxnRequest v5 (KIP-98, KIP-890); below transaction.version 2 producers speak v4. */
export interface EndTxnRequest {
  readonly transactionalId: string;
  readonly producerId: number;
  readonly producerEpoch: number;
  /** False aborts. */
  readonly committed: boolean;
}

/** With v5 it tells the identity for what follows, which each end of a transaction renews. */
export interface EndTxnResponse {
  readonly throttleTimeMs: number;
  readonly errorCode: number;
  /** -1 before v5, and with an error. */
  readonly producerId: number;
  readonly producerEpoch: number;
}

/** AddOffsetsToTxnRequest v4 (KIP-98): the offsets of a group become part of a transaction. */
export interface AddOffsetsToTxnRequest {
  readonly transactionalId: string;
  readonly producerId: number;
  readonly producerEpoch: number;
  readonly groupId: string;
}

export interface AddOffsetsToTxnResponse {
  readonly throttleTimeMs: number;
  readonly errorCode: number;
}

export function endTxnRequestSize(body: EndTxnRequest): number {
  return REQUEST_OVERHEAD + textSize(body.transactionalId) + INT64 + INT16 + INT8 + NO_TAGS;
}

export function endTxnResponseSize(): number {
  return RESPONSE_OVERHEAD + INT32 + INT16 + INT64 + INT16 + NO_TAGS;
}

export function addOffsetsToTxnRequestSize(body: AddOffsetsToTxnRequest): number {
  const { transactionalId, groupId } = body;
  return REQUEST_OVERHEAD + textSize(transactionalId) + INT64 + INT16 + textSize(groupId) + NO_TAGS;
}

export function addOffsetsToTxnResponseSize(): number {
  return RESPONSE_OVERHEAD + INT32 + INT16 + NO_TAGS;
}

/** As producers speak it below transaction.version 2: the answer has no identity. */
export const END_TXN_V4: Api<EndTxnRequest, EndTxnResponse> = {
  key: 26,
  version: 4,
  name: "EndTxn",
  requestSize: endTxnRequestSize,
  responseSize: addOffsetsToTxnResponseSize,
};
