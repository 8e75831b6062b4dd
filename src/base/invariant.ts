/** A bug of the simulator itself: something that cannot happen did. Becomes exit code 70. */
export class InvariantViolation extends Error {
  override readonly name = "InvariantViolation";
}

/** Throws unless `condition` holds. The message is built only then; give it the numbers. */
export function invariant(condition: boolean, message: () => string): asserts condition {
  if (!condition) fail(message());
}

/** Throws: the code reached a state that cannot be. */
export function fail(message: string): never {
  throw new InvariantViolation(message);
}

/** Closes a `switch` over a union: one more member stops the build. */
export function unreachable(value: never): never {
  throw new InvariantViolation(`unreachable: ${String(value)}`);
}
