/**
 * The items without which it does not fail any more, found by leaving out halves, quarters, and so on
 * down to single ones (Zeller's ddmin). `fails` is asked of lists of the same items, in their order.
 */
export function ddmin<Item>(
  items: readonly Item[],
  fails: (items: readonly Item[]) => boolean,
): readonly Item[] {
  let kept = items;
  let parts = Math.min(2, kept.length);
  while (kept.length > 0) {
    const size = Math.ceil(kept.length / parts);
    let isSmaller = false;
    for (let from = 0; from < kept.length; from += size) {
      const rest = kept.filter((_, i) => i < from || i >= from + size);
      if (!fails(rest)) continue;
      kept = rest;
      isSmaller = true;
      break;
    }
    if (isSmaller) parts = Math.max(2, Math.min(parts - 1, kept.length));
    else if (size === 1) return kept;
    else parts = Math.min(kept.length, parts * 2);
  }
  return kept;
}
