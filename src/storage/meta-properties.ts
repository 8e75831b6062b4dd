import type { BrokerId } from "../kafka/ids.ts";
import type { Uuid } from "../kafka/uuid.ts";
import { numberedUuid } from "../kafka/uuid.ts";
import type { Disk } from "../ports/disk.ts";
import { DiskError } from "../ports/disk.ts";
import { RefusedStart } from "./refused-start.ts";
import { readText, replaceFile } from "./text-file.ts";

/** Whose a log directory is, and what id it gets if it has none yet. */
export interface DirectoryOwner {
  readonly nodeId: BrokerId;
  readonly clusterId: string;
  /** The directory's place in `log.dirs`, from 0. */
  readonly place: number;
  /** How often the process was started before. */
  readonly incarnation: number;
}

/**
 * The id of a log directory, from its `meta.properties` (Kafka's `MetaProperties`, version 1). Throws
 * `DiskError` if the file cannot be read, and `RefusedStart` if it is another node's.
 *
 * Simplified: a directory without the file is formatted at once, as by `kafka-storage format`; Kafka
 * does not start until somebody has done that. The id tells node, directory and incarnation; Kafka
 * draws a random one.
 */
export function ensureMetaProperties(disk: Disk, directory: string, owner: DirectoryOwner): Uuid {
  const path = `${directory}/meta.properties`;
  const text = readText(disk, path);
  if (text === undefined) {
    const directoryId = newDirectoryId(owner);
    const lines = [
      `cluster.id=${owner.clusterId}`,
      `directory.id=${directoryId}`,
      `node.id=${owner.nodeId}`,
      "version=1",
    ];
    replaceFile(disk, path, `${lines.join("\n")}\n`);
    return directoryId;
  }
  const directoryId = /^directory\.id=([A-Za-z0-9_-]{22})$/m.exec(text)?.[1];
  const nodeId = /^node\.id=(\d+)$/m.exec(text)?.[1];
  const clusterId = /^cluster\.id=(.+)$/m.exec(text)?.[1];
  if (directoryId === undefined || nodeId === undefined) throw new DiskError("EIO", path);
  if (Number(nodeId) !== owner.nodeId || clusterId !== owner.clusterId) {
    throw new RefusedStart(`${path} is of node ${nodeId} in cluster ${clusterId}`);
  }
  return directoryId;
}

/** Directories that one process can have, as far as their ids can tell them apart. */
const PLACES = 1000;

/** A disk that was lost and is formatted anew is another directory to the cluster (KIP-858). */
function newDirectoryId({ nodeId, place, incarnation }: DirectoryOwner): Uuid {
  return numberedUuid(1 + place + PLACES * incarnation, nodeId);
}
