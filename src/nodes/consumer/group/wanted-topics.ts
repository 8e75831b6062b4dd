import { byText } from "../../../base/order.ts";
import type { ClientMetadata } from "../../client-metadata/client-metadata.ts";
import type { Subscription } from "./group-options.ts";

/**
 * The topics that a member subscribes to, sorted: those it names, or those of the metadata that match its
 * pattern (`updatePatternSubscription`); internal ones are left out.
 */
export function wantedTopics(
  subscription: Subscription,
  metadata: ClientMetadata,
): readonly string[] {
  if (subscription.kind === "topics") return [...subscription.topics].sort(byText);
  const expression = new RegExp(`^(?:${subscription.pattern})$`);
  const matching: string[] = [];
  for (const { name, isInternal, isKnown } of metadata.topics) {
    if (isKnown && !isInternal && expression.test(name)) matching.push(name);
  }
  return matching.sort(byText);
}
