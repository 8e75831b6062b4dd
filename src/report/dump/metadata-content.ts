import { FlexibleReader } from "../../kafka/metadata/flexible-reader.ts";
import { decodeMetadataRecord } from "../../kafka/metadata/record-codec.ts";
import type { MetadataRecord, MetadataRecordType } from "../../kafka/metadata/records.ts";

/**
 * A record of the metadata log as Kafka's tool shows it with `--cluster-metadata-decoder`: one line of
 * JSON, fields in the order of their schema, tagged ones only if they are not what they are by default.
 */
export function metadataContent(value: Uint8Array): string {
  try {
    const record = decodeMetadataRecord(value);
    return JSON.stringify({
      type: typeName(record),
      version: versionOf(value),
      data: fieldsOf(record),
    });
  } catch (problem) {
    // A type, a version or bytes that the codec does not know.
    const reason = problem instanceof Error ? problem.message : String(problem);
    return `cannot be read: ${reason}`;
  }
}

/** `REGISTER_BROKER_RECORD`. */
function typeName({ type }: MetadataRecord): string {
  return type.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
}

/** Behind the frame's version and the type's key. */
function versionOf(value: Uint8Array): number {
  const reader = new FlexibleReader(value);
  reader.unsignedVarint();
  reader.unsignedVarint();
  return reader.unsignedVarint();
}

/** What is always false, and so not kept in our records: by the field that it follows. */
const NOT_KEPT: Partial<Record<MetadataRecordType, readonly [after: string, name: string]>> = {
  RegisterBrokerRecord: ["brokerId", "isMigratingZkBroker"],
  RegisterControllerRecord: ["incarnationId", "zkMigrationReady"],
};

/** Tagged fields of number, and what they are when they are not written. */
const DEFAULTS: Partial<Record<MetadataRecordType, Readonly<Record<string, unknown>>>> = {
  PartitionRecord: { leaderRecoveryState: 0 },
  BrokerRegistrationChangeRecord: { fenced: 0, inControlledShutdown: 0 },
};

/** Fields that are not tagged, so that they are there as null. */
const NULLABLE: Partial<Record<MetadataRecordType, readonly string[]>> = {
  RegisterBrokerRecord: ["rack"],
  ConfigRecord: ["value"],
};

function fieldsOf(record: MetadataRecord): Record<string, unknown> {
  const { type } = record;
  const fields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(record)) {
    if (name === "type") continue;
    if (value === undefined) {
      if (NULLABLE[type]?.includes(name) === true) fields[name] = null;
      continue;
    }
    if (DEFAULTS[type]?.[name] === value) continue;
    fields[name] = value;
    const [after, missing] = NOT_KEPT[type] ?? [];
    if (missing !== undefined && after === name) fields[missing] = false;
  }
  return fields;
}
