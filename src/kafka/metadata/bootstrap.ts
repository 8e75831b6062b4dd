import { byText } from "../../base/order.ts";
import type { FeatureLevels } from "../protocol-switches.ts";
import type { MetadataRecord } from "./records.ts";

/**
 * Simplified: not finalized through the metadata log. Nodes are told with their options, and runs without
 * transactions remain what they were.
 */
const KNOWN_TO_ALL: keyof FeatureLevels = "transaction.version";

/** The level of `metadata.version` 4.3-IV0. */
export const METADATA_VERSION_LEVEL = 30;

/**
 * What the first controller of a new cluster writes, as `kafka-storage format` prepared it
 * (`BootstrapMetadata`): the metadata version first, then the other features that are not off.
 */
export function bootstrapRecords(features: FeatureLevels): readonly MetadataRecord[] {
  const records: MetadataRecord[] = [
    { type: "FeatureLevelRecord", name: "metadata.version", featureLevel: METADATA_VERSION_LEVEL },
  ];
  const names = Object.entries(features).sort(([a], [b]) => byText(a, b));
  for (const [name, level] of names) {
    if (name === KNOWN_TO_ALL) continue;
    if (level > 0) records.push({ type: "FeatureLevelRecord", name, featureLevel: level });
  }
  return records;
}
