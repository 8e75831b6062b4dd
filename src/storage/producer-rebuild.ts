import type { Offset } from "../kafka/ids.ts";
import type { ProducerState } from "../kafka/log/producer-state.ts";
import type { ProducerSnapshots } from "./producer-snapshots.ts";
import type { Segment } from "./segment.ts";

/** What it takes to know a log's producers as of an offset. */
export interface ProducerSource {
  readonly snapshots: ProducerSnapshots;
  /** Ascending. */
  readonly segments: readonly Segment[];
  readonly logStartOffset: Offset;
  readonly nowMs: number;
  /** `producer.id.expiration.ms` */
  readonly expirationMs: number;
}

/**
 * Makes `state` that of the log below `endOffset`: from the newest snapshot, then from the batches
 * behind it. Leaves snapshots at the bases of the last two segments and at `endOffset`, so that the
 * next time is short (Kafka's `UnifiedLog.rebuildProducerState`).
 *
 * After an orderly stop a log without snapshots is taken to have no producers.
 */
export function rebuildProducers(
  state: ProducerState,
  source: ProducerSource,
  endOffset: Offset,
  afterCleanShutdown: boolean,
): void {
  const { snapshots, segments, logStartOffset } = source;
  const bases = segments.slice(-2).map(({ baseOffset }) => baseOffset);
  if (snapshots.isEmpty && afterCleanShutdown) {
    for (const offset of [...bases, endOffset]) snapshotAt(offset, state, snapshots);
    return;
  }

  const hadNone = state.isEmpty && state.endOffset >= endOffset;
  snapshots.keepWithin(logStartOffset, endOffset);
  if (endOffset === state.endOffset) {
    snapshots.logStartMoved(state, logStartOffset);
  } else {
    state.clear();
    snapshots.load(state, logStartOffset, source.nowMs, source.expirationMs);
  }
  // Cutting a log that had no producers gives it none.
  if (!hadNone) replay(state, source, endOffset, bases);
  snapshotAt(endOffset, state, snapshots);
}

function replay(
  state: ProducerState,
  { snapshots, segments, logStartOffset }: ProducerSource,
  endOffset: Offset,
  bases: readonly Offset[],
): void {
  for (let i = 0; i < segments.length; i++) {
    const segment = segments[i] as Segment;
    const nextBase = segments[i + 1]?.baseOffset ?? Number.POSITIVE_INFINITY;
    if (nextBase <= state.endOffset || segment.baseOffset >= endOffset) continue;
    state.endOffset = Math.max(segment.baseOffset, state.endOffset, logStartOffset);
    if (bases.includes(segment.baseOffset)) snapshots.take(state)?.sync();
    replaySegment(state, segment, endOffset);
  }
}

function replaySegment(state: ProducerState, segment: Segment, endOffset: Offset): void {
  for (;;) {
    const found = segment.read(state.endOffset, READ_AT_ONCE, endOffset, true);
    if (found === undefined || found.batches.length === 0) return;
    for (const batch of found.batches) state.add(batch);
  }
}

/** Bytes. */
const READ_AT_ONCE = 1_048_576;

function snapshotAt(offset: Offset, state: ProducerState, snapshots: ProducerSnapshots): void {
  state.endOffset = offset;
  snapshots.take(state)?.sync();
}
