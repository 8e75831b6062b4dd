/**
 * The items without which it hardly fails any more, found by leaving out halves, quarters, and so on down to single
 * ones (after Zeller's ddmin), each size in one sweep that goes on where it has left something out. It is rare that
 * what was needed before is needed no more: who must know asks again of what is left, when runs have become quick.
 * `fails` is asked of lists of the same items, in their order.
 */
export function ddmin<Item>(
  items: readonly Item[],
  fails: (items: readonly Item[]) => boolean,
): readonly Item[] {
  let kept = items;
  for (let size = Math.ceil(items.length / 2); size > 0; ) {
    for (let from = 0; from < kept.length; ) {
      const rest = kept.filter((_, i) => i < from || i >= from + size);
      if (fails(rest)) kept = rest;
      else from += size;
    }
    size = size === 1 ? 0 : Math.min(Math.ceil(size / 2), Math.ceil(kept.length / 2));
  }
  return kept;
}
