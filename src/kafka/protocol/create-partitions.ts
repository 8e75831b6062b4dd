import {
  arraySize,
  EMPTY,
  INT8,
  INT16,
  INT32,
  NO_TAGS,
  REQUEST_OVERHEAD,
  RESPONSE_OVERHEAD,
  textSize,
} from "./wire-size.ts";

/** CreatePartitionsRequest v3. */
export interface CreatePartitionsRequest {
  readonly topics: readonly CreatePartitionsTopic[];
  readonly timeoutMs: number;
  readonly validateOnly: boolean;
}

/** Simplified: without assignments, so that the controller places the replicas. */
export interface CreatePartitionsTopic {
  readonly name: string;
  /** How many partitions there are to be. */
  readonly count: number;
}

export interface CreatePartitionsResponse {
  readonly throttleTimeMs: number;
  readonly results: readonly CreatePartitionsTopicResult[];
}

export interface CreatePartitionsTopicResult {
  readonly name: string;
  readonly errorCode: number;
  readonly errorMessage: string | undefined;
}

export function createPartitionsRequestSize(body: CreatePartitionsRequest): number {
  return (
    REQUEST_OVERHEAD +
    arraySize(body.topics, ({ name }) => textSize(name) + INT32 + EMPTY + NO_TAGS) +
    INT32 +
    INT8 +
    NO_TAGS
  );
}

export function createPartitionsResponseSize(body: CreatePartitionsResponse): number {
  return (
    RESPONSE_OVERHEAD +
    INT32 +
    arraySize(
      body.results,
      ({ name, errorMessage }) => textSize(name) + INT16 + textSize(errorMessage) + NO_TAGS,
    ) +
    NO_TAGS
  );
}
