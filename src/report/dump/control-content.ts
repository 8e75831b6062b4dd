import { readInt16 } from "../../base/big-endian.ts";
import {
  controlTypeId,
  controlTypeName,
  decodeEndTransaction,
} from "../../kafka/log/control-record.ts";
import {
  decodeKRaftVersion,
  decodeKRaftVoters,
  decodeLeaderChange,
  decodeSnapshotFooter,
  decodeSnapshotHeader,
} from "../../kafka/quorum/control-messages.ts";
import type { ControlContent } from "./entry.ts";

/** What a control record says; without fields if it is of an unknown type or does not keep to its own. */
export function controlContent(
  key: Uint8Array | undefined,
  value: Uint8Array | undefined,
): ControlContent {
  const typeId = controlTypeId(key) ?? -1;
  const type = controlTypeName(typeId);
  if (type === undefined) return { type: "UNKNOWN", typeId };
  try {
    return { type, typeId, fields: fieldsOf(key, value ?? NOTHING) };
  } catch {
    return { type, typeId };
  }
}

/** Throws if the value does not fit the type. */
function fieldsOf(
  key: Uint8Array | undefined,
  value: Uint8Array,
): Readonly<Record<string, unknown>> {
  const marker = decodeEndTransaction(key, value);
  if (marker !== undefined) return { coordinatorEpoch: marker.coordinatorEpoch };
  const version = readInt16(value, 0);
  return { version, ...messageOf(key, value) };
}

function messageOf(key: Uint8Array | undefined, value: Uint8Array): object {
  switch (controlTypeName(controlTypeId(key) ?? -1)) {
    case "LEADER_CHANGE":
      return decodeLeaderChange(value);
    case "SNAPSHOT_HEADER":
      return decodeSnapshotHeader(value);
    case "SNAPSHOT_FOOTER":
      return decodeSnapshotFooter(value);
    case "KRAFT_VERSION":
      return decodeKRaftVersion(value);
    case "KRAFT_VOTERS":
      return decodeKRaftVoters(value);
    default:
      return {};
  }
}

const NOTHING = new Uint8Array(0);
