import type { BrokerId } from "../kafka/ids.ts";
import type { ClusterView } from "../trace/cluster-view.ts";
import type { FactRecorder } from "../trace/recorder.ts";
import type { ClusterSpec } from "./cluster-spec.ts";

/**
 * Tells when a cluster has formed: every broker unfenced, every partition created with a leader that
 * knows it, and all its replicas in sync and following.
 */
export class Readiness {
  readonly #view: ClusterView;
  readonly #expected: number;
  readonly #brokers: number;
  readonly #unfenced = new Set<BrokerId>();
  /** `orders-0/2`: a broker has taken up its role in a partition. */
  readonly #roles = new Set<string>();
  /** Something has changed since the last look. */
  #isDirty = true;
  #isReady = false;

  constructor(facts: FactRecorder, view: ClusterView, spec: ClusterSpec) {
    this.#view = view;
    this.#brokers = spec.brokers.length;
    this.#expected = spec.topics.reduce(
      (sum, { numPartitions, assignments }) =>
        sum + (assignments.length > 0 ? assignments.length : numPartitions),
      0,
    );
    facts.on("broker-unfenced", ({ broker }) => {
      this.#unfenced.add(broker);
      this.#isDirty = true;
    });
    facts.on("broker-fenced", ({ broker }) => this.#unfenced.delete(broker));
    facts.on("partition-changed", () => {
      this.#isDirty = true;
    });
    facts.on("became-leader", ({ broker, partition }) => this.#took(partition, broker));
    facts.on("became-follower", ({ broker, partition }) => this.#took(partition, broker));
  }

  #took(partition: string, broker: BrokerId): void {
    this.#roles.add(`${partition}/${broker}`);
    this.#isDirty = true;
  }

  get isReady(): boolean {
    if (!this.#isDirty) return this.#isReady;
    this.#isDirty = false;
    this.#isReady = this.missing === "";
    return this.#isReady;
  }

  /** What is waited for; empty if nothing is. */
  get missing(): string {
    if (this.#unfenced.size < this.#brokers) {
      return `${this.#unfenced.size} of ${this.#brokers} brokers are unfenced`;
    }
    const partitions = this.#view.partitions;
    if (partitions.size < this.#expected) {
      return `${partitions.size} of ${this.#expected} partitions are there`;
    }
    for (const { name, leader, isr, replicas } of partitions.values()) {
      if (leader < 0) return `${name} has no leader`;
      if (isr.length < replicas.length) return `the ISR of ${name} is not full`;
      for (const replica of replicas) {
        if (!this.#roles.has(`${name}/${replica}`)) {
          return `broker-${replica} has not taken up its role in ${name}`;
        }
      }
    }
    return "";
  }
}
