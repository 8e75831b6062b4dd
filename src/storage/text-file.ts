import { encodeUtf8 } from "../base/utf8.ts";
import type { Disk, DiskFile } from "../ports/disk.ts";

/**
 * Replaces a small file so that a crash or power loss leaves the old content or the new: writes a
 * `.tmp` beside it, syncs, renames, syncs the directory (Kafka's `CheckpointFile`).
 */
export function replaceFile(disk: Disk, path: string, text: string): void {
  writeTemporary(disk, path, text).sync();
  moveIntoPlace(disk, path);
}

/** The first step of `replaceFile`, not synced. */
export function writeTemporary(disk: Disk, path: string, text: string): DiskFile {
  const file = disk.open(temporary(path));
  file.truncate(0);
  file.write(0, encodeUtf8(text));
  return file;
}

/** The last steps of `replaceFile`, once the temporary file is synced. */
export function moveIntoPlace(disk: Disk, path: string): void {
  disk.rename(temporary(path), path);
  disk.syncDirectory(path.slice(0, path.lastIndexOf("/")));
}

/** The file's text, byte by byte (what Kafka writes here is ASCII); undefined if there is no file. */
export function readText(disk: Disk, path: string): string | undefined {
  if (!disk.exists(path)) return undefined;
  const file = disk.open(path);
  let text = "";
  for (const byte of file.read(0, file.size)) text += String.fromCharCode(byte);
  return text;
}

function temporary(path: string): string {
  return `${path}.tmp`;
}
