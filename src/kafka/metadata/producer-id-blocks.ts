import type { ErrorCode } from "../error-code.ts";
import { ERRORS } from "../error-code.ts";
import type {
  AllocateProducerIdsRequest,
  AllocateProducerIdsResponse,
} from "../protocol/init-producer-id.ts";
import type { Decision, DecisionContext } from "./decision.ts";
import { checkBrokerEpoch } from "./decision.ts";

/** `ProducerIdsBlock.PRODUCER_ID_BLOCK_SIZE`. */
const BLOCK_SIZE = 1000;

/** Gives a broker the next block of producer ids (KIP-730; `ProducerIdControlManager`). */
export function allocateProducerIds(
  context: DecisionContext,
  request: AllocateProducerIdsRequest,
): Decision<AllocateProducerIdsResponse> {
  const { brokerId, brokerEpoch } = request;
  const error = checkBrokerEpoch(context, brokerId, brokerEpoch);
  if (error !== ERRORS.NONE) return { records: [], response: refuseProducerIds(error) };
  const start = context.image.nextProducerId;
  const nextProducerId = start + BLOCK_SIZE;
  return {
    records: [{ type: "ProducerIdsRecord", brokerId, brokerEpoch, nextProducerId }],
    response: {
      throttleTimeMs: 0,
      errorCode: 0,
      producerIdStart: start,
      producerIdLen: BLOCK_SIZE,
    },
  };
}

export function refuseProducerIds(error: ErrorCode): AllocateProducerIdsResponse {
  return { throttleTimeMs: 0, errorCode: error.code, producerIdStart: -1, producerIdLen: 0 };
}
