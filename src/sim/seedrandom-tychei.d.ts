declare module "seedrandom/lib/tychei.js" {
  /** A generator of the algorithm Tyche-i, seeded with a text. */
  interface Tychei {
    /** Uniform over all 32-bit signed integers. */
    int32(): number;
  }
  const tychei: (seed: string) => Tychei;
  export = tychei;
}
