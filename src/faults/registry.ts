import { ABORT_HANGING } from "./abort-hanging.ts";
import { ADD_PARTITIONS } from "./add-partitions.ts";
import { ASK_OFFSETS } from "./ask-offsets.ts";
import { BIT_ROT } from "./bit-rot.ts";
import { CLOCK_SKEW } from "./clock-skew.ts";
import { CRASH } from "./crash.ts";
import { DELAY_LINK } from "./delay-link.ts";
import { DELETE_RECORDS } from "./delete-records.ts";
import { DISK_FULL } from "./disk-full.ts";
import { DISK_LOST } from "./disk-lost.ts";
import { DISK_READ_ERROR } from "./disk-read-error.ts";
import { DISK_READONLY } from "./disk-readonly.ts";
import { DISK_SPIKES } from "./disk-spikes.ts";
import { DISK_STALL } from "./disk-stall.ts";
import { DISK_WRITE_ERROR } from "./disk-write-error.ts";
import { DROP } from "./drop.ts";
import { DUPLICATE } from "./duplicate.ts";
import type { FaultKind } from "./fault-kind.ts";
import { FSYNC_FAILS } from "./fsync-fails.ts";
import { FSYNC_LIES } from "./fsync-lies.ts";
import { ISOLATE } from "./isolate.ts";
import { MARK } from "./mark.ts";
import { MISDIRECTED_READ } from "./misdirected-read.ts";
import { MISDIRECTED_WRITE } from "./misdirected-write.ts";
import { PARTITION } from "./partition.ts";
import { PAUSE } from "./pause.ts";
import { PAUSE_READING } from "./pause-reading.ts";
import { POWER_OFF } from "./power-off.ts";
import { POWER_ON } from "./power-on.ts";
import { REORDER } from "./reorder.ts";
import { RESET } from "./reset.ts";
import { RESTART } from "./restart.ts";
import { RESUME } from "./resume.ts";
import { SEEK } from "./seek.ts";
import { SHUTDOWN } from "./shutdown.ts";
import { SLOW_DISK } from "./slow-disk.ts";
import { SLOW_LINK } from "./slow-link.ts";
import { STOP_CLIENT } from "./stop-client.ts";

/** Every kind of misfortune. One more is a file in this folder and a line here. */
export const FAULT_KINDS: readonly FaultKind[] = [
  CRASH,
  RESTART,
  SHUTDOWN,
  PAUSE,
  RESUME,
  POWER_OFF,
  POWER_ON,
  ISOLATE,
  PARTITION,
  DELAY_LINK,
  SLOW_LINK,
  RESET,
  DROP,
  DUPLICATE,
  REORDER,
  SLOW_DISK,
  DISK_SPIKES,
  DISK_STALL,
  DISK_READ_ERROR,
  DISK_WRITE_ERROR,
  DISK_FULL,
  DISK_READONLY,
  DISK_LOST,
  FSYNC_FAILS,
  FSYNC_LIES,
  BIT_ROT,
  MISDIRECTED_READ,
  MISDIRECTED_WRITE,
  CLOCK_SKEW,
  STOP_CLIENT,
  PAUSE_READING,
  SEEK,
  ASK_OFFSETS,
  ADD_PARTITIONS,
  DELETE_RECORDS,
  ABORT_HANGING,
  MARK,
];
