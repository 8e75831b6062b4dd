import type { Instant } from "../base/time.ts";
import type { Offset, PartitionName } from "../kafka/ids.ts";
import type { Guarantee, Violation } from "./guarantee.ts";

/** What is to be said of a violation; the rest is as it mostly is. */
interface Found {
  /** The guarantee's first if absent. */
  readonly kind?: string;
  readonly partition?: PartitionName;
  readonly client?: string;
  readonly at: Instant;
  readonly event: number;
  readonly text: readonly string[];
  readonly offsets?: readonly [first: Offset, last: Offset] | undefined;
  /** 1 if absent. */
  readonly count?: number;
  readonly permitted?: string | undefined;
  /** The event itself if absent. */
  readonly cause?: number | undefined;
}

/** A violation of `guarantee`. */
export function violationOf(guarantee: Guarantee, found: Found): Violation {
  const { at, event, text, offsets, permitted } = found;
  return {
    guarantee: guarantee.name,
    kind: found.kind ?? (guarantee.kinds[0] as string),
    partition: found.partition ?? "",
    client: found.client ?? "",
    at,
    event,
    text,
    offsets,
    count: found.count ?? 1,
    permitted,
    cause: found.cause ?? event,
    follows: undefined,
  };
}
