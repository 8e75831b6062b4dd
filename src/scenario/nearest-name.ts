/** Names longer than this are not compared: nobody misspells them. */
const LONGEST = 80;

/** The name nearest to `found`, if it is near enough to be a misspelling of it. */
export function nearestName(found: string, names: Iterable<string>): string | undefined {
  if (found.length > LONGEST) return undefined;
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(found.length / 3)) + 1;
  for (const name of names) {
    if (name.length > LONGEST || Math.abs(name.length - found.length) >= bestDistance) continue;
    const distance = editDistance(found.toLowerCase(), name.toLowerCase());
    if (distance < bestDistance) {
      best = name;
      bestDistance = distance;
    }
  }
  return best;
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one text into the other. */
export function editDistance(left: string, right: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, j) => j);
  for (let i = 1; i <= left.length; i++) {
    const row = [i];
    for (let j = 1; j <= right.length; j++) {
      const same = left[i - 1] === right[j - 1];
      let cost = Math.min(
        (last[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + (same ? 0 : 1),
      );
      if (i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1]) {
        cost = Math.min(cost, (beforeLast[j - 2] ?? 0) + 1);
      }
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return last[right.length] ?? 0;
}
