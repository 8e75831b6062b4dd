import { describe, expect, test } from "vitest";
import { FetchSessionHandler } from "../../../../src/kafka/client/fetch-session-handler.ts";
import { ERRORS } from "../../../../src/kafka/error-code.ts";
import { nextSessionEpoch } from "../../../../src/kafka/protocol/fetch-session-epoch.ts";

/** At epoch 2 of session 77. */
function inSession(): FetchSessionHandler {
  const handler = new FetchSessionHandler();
  handler.handleResponse(ERRORS.NONE, 77);
  handler.handleResponse(ERRORS.NONE, 77);
  return handler;
}

describe("a fetcher's session", () => {
  test("begins with a full fetch of no session, and counts on from the first answer", () => {
    const handler = new FetchSessionHandler();
    expect(handler).toMatchObject({ id: 0, epoch: 0, isFull: true });

    expect(handler.handleResponse(ERRORS.NONE, 77)).toBe(true);

    expect(handler).toMatchObject({ id: 77, epoch: 1, isFull: false });
    expect(inSession()).toMatchObject({ id: 77, epoch: 2, isFull: false });
  });

  test("is none as long as the broker gives none, and no more when it ends it", () => {
    const handler = inSession();

    expect(handler.handleResponse(ERRORS.NONE, 0)).toBe(true);

    expect(handler).toMatchObject({ id: 0, epoch: 0, isFull: true });
    handler.handleResponse(ERRORS.NONE, 0);
    expect(handler).toMatchObject({ id: 0, epoch: 0, isFull: true });
  });

  test("is forgotten if the broker has forgotten it", () => {
    const handler = inSession();

    expect(handler.handleResponse(ERRORS.FETCH_SESSION_ID_NOT_FOUND, 0)).toBe(false);

    expect(handler).toMatchObject({ id: 0, epoch: 0 });
  });

  test("is ended for a new one after any other error, and when no answer came", () => {
    const refused = inSession();
    expect(refused.handleResponse(ERRORS.INVALID_FETCH_SESSION_EPOCH, 0)).toBe(false);
    const lost = inSession();
    lost.handleError();

    for (const handler of [refused, lost]) {
      expect(handler).toMatchObject({ id: 77, epoch: 0, isFull: true });
      handler.handleResponse(ERRORS.NONE, 78);
      expect(handler).toMatchObject({ id: 78, epoch: 1 });
    }
  });

  test("counts from 1 again after the largest epoch", () => {
    expect(nextSessionEpoch(0x7fff_ffff)).toBe(1);
    expect(nextSessionEpoch(-1)).toBe(-1);
  });
});
