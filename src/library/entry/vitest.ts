/** Matchers for vitest: to import this module, from a test or from `setupFiles`, is to have them. */
import { expect } from "vitest";
import type { RunMatchers } from "../vitest/matchers.ts";
import { matchers } from "../vitest/matchers.ts";

declare module "vitest" {
  // An interface, since only those can be merged.
  // biome-ignore lint/suspicious/noExplicitAny: vitest declares it so, and merged declarations must be alike.
  interface Matchers<T = any> extends RunMatchers<T> {}
}

expect.extend(matchers);

export { matchers };
