import type { TopicId } from "../kafka/ids.ts";
import type { Disk } from "../ports/disk.ts";
import { DiskError } from "../ports/disk.ts";
import { readText, replaceFile } from "./text-file.ts";

/** The topic id in a log's `partition.metadata` (KIP-516); undefined without the file. */
export function readTopicId(disk: Disk, directory: string): TopicId | undefined {
  const path = pathIn(directory);
  const text = readText(disk, path);
  if (text === undefined) return undefined;
  const [, topicId] = /^version: 0\ntopic_id: (\S+)\n?$/.exec(text) ?? [];
  if (topicId === undefined) throw new DiskError("EIO", path);
  return topicId;
}

export function writeTopicId(disk: Disk, directory: string, topicId: TopicId): void {
  replaceFile(disk, pathIn(directory), `version: 0\ntopic_id: ${topicId}`);
}

function pathIn(directory: string): string {
  return `${directory}/partition.metadata`;
}
