import type { ConsumerConfigs } from "../../kafka/config/consumer-configs.ts";
import type { ProducerConfigs } from "../../kafka/config/producer-configs.ts";
import type { TransactionVersion } from "../../kafka/transaction/transaction-metadata.ts";
import type { NodeAddress } from "../../ports/network.ts";
import type { DurationSource } from "../../ports/random.ts";
import type { CommitPolicy, Subscription } from "../consumer/group/group-options.ts";
import type { OutsideStore } from "./outside-store.ts";

/**
 * What an application that reads and writes promises of each record that it reads.
 *
 * - `at-most-once`: it commits what a poll gave it, and then works on it.
 * - `at-least-once`: it works on it, waits until all that it made of it is acknowledged, and then commits.
 * - `exactly-once`: what it makes, and how far it has come, are one transaction (KIP-98, KIP-447).
 */
export type ProcessingGuarantee = "at-most-once" | "at-least-once" | "exactly-once";

export interface ProcessorOptions {
  /** The scenario's name for the client. */
  readonly name: string;
  /** What payloads name as their writer: the client's own address. */
  readonly address: NodeAddress;
  readonly group: string;
  readonly subscription: Subscription;
  /** The topic for what it makes of each record; undefined: only `store` has it. */
  readonly to: string | undefined;
  readonly store: OutsideStore | undefined;
  readonly guarantee: ProcessingGuarantee;
  /** How long it works on each record; undefined: no time. */
  readonly work: DurationSource | undefined;
  /** Bytes of the value of a record that it makes. */
  readonly recordSize: number;
  readonly consumerConfigs: ConsumerConfigs;
  readonly producerConfigs: ProducerConfigs;
  readonly idempotence: boolean;
  readonly transactionVersion: TransactionVersion;
  readonly bootstrap: readonly NodeAddress[];
}

/** When its consumer commits: with exactly-once never, as its transactions do. */
export function commitPolicyOf(guarantee: ProcessingGuarantee): CommitPolicy {
  switch (guarantee) {
    case "at-most-once":
      return { mode: "sync", when: "before" };
    case "at-least-once":
      return { mode: "sync", when: "after" };
    case "exactly-once":
      // With enable.auto.commit=false.
      return { mode: "auto", when: "after" };
  }
}
