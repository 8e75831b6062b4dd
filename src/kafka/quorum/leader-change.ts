import { writeInt16 } from "../../base/big-endian.ts";
import type { BrokerId, Offset, QuorumEpoch } from "../ids.ts";
import type { RecordBatch } from "../log/record-batch.ts";
import { buildBatch } from "../log/record-batch.ts";
import { FlexibleWriter, NO_TAGS } from "../metadata/flexible-writer.ts";
import type { Uuid } from "../uuid.ts";
import { numberedUuid } from "../uuid.ts";

export interface LeaderChange {
  readonly leaderId: BrokerId;
  readonly voters: readonly BrokerId[];
  readonly grantingVoters: readonly BrokerId[];
}

/**
 * The control batch with which a leader of the metadata log begins its epoch
 * (`LeaderChangeMessage` version 0, without directory ids even where kraft.version is 1).
 * `timestamp` is in milliseconds.
 */
export function leaderChangeBatch(
  change: LeaderChange,
  baseOffset: Offset,
  epoch: QuorumEpoch,
  timestamp: number,
): RecordBatch {
  const key = new Uint8Array(4);
  writeInt16(key, 2, LEADER_CHANGE_TYPE);
  const value = new FlexibleWriter();
  value.int16(LEADER_CHANGE_VERSION);
  value.int32(change.leaderId);
  writeVoters(value, change.voters);
  writeVoters(value, change.grantingVoters);
  value.tagged(NO_TAGS);
  const record = { timestamp, key, value: value.bytes };
  return buildBatch([record], { isControl: true }).withOffsets(baseOffset, epoch);
}

/** Simplified: each voter has one directory, whose id is told by its node id. */
export function directoryIdOf(voter: BrokerId): Uuid {
  return numberedUuid(1, voter);
}

/** `ControlRecordType.LEADER_CHANGE`. */
const LEADER_CHANGE_TYPE = 2;
const LEADER_CHANGE_VERSION = 0;

function writeVoters(writer: FlexibleWriter, voters: readonly BrokerId[]): void {
  writer.arrayLength(voters.length);
  for (const voter of voters) {
    writer.int32(voter);
    writer.tagged(NO_TAGS);
  }
}
