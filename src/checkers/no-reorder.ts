import type { Instant } from "../base/time.ts";
import type { Offset } from "../kafka/ids.ts";
import type { AckedSend } from "./acked-records.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import { RecordRun } from "./record-run.ts";

export const NO_REORDER: Guarantee = {
  name: "no-reorder",
  sentence:
    "What one producer sent to one partition, and was told is written, stands in the order sent.",
  source:
    "KafkaProducer's documentation, max.in.flight.requests.per.connection; Jepsen's nonmonotonic-send",
  kinds: ["record-reordered"],
  condition:
    "Among acknowledged records that are not lost. Permitted: with enable.idempotence=false, if one of the two was sent again.",
  testedBy: "acknowledgements to a producer that had sent something again",
  example: [
    "record-reordered   orders-0   at 12.480s, event 9120",
    "  p1 sent record 118 before record 121, but they stand at offsets 123 and 120: 3 records.",
  ],
  create: (context) => new NoReorder(context),
};

interface Inversion {
  readonly partition: PartitionGhost;
  readonly client: string;
  readonly earlier: AckedSend;
  readonly later: AckedSend;
  /** The one whose acknowledgement showed it. */
  readonly shownBy: AckedSend;
  readonly at: Instant;
  readonly event: number;
}

class NoReorder implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly #context: CheckContext;
  readonly #orders: Map<string, ClientOrder>[] = [];
  readonly #found: Inversion[] = [];

  constructor(context: CheckContext) {
    this.#context = context;
    context.acked.onAcked((partition, send, at) => this.#ack(partition, send, at));
  }

  /** One for each partition, client and reason. */
  get violations(): readonly Violation[] {
    const groups = new Map<string, Inversion[]>();
    for (const inversion of this.#found) {
      const permitted = this.#waive(inversion) ?? "";
      const key = `${inversion.partition.index} ${inversion.client} ${permitted}`;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [inversion]);
      else group.push(inversion);
    }
    return [...groups.values()].map((group) => this.#describe(group));
  }

  #ack(partition: PartitionGhost, send: AckedSend, at: Instant): void {
    const { client } = send;
    this.evaluations++;
    if (this.#context.retries.hasRetried(client, partition.name)) this.interesting++;
    const { generation, sends } = this.#context.acked.of(partition);
    let orders = this.#orders[partition.index];
    if (orders === undefined) {
      orders = new Map();
      this.#orders[partition.index] = orders;
    }
    let order = orders.get(client);
    if (order === undefined) {
      order = new ClientOrder();
      orders.set(client, order);
    }
    if (order.generation !== generation) order.restart(sends, send, generation);
    else if (order.takes(send)) return;
    const other = sends.findLast((another) => contradict(another, send));
    if (other === undefined) return;
    const [earlier, later] = send.firstValue < other.firstValue ? [send, other] : [other, send];
    const { event } = send;
    this.#found.push({ partition, client, earlier, later, shownBy: send, at, event });
  }

  #waive({ partition, client, earlier, later }: Inversion): string | undefined {
    if (this.#context.setup.clients.get(client)?.idempotent !== false) return undefined;
    const { retries } = this.#context;
    const again =
      retries.wasRetried(client, earlier.firstValue, partition.name) ||
      retries.wasRetried(client, later.firstValue, partition.name);
    return again ? `${client} sent one of them again, with enable.idempotence=false` : undefined;
  }

  #describe(group: readonly Inversion[]): Violation {
    const first = group[0] as Inversion;
    const { partition, client, earlier, later, at, event } = first;
    const run = new RecordRun();
    for (const { shownBy } of group) {
      const { firstOffset, count } = shownBy;
      run.add(firstOffset, firstOffset + count - 1, count);
    }
    return {
      guarantee: NO_REORDER.name,
      kind: "record-reordered",
      partition: partition.name,
      client,
      at,
      event,
      text: [
        `${client} sent record ${earlier.firstValue} before record ${later.firstValue}, but they stand at offsets ${earlier.firstOffset} and ${later.firstOffset}: ${run.size}.`,
      ],
      offsets: run.offsets,
      count: run.count,
      permitted: this.#waive(first),
      cause: event,
      follows: undefined,
    };
  }
}

/** The furthest of one client's acknowledged sends to one partition, in both orders. */
class ClientOrder {
  generation = 0;
  #highestValue = -1;
  #highestOffset: Offset = -1;

  /** Is it after all that went before, in both orders? Then nothing contradicts it. */
  takes(send: AckedSend): boolean {
    const isAfter = send.firstValue > this.#highestValue && send.firstOffset > this.#highestOffset;
    this.#highestValue = Math.max(this.#highestValue, send.lastValue);
    this.#highestOffset = Math.max(this.#highestOffset, send.firstOffset + send.count - 1);
    return isAfter;
  }

  /** Some are lost: takes those that are not anew, up to and with `newest`. */
  restart(sends: readonly AckedSend[], newest: AckedSend, generation: number): void {
    this.generation = generation;
    this.#highestValue = -1;
    this.#highestOffset = -1;
    for (const send of sends) {
      if (send.client === newest.client && !send.lost) this.takes(send);
    }
  }
}

/** Were they sent in one order, and do they stand in the other? */
function contradict(one: AckedSend, other: AckedSend): boolean {
  if (one === other || one.client !== other.client || one.lost) return false;
  return one.firstValue < other.firstValue !== one.firstOffset < other.firstOffset;
}
