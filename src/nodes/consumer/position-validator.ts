import type { Instant } from "../../base/time.ts";
import { ERRORS, errorOf } from "../../kafka/error-code.ts";
import type { LeaderEpoch, Offset } from "../../kafka/ids.ts";
import { OFFSET_FOR_LEADER_EPOCH } from "../../kafka/protocol/apis.ts";
import type {
  OffsetForLeaderEpochRequest,
  OffsetForLeaderEpochResponse,
  OffsetForLeaderPartitionResult,
} from "../../kafka/protocol/offset-for-leader-epoch.ts";
import type { NodeAddress } from "../../ports/network.ts";
import type { BrokerConnections } from "../client-metadata/broker-connections.ts";
import type { ResponseHandler } from "../rpc/rpc-client.ts";
import { byTopic, failOffsetRequest, groupByLeader } from "./asked-partition.ts";
import type { AssignedPartition } from "./assigned-partition.ts";
import type { ConsumerParts } from "./consumer-parts.ts";
import { inState, resetPosition } from "./offset-finder.ts";

/** What was asked about one partition: an answer is of use only while this still holds. */
interface Question {
  readonly partition: AssignedPartition;
  readonly offset: Offset;
  readonly leaderEpoch: LeaderEpoch;
}

/** Asks new leaders whether they have what the consumer has read (KIP-320). */
export class PositionValidator
  implements ResponseHandler<OffsetForLeaderEpochResponse, readonly Question[]>
{
  readonly #parts: ConsumerParts;
  readonly #connections: BrokerConnections;

  constructor(parts: ConsumerParts, connections: BrokerConnections) {
    this.#parts = parts;
    this.#connections = connections;
  }

  /** Asks for the partitions that await their validation. */
  run(now: Instant): void {
    const wanted = inState(this.#parts, "await-validation");
    const groups = groupByLeader(this.#parts, wanted, this.#connections, now);
    for (const [address, partitions] of groups) this.#ask(address, partitions, now);
  }

  onResponse(response: OffsetForLeaderEpochResponse, questions: readonly Question[]): void {
    const now = this.#parts.world.clock.now();
    for (const topic of response.topics) {
      for (const answer of topic.partitions) {
        const question = questions.find(
          ({ partition: asked }) =>
            asked.partition === answer.partition && asked.topic.name === topic.topic,
        );
        if (question !== undefined) this.#take(question, answer, now);
      }
    }
  }

  onDisconnect(questions: readonly Question[], from: NodeAddress): void {
    const asked = questions.map((question) => question.partition);
    const waiting = asked.filter(({ position }) => position.state !== "fetching");
    const { name } = OFFSET_FOR_LEADER_EPOCH;
    failOffsetRequest(this.#parts, name, waiting, this.#connections, from);
  }

  #ask(address: NodeAddress, partitions: readonly AssignedPartition[], now: Instant): void {
    const { rpc, settings } = this.#parts;
    const questions: Question[] = [];
    for (const partition of partitions) {
      partition.retryAt = now + settings.requestTimeout;
      const { offset, leaderEpoch } = partition.position;
      questions.push({ partition, offset, leaderEpoch });
    }
    const body: OffsetForLeaderEpochRequest = {
      replicaId: -1,
      topics: byTopic(partitions).map(([topic, ofTopic]) => ({
        topic,
        partitions: ofTopic.map(({ partition, position }) => ({
          partition,
          currentLeaderEpoch: position.leaderEpoch,
          leaderEpoch: position.offsetEpoch,
        })),
      })),
    };
    const { purpose } = this.#connections;
    const { requestTimeout } = settings;
    rpc.send(address, purpose, OFFSET_FOR_LEADER_EPOCH, body, requestTimeout, this, questions);
  }

  #take(question: Question, answer: OffsetForLeaderPartitionResult, now: Instant): void {
    const { metadata, settings } = this.#parts;
    const { partition, offset, leaderEpoch } = question;
    const { position } = partition;
    const error = errorOf(answer.errorCode);
    if (error !== ERRORS.NONE) {
      const { name } = OFFSET_FOR_LEADER_EPOCH;
      this.#parts.noteFailure(name, position.leaderId, partition.name, error, true);
      if (position.state === "await-validation") this.#parts.backOff(partition, now);
      metadata.requestUpdate();
      return;
    }
    const { leaderEpoch: foundEpoch, endOffset } = answer;
    const result = position.completeValidation(offset, leaderEpoch, foundEpoch, endOffset);
    if (result.kind === "stale") return;
    this.#parts.isChanged = true;
    partition.failures = 0;
    partition.retryAt = 0;
    if (result.kind === "valid") return;
    if (settings.resetPolicy === "none") {
      this.#parts.die(`the log of ${partition.name} was cut below the position, ${offset}`);
    } else if (result.offset < 0) {
      partition.awaitReset(settings.resetPolicy, "truncation");
    } else {
      partition.resetReason = "truncation";
      resetPosition(this.#parts, partition, result.offset, result.epoch);
    }
  }
}
