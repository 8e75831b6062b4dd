/** Code-unit order: the same on every machine, unlike `localeCompare`. */
export function byText(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

export function byNumber(left: number, right: number): number {
  return left - right;
}
