import { byText } from "../../base/order.ts";
import { encodeUtf8 } from "../../base/utf8.ts";
import type { MetadataImage } from "../metadata/image.ts";

/**
 * Changes when a topic that somebody subscribes to does: it comes, goes, or has more partitions.
 * Simplified: 32 bits of another function than Kafka's (KIP-1101), and racks do not count.
 */
export function metadataHash(topics: ReadonlySet<string>, image: MetadataImage): number {
  let text = "";
  for (const name of [...topics].sort(byText)) {
    const topic = image.topicByName(name);
    if (topic !== undefined) text += `${topic.topicId}:${name}:${topic.partitions.length};`;
  }
  if (text === "") return 0;
  let hash = 0x811c_9dc5;
  for (const byte of encodeUtf8(text)) hash = Math.imul(hash ^ byte, 0x0100_0193) >>> 0;
  return hash;
}
