import type { BrokerId, PartitionName } from "../kafka/ids.ts";
import { PRODUCE } from "../kafka/protocol/apis.ts";
import type { SendEnded } from "../trace/fact.ts";
import type { FactRecorder } from "../trace/recorder.ts";
import { RebuiltStates } from "./rebuilt-states.ts";

/** Which records were, or may have been, sent more than once, or out of order. */
export class ProducerRetries {
  /** What brokers may have forgotten, so that they cannot tell a retry. */
  readonly rebuilt: RebuiltStates;
  readonly #clients = new Map<string, ClientRetries>();
  /** The client asked for last, if it is known: few take turns. */
  #lastName = "";
  #last: ClientRetries | undefined = undefined;

  constructor(recorder: FactRecorder) {
    this.rebuilt = new RebuiltStates(recorder);
    recorder.on("send-ended", (fact) => this.#of(fact.client).end(fact));
    recorder.on("request-failed", ({ client, api, broker, partition, error, retried }) => {
      if (!retried || api !== PRODUCE.name) return;
      const known = this.#of(client);
      known.partitions.add(partition);
      if (error === "OUT_OF_ORDER_SEQUENCE_NUMBER") known.refusals.push({ broker, partition });
    });
    recorder.on("message-disturbed", ({ how, from, to, apiKey, isResponse }) => {
      if (apiKey !== PRODUCE.key) return;
      if (how === "dropped") this.#of(isResponse ? to : from).dropped = true;
      else if (!isResponse) this.#of(from)[how] = true;
    });
  }

  /** Has the network lost a produce request of this client, or the answer to one? */
  wasDropped(client: string): boolean {
    return this.#clients.get(client)?.dropped === true;
  }

  /** Has a send of this client, to this partition, ended otherwise than with an acknowledgement? */
  hasGivenUp(client: string, partition: PartitionName): boolean {
    return this.#clients.get(client)?.givenUp.has(partition) === true;
  }

  /** Brokers that have told this client that a sequence was out of order there. */
  refusedBy(client: string, partition: PartitionName): readonly BrokerId[] {
    const refusals = this.#clients.get(client)?.refusals ?? [];
    return refusals.filter((at) => at.partition === partition).map(({ broker }) => broker);
  }

  /** Has the network delivered a produce request of this client twice? */
  wasDoubled(client: string): boolean {
    return this.#clients.get(client)?.doubled === true;
  }

  /** Has the network let others overtake a produce request of this client? */
  wasOvertaken(client: string): boolean {
    return this.#clients.get(client)?.overtaken === true;
  }

  /** Has the client had a produce request fail, for this partition or as a whole, and tried it again? */
  hasRetried(client: string, partition: PartitionName): boolean {
    const partitions = this.#find(client)?.partitions;
    if (partitions === undefined || partitions.size === 0) return false;
    return partitions.has(partition) || partitions.has(WHOLE_REQUEST);
  }

  /** Was this record sent several times? While its sends have not ended: could it have been? */
  wasRetried(client: string, value: number, partition: PartitionName): boolean {
    const attempts = this.#clients.get(client)?.attempts[value] ?? 0;
    return attempts === 0 ? this.hasRetried(client, partition) : attempts > 1;
  }

  #find(client: string): ClientRetries | undefined {
    if (client === this.#lastName && this.#last !== undefined) return this.#last;
    const known = this.#clients.get(client);
    if (known !== undefined) {
      this.#lastName = client;
      this.#last = known;
    }
    return known;
  }

  #of(client: string): ClientRetries {
    const known = this.#find(client);
    if (known !== undefined) return known;
    const made = new ClientRetries();
    this.#clients.set(client, made);
    return made;
  }
}

class ClientRetries {
  dropped = false;
  doubled = false;
  overtaken = false;
  /** Where a produce request failed and was tried again. */
  readonly partitions = new Set<PartitionName>();
  /** Who found a sequence out of order, and where: once an attempt. */
  readonly refusals: { readonly broker: BrokerId; readonly partition: PartitionName }[] = [];
  /** Where a send ended without an acknowledgement. */
  readonly givenUp = new Set<PartitionName>();
  /** Per value: 0 while its sends have not ended, 1 after a single attempt, 2 after more. */
  attempts: Uint8Array = new Uint8Array(1024);

  end({ values, attempts, outcome, partition }: SendEnded): void {
    if (outcome !== "acked") this.givenUp.add(partition);
    for (const value of values) {
      if (value >= this.attempts.length) this.#grow(value);
      this.attempts[value] = attempts > 1 ? 2 : 1;
    }
  }

  #grow(value: number): void {
    const grown = new Uint8Array(Math.max(this.attempts.length * 2, value + 1));
    grown.set(this.attempts);
    this.attempts = grown;
  }
}

/** The partition of a failure that is the whole request's. */
const WHOLE_REQUEST = "";
