import type { PartitionName } from "../kafka/ids.ts";
import type { DiskArea, DiskFileKind } from "../ports/disk-failure.ts";

/** Is the path of a file, or of a directory, in the area? */
export function isInside(path: string, { log, file, directory }: DiskArea): boolean {
  if (directory !== undefined && path !== directory && !path.startsWith(`${directory}/`)) {
    return false;
  }
  if (log !== undefined && partitionOf(path) !== log) return false;
  return file === "any" || kindOf(path) === file;
}

/** The partition in whose directory a path lies, or whose directory it is; empty if there is none. */
export function partitionOf(path: string): PartitionName {
  for (const name of path.split("/").reverse()) if (/^.+-[0-9]+$/.test(name)) return name;
  return "";
}

function kindOf(path: string): DiskFileKind {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (name.includes("checkpoint")) return "checkpoint";
  switch (/^[0-9]{20}[.]([a-z]+)/.exec(name)?.[1]) {
    case "log":
      return "log";
    case "index":
      return "index";
    case "timeindex":
      return "timeindex";
    case "txnindex":
      return "txnindex";
    case "snapshot":
      return "snapshot";
    default:
      return "any";
  }
}
