import { byText } from "../base/order.ts";
import type { Reading } from "./reading.ts";
import type { ClientSpec, ProcessorSpec } from "./scenario.ts";

/**
 * What members of one group cannot be to each other, where one of them reads and writes, or can be by mistake.
 * Kafka lets them: it gives each record to one of them, as if they were processes of one application.
 */
export function checkGroupMembers(clients: readonly ClientSpec[], reading: Reading): void {
  const heads = new Map<string, ProcessorSpec>();
  for (const client of clients) {
    if (client.kind !== "processor") continue;
    const head = heads.get(client.group);
    if (head === undefined) heads.set(client.group, client);
    else compare(head, client, reading);
  }
  for (const client of clients) {
    if (client.kind !== "consumer" || client.membership === undefined) continue;
    const { group } = client.membership;
    const head = heads.get(group);
    if (head === undefined) continue;
    const message = `\`${client.name}\` commits for group \`${group}\` of \`${head.name}\``;
    reading.warn(client.place, `${message}, which makes nothing of what \`${client.name}\` reads`);
  }
}

/** One of a group beside another, which stands before it. */
function compare(head: ProcessorSpec, client: ProcessorSpec, reading: Reading): void {
  const { name, guarantee, place } = client;
  const remedy = "give one of them another `group`";
  if (head.guarantee !== guarantee) {
    const other = `\`${head.name}\` of the same group ${head.guarantee}`;
    const message = `\`${name}\` promises ${guarantee}, and ${other}`;
    reading.complain(place, `${message}: a group has one promise; ${remedy}`);
  } else if (head.to !== client.to || head.store?.name !== client.store?.name) {
    const message = `\`${name}\` and \`${head.name}\` are one group, and write to different places`;
    reading.complain(place, `${message}; ${remedy}`);
  } else if (topicsOf(head) !== topicsOf(client)) {
    const message = `\`${name}\` reads ${topicsOf(client)}, and \`${head.name}\` ${topicsOf(head)}`;
    reading.warn(
      place,
      `${message}, as one group: what only one of them reads goes to nobody else`,
    );
  }
}

function topicsOf({ pattern, topics }: ProcessorSpec): string {
  return pattern === undefined ? [...topics].sort(byText).join(", ") : `/${pattern}/`;
}
