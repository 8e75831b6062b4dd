import type { Random } from "../ports/random.ts";
import type { LogConfig } from "./log-config.ts";

/**
 * By how many milliseconds a segment is to be rolled before `segment.ms`, so that not all segments of
 * one age are rolled and flushed at once (`LogConfig.randomSegmentJitter`). Without `segment.jitter.ms`
 * nothing is drawn.
 */
export function drawRollJitter(config: LogConfig, random: Random | undefined): number {
  const bound = Math.min(config["segment.jitter.ms"], config["segment.ms"]);
  // An int in Kafka, however long the time.
  return bound > 0 && random !== undefined ? random.below(0x8000_0000) % bound : 0;
}
