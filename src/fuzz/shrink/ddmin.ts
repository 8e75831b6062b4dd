/**
 * The items without which it does not fail any more, found by leaving out halves, quarters, and so on down to single
 * ones (Zeller's ddmin), each size in one sweep that goes on where it has left something out: it is rare that what was
 * needed before is needed no more, and the last size is swept again until that is so for nothing. `fails` is asked of
 * lists of the same items, in their order.
 */
export function ddmin<Item>(
  items: readonly Item[],
  fails: (items: readonly Item[]) => boolean,
): readonly Item[] {
  let kept = items;
  for (let size = Math.ceil(kept.length / 2); kept.length > 0; ) {
    const before = kept.length;
    for (let from = 0; from < kept.length; ) {
      const rest = kept.filter((_, i) => i < from || i >= from + size);
      if (fails(rest)) kept = rest;
      else from += size;
    }
    if (size > 1) size = Math.min(Math.ceil(size / 2), Math.ceil(kept.length / 2));
    else if (kept.length === before) return kept;
  }
  return kept;
}
