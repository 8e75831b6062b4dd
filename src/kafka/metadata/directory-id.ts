import type { BrokerId } from "../ids.ts";
import type { Uuid } from "../uuid.ts";
import { numberedUuid, ZERO_UUID } from "../uuid.ts";
import type { BrokerRegistration } from "./broker-registration.ts";
import type { PartitionRegistration } from "./partition-registration.ts";

/** A replica has a directory, but nobody has told which (Kafka's `DirectoryId.MIGRATING`). */
export const MIGRATING: Uuid = ZERO_UUID;
/** A new replica, whose broker is to choose its directory (`DirectoryId.UNASSIGNED`). */
export const UNASSIGNED: Uuid = numberedUuid(0, 1);
/** A replica's directory is offline, whichever it was (`DirectoryId.LOST`). */
export const LOST: Uuid = numberedUuid(0, 2);

/** Is a directory online, given those of its broker that are (`DirectoryId.isOnline`)? */
export function isDirectoryOnline(directory: Uuid, online: readonly Uuid[]): boolean {
  if (directory === UNASSIGNED || directory === MIGRATING) return true;
  if (directory === LOST) return false;
  // A broker that told of none is of a time before KIP-858.
  return online.length === 0 || online.includes(directory);
}

/** The directory that the metadata have for a broker's replica; MIGRATING if they have none. */
export function directoryOfReplica(partition: PartitionRegistration, broker: BrokerId): Uuid {
  return partition.directories[partition.replicas.indexOf(broker)] ?? MIGRATING;
}

/** Is the disk of this broker's replica there, as far as the metadata know? */
export function isReplicaOnline(
  broker: BrokerRegistration | undefined,
  partition: PartitionRegistration,
): boolean {
  if (broker === undefined) return false;
  return isDirectoryOnline(directoryOfReplica(partition, broker.brokerId), broker.logDirs);
}

/** The directory of a new replica: a broker's only one, else the broker chooses (`defaultDir`). */
export function defaultDirectory(broker: BrokerRegistration | undefined): Uuid {
  if (broker === undefined) return UNASSIGNED;
  const { logDirs } = broker;
  if (logDirs.length === 0) return MIGRATING;
  return logDirs.length === 1 ? (logDirs[0] ?? UNASSIGNED) : UNASSIGNED;
}
