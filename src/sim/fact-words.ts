import { unreachable } from "../base/invariant.ts";
import type { Fact, FactOf } from "../trace/fact.ts";
import type { Digest } from "./digest.ts";

type Batch = FactOf<"appended">["batch"];

/**
 * Mixes a fact into the digest: a number for its kind, then its fields in the order of their
 * declaration. Written out kind by kind, since this runs for every fact of every run.
 */
export function mixFactInto(digest: Digest, fact: Fact): void {
  switch (fact.kind) {
    case "appended":
      digest.word(replicaWord(1, fact.broker, fact.asLeader));
      digest.name(fact.partition);
      mixBatch(digest, fact.batch);
      break;
    case "high-watermark-moved":
      digest.word(replicaWord(2, fact.broker, fact.asLeader));
      digest.name(fact.partition);
      digest.number(fact.highWatermark);
      digest.word(fact.leaderEpoch);
      break;
    case "last-stable-offset-moved":
      digest.word(replicaWord(19, fact.broker, true));
      digest.name(fact.partition);
      digest.number(fact.lastStableOffset);
      digest.word(fact.leaderEpoch);
      break;
    case "record-sent":
      digest.word(3);
      digest.name(fact.client);
      digest.name(fact.partition);
      digest.number(fact.value);
      break;
    case "send-ended":
      mixSendEnded(digest, fact);
      break;
    case "polled":
      mixPolled(digest, fact);
      break;
    case "log-loaded":
    case "truncated":
    case "log-start-moved":
    case "became-leader":
    case "became-follower":
    case "isr-proposed":
    case "isr-adopted":
      mixLogFact(digest, fact);
      break;
    case "log-cleaned":
      mixLogCleaned(digest, fact);
      break;
    case "coordinator-loaded":
    case "coordinator-unloaded":
    case "group-state-changed":
    case "group-migrated":
    case "group-member-joined":
    case "group-member-left":
    case "group-assigned":
    case "group-member-assigned":
    case "offsets-committed":
    case "offsets-removed":
      mixCoordinatorFact(digest, fact);
      break;
    case "zookeeper-session-ended":
    case "zookeeper-rebalance-ended":
      mixZookeeperFact(digest, fact);
      break;
    case "transaction-state-changed":
    case "transaction-begun":
    case "transaction-ended":
    case "producer-fenced":
    case "producer-id-rotated":
      mixTransactionFact(digest, fact);
      break;
    case "log-directory-failed":
      digest.word(11);
      digest.word(fact.broker);
      digest.text(fact.directory);
      digest.text(fact.reason);
      break;
    case "controller-elected":
    case "controller-resigned":
    case "broker-registered":
    case "broker-fenced":
    case "broker-unfenced":
    case "broker-shutting-down":
    case "partition-changed":
      mixQuorumFact(digest, fact);
      break;
    case "metadata-loaded":
    case "metadata-appended":
    case "metadata-truncated":
    case "metadata-applied":
      mixMetadataFact(digest, fact);
      break;
    case "records-processed":
    case "record-derived":
    case "row-stored":
    case "partitions-assigned":
    case "partitions-revoked":
    case "partitions-lost":
    case "commit-ended":
      mixMemberFact(digest, fact);
      break;
    case "hanging-transaction-found":
    case "request-failed":
    case "offset-asked":
    case "offset-told":
    case "call-failed":
    case "position-reset":
      mixClientFact(digest, fact);
      break;
    case "node-started":
    case "node-stopped":
    case "node-paused":
    case "node-resumed":
    case "fault-begun":
    case "fault-ended":
    case "core-drawn":
    case "unflushed-lost":
    case "disk-disturbed":
    case "message-disturbed":
      mixWorldFact(digest, fact);
      break;
    default:
      unreachable(fact);
  }
}

/** The kind of a fact about a replica, whose, and in which role: in one word, as there are so many. */
function replicaWord(kind: number, broker: number, asLeader: boolean): number {
  return (broker << 8) | (kind << 1) | +asLeader;
}

/** The CRC stands for the records and for all of the header but offset and epoch. */
function mixBatch(digest: Digest, batch: Batch): void {
  digest.number(batch.baseOffset);
  digest.word(batch.partitionLeaderEpoch);
  digest.word(batch.crc);
}

function mixSendEnded(digest: Digest, fact: FactOf<"send-ended">): void {
  // With -1, 0 and 1 as 0, 1 and 2, so that the attempts stand alone above.
  digest.word((fact.attempts << 8) | ((fact.acks + 1) << 4) | 4);
  digest.name(fact.client);
  digest.name(fact.partition);
  digest.name(fact.outcome);
  mixNumbers(digest, fact.values);
  digest.number(fact.baseOffset);
  digest.name(fact.error);
}

