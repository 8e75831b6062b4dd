import type { Damages } from "./damage.ts";
import type { DumpOptions, DumpTarget } from "./dump-options.ts";
import type { DumpEntry } from "./entry.ts";
import type { FileKind } from "./file-kind.ts";
import { kindOf } from "./file-kind.ts";
import { dumpOffsetIndex, dumpTimeIndex } from "./index-dump.ts";
import { dumpLog } from "./log-dump.ts";
import { dumpProducerSnapshot, dumpTransactionIndex } from "./producer-dump.ts";
import {
  dumpJson,
  dumpLeaderEpochs,
  dumpMetaProperties,
  dumpOffsets,
  dumpPartitionMetadata,
} from "./text-dump.ts";

/**
 * What a file of a log directory holds, entry by entry, as far as it is sound; what is not goes to
 * `damages`. Undefined for a name that Kafka gives to no file. Survives any bytes.
 */
export function dumpFile(
  target: DumpTarget,
  options: DumpOptions,
  damages: Damages,
): Generator<DumpEntry> | undefined {
  const kind = kindOf(target.name);
  return kind === undefined ? undefined : DUMPERS[kind](target, options, damages);
}

type Dumper = (target: DumpTarget, options: DumpOptions, damages: Damages) => Generator<DumpEntry>;

const DUMPERS: Readonly<Record<FileKind, Dumper>> = {
  log: dumpLog,
  "kraft-snapshot": dumpLog,
  "offset-index": dumpOffsetIndex,
  "time-index": dumpTimeIndex,
  "transaction-index": dumpTransactionIndex,
  "producer-snapshot": dumpProducerSnapshot,
  "leader-epochs": dumpLeaderEpochs,
  offsets: dumpOffsets,
  "partition-metadata": dumpPartitionMetadata,
  "meta-properties": dumpMetaProperties,
  "clean-shutdown": dumpJson,
  "quorum-state": dumpJson,
};
