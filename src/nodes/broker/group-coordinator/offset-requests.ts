import type { ErrorCode } from "../../../kafka/error-code.ts";
import { ERRORS } from "../../../kafka/error-code.ts";
import type { CommittedTopic, Committer } from "../../../kafka/group/groups.ts";
import { partitionName } from "../../../kafka/ids.ts";
import type { TransactionVerification } from "../../../kafka/log/transaction-verification.ts";
import type { TopicImage } from "../../../kafka/metadata/image.ts";
import { OFFSET_COMMIT, OFFSET_FETCH, TXN_OFFSET_COMMIT } from "../../../kafka/protocol/apis.ts";
import type {
  OffsetCommitPartition,
  OffsetCommitPartitionResponse,
  OffsetCommitRequest,
  OffsetFetchGroup,
  OffsetFetchGroupResponse,
  OffsetFetchPartitionResponse,
  OffsetFetchRequest,
  OffsetFetchTopic,
  OffsetFetchTopicResponse,
  TxnOffsetCommitRequest,
} from "../../../kafka/protocol/group-offsets.ts";
import type { CommittedOffset } from "../../../trace/fact.ts";
import type { IncomingRequest } from "../../rpc/rpc-server.ts";
import type { BrokerContext } from "../broker-context.ts";
import type { TransactionVerifier } from "../transaction-verifier.ts";
import type { GroupCoordinator } from "./group-coordinator.ts";
import { GroupShard } from "./group-shard.ts";
import { refusedCommit, refusedFetch, refusedTxnCommit } from "./refusals.ts";

/** One topic of a commit: what is wrong with each of its partitions, as far as metadata tell. */
interface Examined {
  readonly image: TopicImage | undefined;
  readonly partitions: readonly OffsetCommitPartition[];
  readonly unknown: ErrorCode;
}

/** Commits and fetches of offsets (`KafkaApis.handleOffsetCommitRequest` and its like). */
export class OffsetRequests {
  readonly #context: BrokerContext;
  readonly #coordinator: GroupCoordinator;
  readonly #verifier: TransactionVerifier;

  constructor(
    context: BrokerContext,
    coordinator: GroupCoordinator,
    verifier: TransactionVerifier,
  ) {
    this.#context = context;
    this.#coordinator = coordinator;
    this.#verifier = verifier;
  }

  commit(request: IncomingRequest, body: OffsetCommitRequest): void {
    const refuse = (error: ErrorCode): void =>
      request.reply(OFFSET_COMMIT, refusedCommit(body, error));
    const topics = body.topics.map(({ topicId, partitions }): Examined => {
      const image = this.#context.image.topicById(topicId);
      return { image, partitions, unknown: ERRORS.UNKNOWN_TOPIC_ID };
    });
    const known = committable(topics);
    const reply = (tooLarge: TooLarge, outcome: ErrorCode): void => {
      const responses = topics.map((topic, i) => ({
        topicId: body.topics[i]?.topicId ?? "",
        partitions: answers(topic, tooLarge, outcome),
      }));
      request.reply(OFFSET_COMMIT, { throttleTimeMs: 0, topics: responses });
    };
    if (known.length === 0) {
      reply(never, ERRORS.NONE);
      return;
    }
    const shard = this.#coordinator.shardFor(body.groupId);
    if (!(shard instanceof GroupShard)) {
      refuse(shard);
      return;
    }
    const from: Committer = { ...body, generation: body.generationIdOrMemberEpoch };
    const effects = shard.begin();
    const error = shard.groups.commitOffsets(from, known, effects);
    if (error !== ERRORS.NONE) {
      refuse(error);
      return;
    }
    shard.perform(effects, (outcome) => {
      if (outcome === ERRORS.NONE) noteCommitted(shard, from, known);
      reply((partition) => shard.groups.isTooLarge(partition), outcome);
    });
  }