function mixPolled(digest: Digest, fact: FactOf<"polled">): void {
  digest.word(5);
  digest.name(fact.client);
  digest.name(fact.partition);
  digest.number(fact.firstOffset);
  digest.number(fact.lastOffset);
  digest.word(fact.batches.length);
  for (const batch of fact.batches) mixBatch(digest, batch);
}

function mixLogCleaned(digest: Digest, fact: FactOf<"log-cleaned">): void {
  digest.word(10);
  digest.word(fact.broker);
  digest.name(fact.partition);
  digest.number(fact.from);
  digest.number(fact.to);
  digest.word(fact.batches.length);
  for (const batch of fact.batches) mixBatch(digest, batch);
}

function mixLogFact(
  digest: Digest,
  fact: FactOf<
    | "log-loaded"
    | "truncated"
    | "log-start-moved"
    | "became-leader"
    | "became-follower"
    | "isr-proposed"
    | "isr-adopted"
  >,
): void {
  digest.word(6);
  digest.name(fact.kind);
  digest.word(fact.broker);
  digest.name(fact.partition);
  switch (fact.kind) {
    case "log-loaded":
      digest.number(fact.logStartOffset);
      digest.number(fact.logEndOffset);
      digest.word(fact.lastEpoch ?? -1);
      digest.number(fact.highWatermark);
      digest.word(+fact.cleanShutdown);
      digest.number(fact.truncatedBytes);
      break;
    case "truncated":
    case "log-start-moved":
      digest.number(fact.from);
      digest.number(fact.to);
      digest.text(fact.reason);
      break;
    case "became-leader":
      digest.word(fact.leaderEpoch);
      digest.word(fact.partitionEpoch);
      digest.number(fact.logEndOffset);
      digest.number(fact.highWatermark);
      mixNumbers(digest, fact.isr);
      break;
    case "became-follower":
      digest.word(fact.leader);
      digest.word(fact.leaderEpoch);
      digest.number(fact.logEndOffset);
      break;
    case "isr-adopted":
      digest.name(fact.by);
      mixNumbers(digest, fact.isr);
      digest.word(fact.leaderEpoch);
      digest.word(fact.partitionEpoch);
      break;
    case "isr-proposed":
      mixNumbers(digest, fact.isr);
      digest.word(fact.leaderEpoch);
      digest.word(fact.partitionEpoch);
      break;
    default:
      unreachable(fact);
  }
}

function mixQuorumFact(
  digest: Digest,
  fact: FactOf<
    | "controller-elected"
    | "controller-resigned"
    | "broker-registered"
    | "broker-fenced"
    | "broker-unfenced"
    | "broker-shutting-down"
    | "partition-changed"
  >,
): void {
  digest.word(7);
  digest.name(fact.kind);
  switch (fact.kind) {
    case "controller-elected":
    case "controller-resigned":
      digest.word(fact.controller);
      digest.word(fact.quorumEpoch);
      break;
    case "broker-registered":
      digest.word(fact.broker);
      digest.number(fact.brokerEpoch);
      digest.word(+fact.cleanShutdown);
      break;
    case "broker-fenced":
    case "broker-unfenced":
    case "broker-shutting-down":
      digest.word(fact.broker);
      digest.number(fact.brokerEpoch);
      break;
    case "partition-changed":
      digest.name(fact.partition);
      mixNumbers(digest, fact.replicas);
      mixNumbers(digest, fact.isr);
      mixNumbers(digest, fact.elr);
      digest.word(fact.leader);
      digest.word(fact.leaderEpoch);
      digest.word(fact.partitionEpoch);
      digest.word(+fact.recovering);
      digest.name(fact.election);
      digest.word(fact.minInsyncReplicas);
      break;
    default:
      unreachable(fact);
  }
}

function mixMetadataFact(
  digest: Digest,
  fact: FactOf<"metadata-loaded" | "metadata-appended" | "metadata-truncated" | "metadata-applied">,
): void {
  switch (fact.kind) {
    case "metadata-appended":
      digest.word(13);
      digest.word(fact.node);
      mixBatch(digest, fact.batch);
      digest.word(+fact.asLeader);
      break;
    case "metadata-applied":
      digest.word(14);
      digest.word(fact.node);
      mixBatch(digest, fact.batch);
      break;
    case "metadata-loaded":
      digest.word(15);
      digest.word(fact.node);
      digest.word(+fact.isVoter);
      digest.number(fact.logEndOffset);
      digest.word(fact.lastEpoch);
      break;
    case "metadata-truncated":
      digest.word(16);
      digest.word(fact.node);
      digest.number(fact.from);
      digest.number(fact.to);
      break;
    default:
      unreachable(fact);
  }
}

