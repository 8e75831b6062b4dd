/** A private stream of chance: draws here move no other stream. */
export interface Random {
  /** A uniform integer in [0, bound). `bound` is a positive integer up to 2^32. */
  below(bound: number): number;
  /** A uniform integer in [low, high], both included. */
  between(low: number, high: number): number;
  /** True with probability `numerator / denominator`. */
  chance(numerator: number, denominator: number): boolean;
}

/** Something that gives durations by chance, in microseconds: a distribution of the simulated world. */
export interface DurationSource {
  draw(random: Random): number;
}

/** A probability: `times` out of `outOf`, integers. */
export interface Ratio {
  readonly times: number;
  readonly outOf: number;
}
