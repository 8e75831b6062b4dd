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