function mixClientFact(
  digest: Digest,
  fact: FactOf<
    | "hanging-transaction-found"
    | "request-failed"
    | "offset-asked"
    | "offset-told"
    | "call-failed"
    | "position-reset"
  >,
): void {
  digest.word(8);
  digest.name(fact.kind);
  digest.name(fact.client);
  digest.name(fact.partition);
  switch (fact.kind) {
    case "hanging-transaction-found":
      digest.number(fact.producerId);
      digest.word(fact.producerEpoch);
      digest.number(fact.firstOffset);
      break;
    case "request-failed":
      digest.name(fact.api);
      digest.word(fact.broker);
      digest.name(fact.error);
      digest.word(+fact.retried);
      break;
    case "offset-asked":
      digest.word(fact.broker);
      digest.name(fact.which);
      if (fact.purpose !== "position") digest.name(fact.purpose);
      break;
    case "offset-told":
      digest.name(fact.call);
      digest.number(fact.offset ?? -1);
      break;
    case "call-failed":
      digest.name(fact.call);
      digest.text(fact.error);
      break;
    case "position-reset":
      digest.number(fact.from);
      digest.number(fact.to);
      digest.text(fact.reason);
      break;
    default:
      unreachable(fact);
  }
}

function mixWorldFact(
  digest: Digest,
  fact: FactOf<
    | "node-started"
    | "node-stopped"
    | "node-paused"
    | "node-resumed"
    | "fault-begun"
    | "fault-ended"
    | "core-drawn"
    | "unflushed-lost"
    | "disk-disturbed"
    | "message-disturbed"
  >,
): void {
  digest.word(9);
  digest.name(fact.kind);
  switch (fact.kind) {
    case "node-started":
      digest.name(fact.node);
      digest.word(fact.incarnation);
      break;
    case "node-stopped":
      digest.name(fact.node);
      digest.name(fact.how);
      digest.text(fact.reason);
      break;
    case "node-paused":
    case "node-resumed":
      digest.name(fact.node);
      break;
    case "fault-begun":
    case "fault-ended":
      digest.word(fact.fault);
      digest.name(fact.verb);
      digest.text(fact.text);
      digest.text(fact.name);
      break;
    case "core-drawn":
      mixNames(digest, fact.core);
      mixNames(digest, fact.frozen);
      break;
    case "unflushed-lost":
      digest.name(fact.node);
      digest.text(fact.path);
      digest.number(fact.bytes);
      break;
    case "disk-disturbed":
      digest.name(fact.node);
      digest.text(fact.path);
      digest.name(fact.partition);
      digest.name(fact.how);
      digest.number(fact.position);
      digest.number(fact.bytes);
      break;
    case "message-disturbed":
      digest.name(fact.how);
      digest.name(fact.from);
      digest.name(fact.to);
      digest.word(fact.apiKey);
      digest.word(+fact.isResponse);
      break;
    default:
      unreachable(fact);
  }
}

function mixCoordinatorFact(
  digest: Digest,
  fact: FactOf<
    | "coordinator-loaded"
    | "coordinator-unloaded"
    | "group-state-changed"
    | "group-migrated"
    | "group-member-joined"
    | "group-member-left"
    | "group-assigned"
    | "group-member-assigned"
    | "offsets-committed"
    | "offsets-removed"
  >,
): void {
  digest.word((fact.broker << 8) | 17);
  digest.name(fact.kind);
  if (fact.kind === "coordinator-loaded" || fact.kind === "coordinator-unloaded") {
    digest.name(fact.partition);
    digest.word(fact.leaderEpoch);
    return;
  }
  digest.name(fact.group);
  switch (fact.kind) {
    case "group-state-changed":
      digest.name(fact.from);
      digest.name(fact.to);
      digest.word(fact.generation);
      digest.text(fact.reason);
      break;
    case "group-migrated":
      digest.name(fact.to);
      digest.word(fact.generation);
      break;
    case "group-member-joined":
      digest.text(fact.member);
      digest.name(fact.instance);
      break;
    case "group-member-left":
      digest.text(fact.member);
      digest.name(fact.instance);
      digest.name(fact.reason);
      break;
    case "group-assigned":
      digest.word(fact.generation);
      digest.word(fact.assignments.length);
      for (const { member, topics, partitions } of fact.assignments) {
        digest.text(member);
        mixNames(digest, topics);
        mixNames(digest, partitions);
      }
      break;
    case "group-member-assigned":
      digest.text(fact.member);
      digest.word(fact.memberEpoch);
      mixNames(digest, fact.partitions);
      mixNames(digest, fact.revoking);
      break;
    case "offsets-committed":
      digest.text(fact.member);
      digest.word(fact.generation);
      digest.word(fact.offsets.length);
      for (const { partition, offset } of fact.offsets) {
        digest.name(partition);
        digest.number(offset);
      }
      digest.number(fact.producerId);
      break;
    case "offsets-removed":
      mixNames(digest, fact.partitions);
      break;
    default:
      unreachable(fact);
  }
}

