import type { Instant } from "../base/time.ts";
import type { ClientSends } from "./client-sends.ts";
import { PENDING } from "./client-sends.ts";
import type { CheckContext } from "./guarantee.ts";
import type { PartitionGhost } from "./partition-ghost.ts";

/** What one producer has sent to one partition and has heard nothing of. */
export interface PendingSends {
  readonly client: string;
  readonly partition: PartitionGhost;
  readonly count: number;
  /** When the first of them was sent. */
  readonly oldest: Instant;
}

/** Of all producers that run; what an earlier run of them sent nobody waits for. O(sends). */
export function pendingSends(context: CheckContext): PendingSends[] {
  const found: PendingSends[] = [];
  for (const client of context.history.clients.values()) {
    const state = context.liveness.nodes.get(client.name);
    if (state?.isUp !== true || state.isPaused) continue;
    found.push(...pendingOf(client, state.startedAt));
  }
  return found;
}

function pendingOf(client: ClientSends, since: Instant): PendingSends[] {
  const found = new Map<PartitionGhost, { count: number; oldest: Instant }>();
  for (const part of client.parts()) {
    for (let i = 0; i < part.count; i++) {
      const partition = part.partitions[i];
      const sentAt = part.sentAt[i] as number;
      if (partition === undefined || part.outcomes[i] !== PENDING || sentAt < since) continue;
      const known = found.get(partition);
      if (known === undefined) found.set(partition, { count: 1, oldest: sentAt });
      else {
        known.count++;
        known.oldest = Math.min(known.oldest, sentAt);
      }
    }
  }
  return [...found].map(([partition, { count, oldest }]) => {
    return { client: client.name, partition, count, oldest };
  });
}
