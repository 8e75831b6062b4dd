import type { ErrorCode } from "../error-code.ts";
import { ERRORS } from "../error-code.ts";
import { INITIAL_EPOCH, NO_SESSION, nextSessionEpoch } from "../protocol/fetch-session-epoch.ts";

/**
 * What a fetcher knows of its session at one broker (KIP-227, `FetchSessionHandler`): as whose fetch the
 * next one goes. Which partitions are in the session the fetcher keeps itself, beside what it knows
 * of them.
 *
 * Simplified: that a full answer has all partitions asked for is not verified; brokers here see to it.
 */
export class FetchSessionHandler {
  #id: number = NO_SESSION;
  #epoch: number = INITIAL_EPOCH;

  /** For the next fetch. */
  get id(): number {
    return this.#id;
  }

  /** Of the next fetch. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Must the next fetch name all its partitions? */
  get isFull(): boolean {
    return this.#epoch === INITIAL_EPOCH;
  }

  /** Takes what an answer says at its top; false if there is nothing else in it. */
  handleResponse(error: ErrorCode, sessionId: number): boolean {
    if (error !== ERRORS.NONE) {
      if (error === ERRORS.FETCH_SESSION_ID_NOT_FOUND) this.#id = NO_SESSION;
      this.#epoch = INITIAL_EPOCH;
      return false;
    }
    this.#id = sessionId;
    this.#epoch = sessionId === NO_SESSION ? INITIAL_EPOCH : nextSessionEpoch(this.#epoch);
    return true;
  }

  /** Nobody knows whether the broker took the fetch: the next one ends the session for a new one. */
  handleError(): void {
    this.#epoch = INITIAL_EPOCH;
  }
}
