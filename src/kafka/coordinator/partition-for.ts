/**
 * The partition of a coordinator's topic that keeps what belongs to a group or a transactional id: its
 * leader is the coordinator (`GroupCoordinatorService.partitionFor`, `TransactionStateManager.partitionFor`).
 */
export function partitionFor(key: string, partitionCount: number): number {
  const hash = javaHashCode(key);
  // Of the one number that has no positive twin Kafka's `Utils.abs` makes 0.
  return (hash === -0x8000_0000 ? 0 : Math.abs(hash)) % partitionCount;
}

/** `String.hashCode` of Java: over UTF-16 code units, in 32 bits. */
function javaHashCode(text: string): number {
  let hash = 0;
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0;
  return hash;
}
