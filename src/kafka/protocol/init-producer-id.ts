import {
  INT16,
  INT32,
  INT64,
  NO_TAGS,
  REQUEST_OVERHEAD,
  RESPONSE_OVERHEAD,
  textSize,
} from "./wire-size.ts";
/** InitProducerIdRequest v5 (KIP-98, KIP-360). */
export interface InitProducerIdRequest {
  readonly transactionalId: string | undefined;
  readonly transactionTimeoutMs: number;
  readonly producerId: number;
  readonly producerEpoch: number;
}

export interface InitProducerIdResponse {
  readonly throttleTimeMs: number;
  readonly errorCode: number;
  readonly producerId: number;
  readonly producerEpoch: number;
}

/** AllocateProducerIdsRequest v0: a broker takes a block of ids from the controller (KIP-730). */
export interface AllocateProducerIdsRequest {
  readonly brokerId: number;
  readonly brokerEpoch: number;
}

export interface AllocateProducerIdsResponse {
  readonly throttleTimeMs: number;
  readonly errorCode: number;
  readonly producerIdStart: number;
  readonly producerIdLen: number;
}

export function initProducerIdRequestSize(body: InitProducerIdRequest): number {
  return REQUEST_OVERHEAD + textSize(body.transactionalId) + INT32 + INT64 + INT16 + NO_TAGS;
}

export function initProducerIdResponseSize(): number {
  return RESPONSE_OVERHEAD + INT32 + INT16 + INT64 + INT16 + NO_TAGS;
}

export function allocateProducerIdsRequestSize(): number {
  return REQUEST_OVERHEAD + INT32 + INT64 + NO_TAGS;
}

export function allocateProducerIdsResponseSize(): number {
  return RESPONSE_OVERHEAD + INT32 + INT16 + INT64 + INT32 + NO_TAGS;
}
