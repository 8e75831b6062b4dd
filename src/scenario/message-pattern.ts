import { APIS } from "../kafka/protocol/apis.ts";
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
