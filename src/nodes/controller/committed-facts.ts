import type { BrokerConfigs } from "../../kafka/config/broker-configs.ts";
import type { Offset, QuorumEpoch, TopicId } from "../../kafka/ids.ts";
import { partitionName } from "../../kafka/ids.ts";
import { effectiveMinInsyncReplicas } from "../../kafka/metadata/decision.ts";
import { electionKind } from "../../kafka/metadata/election.ts";
import type { MetadataImage } from "../../kafka/metadata/image.ts";
import type { PartitionRegistration } from "../../kafka/metadata/partition-registration.ts";
import type { MetadataRecord } from "../../kafka/metadata/records.ts";
import { RECOVERING } from "../../kafka/metadata/records.ts";
import type { FactSink } from "../../trace/fact.ts";
import type { CommitJournal } from "./commit-journal.ts";

/** Replays committed records and notes, if asked to, what they mean for brokers and partitions. */
export class CommittedFacts {
  readonly #facts: FactSink;
  readonly #configs: BrokerConfigs;
  readonly #journal: CommitJournal;

  constructor(facts: FactSink, configs: BrokerConfigs, journal: CommitJournal) {
    this.#facts = facts;
    this.#configs = configs;
    this.#journal = journal;
  }

  /** `notes`: does this controller lead, so that it is the one to tell? */
  replay(
    image: MetadataImage,
    record: MetadataRecord,
    offset: Offset,
    epoch: QuorumEpoch,
    notes: boolean,
  ): void {
    if (!notes || !this.#journal.isNew(offset, epoch)) {
      image.replay(record, offset);
      return;
    }
    switch (record.type) {
      case "PartitionRecord":
      case "PartitionChangeRecord": {
        const { topicId, partitionId } = record;
        const before = image.topicById(topicId)?.partitions[partitionId];
        image.replay(record, offset);
        this.#notePartition(image, topicId, partitionId, before);
        break;
      }
      case "RegisterBrokerRecord": {
        const { brokerId: broker, brokerEpoch, incarnationId } = record;
        const isAmended = image.brokers.get(broker)?.incarnationId === incarnationId;
        image.replay(record, offset);
        if (isAmended) break;
        const cleanShutdown = this.#journal.wasCleanShutdown(brokerEpoch);
        this.#facts.note({ kind: "broker-registered", broker, brokerEpoch, cleanShutdown });
        break;
      }
      case "BrokerRegistrationChangeRecord": {
        const { brokerId: broker, brokerEpoch, fenced, inControlledShutdown } = record;
        image.replay(record, offset);
        if (inControlledShutdown === 1) {
          this.#facts.note({ kind: "broker-shutting-down", broker, brokerEpoch });
        }
        if (fenced === 1) this.#facts.note({ kind: "broker-fenced", broker, brokerEpoch });
        else if (fenced === -1) this.#facts.note({ kind: "broker-unfenced", broker, brokerEpoch });
        break;
      }
      default:
        image.replay(record, offset);
    }
  }

  #notePartition(
    image: MetadataImage,
    topicId: TopicId,
    partitionId: number,
    before: PartitionRegistration | undefined,
  ): void {
    const topic = image.topicById(topicId);
    const after = topic?.partitions[partitionId];
    if (topic === undefined || after === undefined) return;
    this.#facts.note({
      kind: "partition-changed",
      partition: partitionName(topic.name, partitionId),
      replicas: after.replicas,
      isr: after.isr,
      elr: after.elr,
      leader: after.leader,
      leaderEpoch: after.leaderEpoch,
      partitionEpoch: after.partitionEpoch,
      recovering: after.leaderRecoveryState === RECOVERING,
      election: electionKind(before, after),
      minInsyncReplicas: effectiveMinInsyncReplicas(image, this.#configs, topic),
    });
  }
}
