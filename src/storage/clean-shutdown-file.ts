import { encodeUtf8 } from "../base/utf8.ts";
import type { BrokerEpoch } from "../kafka/ids.ts";
import type { Disk } from "../ports/disk.ts";
import { readText } from "./text-file.ts";

/**
 * The broker epoch in a log directory's `.kafka_cleanshutdown`, -1 if the file has none; undefined
 * without the file, that is, after an unclean stop. Removes it (Kafka's `CleanShutdownFileHandler`).
 */
export function readCleanShutdown(disk: Disk, directory: string): BrokerEpoch | undefined {
  const path = pathIn(directory);
  const text = readText(disk, path);
  if (text === undefined) return undefined;
  disk.remove(path);
  const [, brokerEpoch] = /"brokerEpoch":\s*(-?\d{1,15})/.exec(text) ?? [];
  return brokerEpoch === undefined ? -1 : Number(brokerEpoch);
}

/** Synced, but its name is not: Kafka does not sync the directory here. */
export function writeCleanShutdown(disk: Disk, directory: string, brokerEpoch: BrokerEpoch): void {
  const file = disk.open(pathIn(directory));
  file.truncate(0);
  file.write(0, encodeUtf8(`{"version":0,"brokerEpoch":${brokerEpoch}}`));
  file.sync();
}

function pathIn(directory: string): string {
  return `${directory}/.kafka_cleanshutdown`;
}