function mixZookeeperFact(
  digest: Digest,
  fact: FactOf<"zookeeper-session-ended" | "zookeeper-rebalance-ended">,
): void {
  digest.word(23);
  digest.name(fact.kind);
  if (fact.kind === "zookeeper-session-ended") {
    digest.number(fact.session);
    digest.name(fact.how);
    digest.word(fact.znodes.length);
    for (const path of fact.znodes) digest.text(path);
    return;
  }
  digest.name(fact.client);
  digest.name(fact.group);
  digest.text(fact.member);
  digest.word(fact.attempt);
  digest.name(fact.outcome);
  mixNames(digest, fact.partitions);
}

function mixMemberFact(
  digest: Digest,
  fact: FactOf<
    | "records-processed"
    | "record-derived"
    | "row-stored"
    | "partitions-assigned"
    | "partitions-revoked"
    | "partitions-lost"
    | "commit-ended"
  >,
): void {
  digest.word(19);
  digest.name(fact.kind);
  digest.name(fact.client);
  digest.name(fact.group);
  switch (fact.kind) {
    case "records-processed":
      digest.name(fact.partition);
      digest.number(fact.firstOffset);
      digest.number(fact.lastOffset);
      break;
    case "record-derived":
      digest.name(fact.partition);
      digest.number(fact.offset);
      digest.number(fact.value);
      break;
    case "row-stored":
      digest.name(fact.store);
      digest.name(fact.partition);
      digest.number(fact.offset);
      digest.word(fact.isNew ? 1 : 0);
      break;
    case "partitions-assigned":
    case "partitions-revoked":
    case "partitions-lost":
      digest.text(fact.member);
      digest.word(fact.generation);
      mixNames(digest, fact.partitions);
      break;
    case "commit-ended":
      digest.text(fact.member);
      digest.word(fact.generation);
      digest.name(fact.how);
      digest.word(fact.offsets.length);
      for (const { partition, offset } of fact.offsets) {
        digest.name(partition);
        digest.number(offset);
      }
      digest.name(fact.outcome);
      digest.name(fact.error);
      break;
    default:
      unreachable(fact);
  }
}

function mixTransactionFact(
  digest: Digest,
  fact: FactOf<
    | "transaction-state-changed"
    | "transaction-begun"
    | "transaction-ended"
    | "producer-fenced"
    | "producer-id-rotated"
  >,
): void {
  digest.word(18);
  digest.name(fact.kind);
  digest.name(fact.transactionalId);
  switch (fact.kind) {
    case "transaction-state-changed":
      digest.word(fact.broker);
      digest.word(fact.coordinatorEpoch);
      digest.number(fact.producerId);
      digest.word(fact.producerEpoch);
      digest.name(fact.from);
      digest.name(fact.to);
      mixNames(digest, fact.partitions);
      digest.name(fact.reason);
      break;
    case "transaction-ended":
      digest.name(fact.client);
      digest.number(fact.transaction);
      digest.name(fact.outcome);
      digest.name(fact.error);
      break;
    case "transaction-begun":
      digest.name(fact.client);
      digest.number(fact.transaction);
      digest.number(fact.producerId);
      digest.word(fact.producerEpoch);
      break;
    case "producer-id-rotated":
      digest.word(fact.broker);
      digest.number(fact.from);
      digest.number(fact.to);
      break;
    case "producer-fenced":
      digest.name(fact.client);
      digest.number(fact.producerId);
      digest.word(fact.producerEpoch);
      break;
    default:
      unreachable(fact);
  }
}

function mixNames(digest: Digest, names: readonly string[]): void {
  digest.word(names.length);
  for (const name of names) digest.name(name);
}

function mixNumbers(digest: Digest, numbers: readonly number[]): void {
  digest.word(numbers.length);
  for (const number of numbers) digest.number(number);
}
