/**
 * How much smaller batches get by compression, learned from those that were: so it is judged how many
 * more records a batch can take (`CompressionRatioEstimator`). In single precision, as in Kafka.
 *
 * Simplified: each producer learns for itself; in Kafka all producers of a process share what is known
 * of a topic and codec.
 */
export class CompressionRatio {
  readonly #estimation: Float32Array = new Float32Array([1]);

  /** Compressed bytes for each that is not. */
  get estimation(): number {
    return this.#estimation[0] as number;
  }

  /** A batch came out so. Good news is believed slowly, bad news at once. */
  learn(observed: number): void {
    const { estimation } = this;
    if (observed > estimation) {
      this.#estimation[0] = Math.max(estimation + DETERIORATING_STEP, observed);
    } else if (observed < estimation) {
      this.#estimation[0] = Math.max(estimation - IMPROVING_STEP, observed);
    }
  }

  /** A batch came out too large for the broker: begins anew, at 1 or the batch's ratio. */
  reset(observed: number): void {
    this.#estimation[0] = Math.max(1, observed);
  }
}

/** Bytes that records of so many bytes may take when compressed (`MemoryRecordsBuilder.estimatedBytesWritten`). */
export function estimateCompressed(recordBytes: number, estimation: number): number {
  single[0] = recordBytes;
  single[0] = (single[0] as number) * estimation;
  single[0] = (single[0] as number) * SAFETY_FACTOR;
  return Math.trunc(single[0] as number);
}

const single = new Float32Array(1);

function toSingle(value: number): number {
  single[0] = value;
  return single[0] as number;
}

/** `COMPRESSION_RATIO_IMPROVING_STEP`, `COMPRESSION_RATIO_DETERIORATE_STEP`, `COMPRESSION_RATE_ESTIMATION_FACTOR` */
const IMPROVING_STEP = toSingle(0.005);
const DETERIORATING_STEP = toSingle(0.05);
const SAFETY_FACTOR = toSingle(1.05);
