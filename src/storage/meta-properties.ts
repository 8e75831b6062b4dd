import { invariant } from "../base/invariant.ts";
import type { BrokerId } from "../kafka/ids.ts";
import type { Uuid } from "../kafka/uuid.ts";
import { numberedUuid } from "../kafka/uuid.ts";
import type { Disk } from "../ports/disk.ts";
import { DiskError } from "../ports/disk.ts";
import { readText, replaceFile } from "./text-file.ts";

/**
 * The id of a log directory, from its `meta.properties`; a directory without the file is formatted
 * first, as by `kafka-storage format` (Kafka's `MetaProperties`, version 1).
 *
 * Simplified: the id tells the node; Kafka draws a random one.
 */
export function ensureMetaProperties(
  disk: Disk,
  directory: string,
  nodeId: BrokerId,
  clusterId: string,
): Uuid {
  const path = `${directory}/meta.properties`;
  const text = readText(disk, path);
  if (text === undefined) {
    const directoryId = numberedUuid(1, nodeId);
    const lines = [
      `cluster.id=${clusterId}`,
      `directory.id=${directoryId}`,
      `node.id=${nodeId}`,
      "version=1",
    ];
    replaceFile(disk, path, `${lines.join("\n")}\n`);
    return directoryId;
  }
  const directoryId = /^directory\.id=(.+)$/m.exec(text)?.[1];
  const owner = /^node\.id=(\d+)$/m.exec(text)?.[1];
  if (directoryId === undefined || owner === undefined) throw new DiskError("EIO", path);
  invariant(Number(owner) === nodeId, () => `node ${nodeId} opened the directory of ${owner}`);
  return directoryId;
}
