import { invariant } from "../../../base/invariant.ts";
import { byNumber } from "../../../base/order.ts";
import type { PartitionTable } from "./partition-table.ts";
import type { TargetMember } from "./target-member.ts";

/**
 * The target if all subscribe to the same topics: each keeps what it has up to its quota, and what is left over
 * fills up those below theirs (`UniformHomogeneousAssignmentBuilder` of Kafka 4.3). Partitions by member.
 *
 * Kafka takes topics, too, in the order of a hash set of their ids, and so chance decides in Kafka which topic
 * is dealt out first.
 */
export function assignHomogeneous(
  members: readonly TargetMember[],
  table: PartitionTable,
): number[][] {
  const quota = Math.floor(table.total / members.length);
  let extras = table.total % members.length;
  const targets = members.map(({ target }) => table.numbersOf(target).sort(byNumber));
  const free = unassigned(targets, table);
  const wants: number[] = [];
  for (const [member, target] of targets.entries()) {
    let room = quota + (extras > 0 ? 1 : 0);
    let hasExtra = extras > 0;
    room -= revoke(target, room, free);
    // Whoever is short of the extra one anyway leaves it to those behind him, as long as there are enough.
    if (room > 0 && hasExtra && members.length - member > extras) {
      room--;
      hasExtra = false;
    }
    wants.push(room);
    if (hasExtra) extras--;
  }
  let next = 0;
  for (const [member, target] of targets.entries()) {
    for (let room = wants[member] as number; room > 0 && next < free.length; room--) {
      target.push(free[next++] as number);
    }
  }
  invariant(next === free.length, () => `${free.length - next} partitions were left unassigned`);
  return targets;
}

/** Takes what is beyond `room` out of `target` and adds it to `free`. Returns how many are left. */
function revoke(target: number[], room: number, free: number[]): number {
  const kept: number[] = [];
  for (const number of target) {
    if (kept.length < room) kept.push(number);
    else free.push(number);
  }
  target.splice(0, target.length, ...kept);
  return kept.length;
}

function unassigned(targets: readonly (readonly number[])[], table: PartitionTable): number[] {
  const isTaken = new Uint8Array(table.total);
  for (const target of targets) for (const number of target) isTaken[number] = 1;
  const free: number[] = [];
  for (let number = 0; number < table.total; number++) if (isTaken[number] === 0) free.push(number);
  return free;
}
