/** The id of no session. */
export const NO_SESSION = 0;
/** A full fetch, which asks for a session (`FetchMetadata.INITIAL_EPOCH`). */
export const INITIAL_EPOCH = 0;
/** A full fetch, which wants none (`FetchMetadata.FINAL_EPOCH`). */
export const FINAL_EPOCH = -1;

const LAST_EPOCH = 0x7fff_ffff;

/** The epoch of the next fetch of a session (`FetchMetadata.nextEpoch`). */
export function nextSessionEpoch(epoch: number): number {
  if (epoch < 0) return FINAL_EPOCH;
  return epoch === LAST_EPOCH ? 1 : epoch + 1;
}