  /** With the transaction's coordinator asked first whether there is such a transaction (KIP-890). */
  commitInTransaction(request: IncomingRequest, body: TxnOffsetCommitRequest): void {
    const refuse = (error: ErrorCode): void =>
      request.reply(TXN_OFFSET_COMMIT, refusedTxnCommit(body, error));
    const shard = this.#coordinator.shardFor(body.groupId);
    if (!(shard instanceof GroupShard)) {
      refuse(shard);
      return;
    }
    const writes = [{ partition: shard.log.partition, sequence: NO_SEQUENCE }];
    this.#verifier.verify(body, writes, true, ([verified]) => {
      const error = verified?.error ?? ERRORS.NONE;
      // Meanwhile the group may have moved.
      const current = this.#coordinator.shardFor(body.groupId);
      if (error !== ERRORS.NONE) refuse(error);
      else if (current !== shard) refuse(ERRORS.NOT_COORDINATOR);
      else this.#commitVerified(request, body, shard, verified?.verification);
    });
  }

  #commitVerified(
    request: IncomingRequest,
    body: TxnOffsetCommitRequest,
    shard: GroupShard,
    verification: TransactionVerification | undefined,
  ): void {
    const topics = body.topics.map(({ name, partitions }): Examined => {
      const image = this.#context.image.topicByName(name);
      return { image, partitions, unknown: ERRORS.UNKNOWN_TOPIC_OR_PARTITION };
    });
    const from: Committer = { ...body, generation: body.generationId };
    const effects = shard.begin();
    const error = shard.groups.commitTransactionalOffsets(from, committable(topics), effects);
    if (error !== ERRORS.NONE) {
      request.reply(TXN_OFFSET_COMMIT, refusedTxnCommit(body, error));
      return;
    }
    const { producerId, producerEpoch } = body;
    const done = (outcome: ErrorCode): void => {
      const responses = topics.map((topic, i) => ({
        name: body.topics[i]?.name ?? "",
        partitions: answers(topic, (each) => shard.groups.isTooLarge(each), outcome),
      }));
      request.reply(TXN_OFFSET_COMMIT, { throttleTimeMs: 0, topics: responses });
    };
    shard.perform(effects, done, { producerId, producerEpoch, verification });
  }

  /** Each group may have another coordinator; the answers of those here are sent together. */
  fetch(request: IncomingRequest, { groups, requireStable }: OffsetFetchRequest): void {
    const answered: (OffsetFetchGroupResponse | undefined)[] = groups.map(() => undefined);
    let left = groups.length;
    const settle = (at: number, response: OffsetFetchGroupResponse): void => {
      answered[at] = response;
      if (--left > 0) return;
      const all = answered.filter((one) => one !== undefined);
      request.reply(OFFSET_FETCH, { throttleTimeMs: 0, groups: all });
    };
    for (const [at, group] of groups.entries()) {
      const shard = this.#coordinator.shardFor(group.groupId);
      if (!(shard instanceof GroupShard)) {
        settle(at, refusedFetch(group, shard));
        continue;
      }
      const found = this.#find(shard, group, requireStable);
      // Simplified: also without requireStable only once all is committed; Kafka tells of the state before.
      shard.perform(shard.begin(), (error) =>
        settle(at, error === ERRORS.NONE ? found : refusedFetch(group, error)),
      );
    }
  }

  #find(
    shard: GroupShard,
    { groupId, memberId, memberEpoch, topics }: OffsetFetchGroup,
    requireStable: boolean,
  ): OffsetFetchGroupResponse {
    const { groups } = shard;
    const error = groups.checkOffsetFetch(groupId, memberId, memberEpoch);
    if (error !== ERRORS.NONE)
      return refusedFetch({ groupId, memberId, memberEpoch, topics }, error);
    const asked = topics ?? this.#allOf(shard, groupId);
    const found = asked.map(({ topicId, partitionIndexes }): OffsetFetchTopicResponse => {
      const topic = this.#context.image.topicById(topicId)?.name;
      const partitions = partitionIndexes.map((index): OffsetFetchPartitionResponse => {
        if (topic === undefined) return noOffset(index, ERRORS.UNKNOWN_TOPIC_ID);
        if (requireStable && groups.offsets.isPending(groupId, topic, index)) {
          return noOffset(index, ERRORS.UNSTABLE_OFFSET_COMMIT);
        }
        const stored = groups.offsets.get(groupId, topic, index);
        if (stored === undefined) return noOffset(index, ERRORS.NONE);
        return {
          partitionIndex: index,
          committedOffset: stored.offset,
          committedLeaderEpoch: stored.leaderEpoch,
          metadata: stored.metadata,
          errorCode: 0,
        };
      });
      return { topicId, partitions };
    });
    return { groupId, topics: found, errorCode: 0 };
  }

  #allOf(shard: GroupShard, groupId: string): readonly OffsetFetchTopic[] {
    const indexes = new Map<string, number[]>();
    for (const { topic, partition } of shard.groups.offsets.all(groupId)) {
      const topicId = this.#context.image.topicByName(topic)?.topicId;
      if (topicId === undefined) continue;
      const known = indexes.get(topicId);
      if (known === undefined) indexes.set(topicId, [partition]);
      else known.push(partition);
    }
    return [...indexes].map(([topicId, partitionIndexes]) => ({ topicId, partitionIndexes }));
  }
}

const NO_SEQUENCE = -1;

/** What there is of a commit's partitions. */
function committable(topics: readonly Examined[]): CommittedTopic[] {
  const known: CommittedTopic[] = [];
  for (const { image, partitions } of topics) {
    if (image === undefined) continue;
    const { name: topic, topicId } = image;
    const there = partitions.filter(({ partitionIndex: index }) => image.partitions[index]);
    if (there.length > 0) known.push({ topic, topicId, partitions: there });
  }
  return known;
}

type TooLarge = (partition: OffsetCommitPartition) => boolean;
const never: TooLarge = () => false;

function answers(
  { image, partitions, unknown }: Examined,
  tooLarge: TooLarge,
  outcome: ErrorCode,
): OffsetCommitPartitionResponse[] {
  return partitions.map((partition) => {
    const { partitionIndex } = partition;
    let error = outcome;
    if (image === undefined) error = unknown;
    else if (image.partitions[partitionIndex] === undefined) {
      error = ERRORS.UNKNOWN_TOPIC_OR_PARTITION;
    } else if (tooLarge(partition)) error = ERRORS.OFFSET_METADATA_TOO_LARGE;
    return { partitionIndex, errorCode: error.code };
  });
}

function noOffset(partitionIndex: number, { code }: ErrorCode): OffsetFetchPartitionResponse {
  return {
    partitionIndex,
    committedOffset: -1,
    committedLeaderEpoch: -1,
    metadata: "",
    errorCode: code,
  };
}

function noteCommitted(
  shard: GroupShard,
  { groupId: group, memberId: member, generation }: Committer,
  topics: readonly CommittedTopic[],
): void {
  const offsets: CommittedOffset[] = [];
  for (const { topic, partitions } of topics) {
    for (const partition of partitions) {
      if (shard.groups.isTooLarge(partition)) continue;
      const { partitionIndex: index, committedOffset: offset } = partition;
      offsets.push({ partition: partitionName(topic, index), offset });
    }
  }
  shard.noteCommitted({ group, member, generation }, offsets);
}
