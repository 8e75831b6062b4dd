import { GROUP_METADATA_TOPIC } from "../../../kafka/coordinator/internal-topics.ts";
import type { ErrorCode } from "../../../kafka/error-code.ts";
import { ERRORS } from "../../../kafka/error-code.ts";
import type { Requester } from "../../../kafka/group/classic-protocol.ts";
import { refusedSync } from "../../../kafka/group/classic-protocol.ts";
import { refusedJoin } from "../../../kafka/group/classic-rebalance.ts";
import { refusedHeartbeat } from "../../../kafka/group/consumer-heartbeats.ts";
import type { GroupsOptions } from "../../../kafka/group/groups.ts";
import type { MetadataRecord } from "../../../kafka/metadata/records.ts";
import {
  CONSUMER_GROUP_HEARTBEAT,
  HEARTBEAT,
  JOIN_GROUP,
  LEAVE_GROUP,
  SYNC_GROUP,
} from "../../../kafka/protocol/apis.ts";
import type { ConsumerGroupHeartbeatRequest } from "../../../kafka/protocol/consumer-group-heartbeat.ts";
import type {
  HeartbeatRequest,
  JoinGroupRequest,
  LeaveGroupRequest,
  SyncGroupRequest,
} from "../../../kafka/protocol/group-membership.ts";
import { CLIENT_ID } from "../../../kafka/protocol/wire-size.ts";
import type { WritableTxnMarker } from "../../../kafka/protocol/write-txn-markers.ts";
import type { IncomingRequest } from "../../rpc/rpc-server.ts";
import type { BrokerContext } from "../broker-context.ts";
import { CoordinatorRuntime } from "../coordinator/coordinator-runtime.ts";
import type { Partition } from "../partition.ts";
import type { MarkerWriter } from "../write-txn-markers-handler.ts";
import { GroupShard } from "./group-shard.ts";
import { refusedLeave } from "./refusals.ts";

/**
 * The group coordinator of one broker: of the groups that are kept in the partitions of `__consumer_offsets`
 * which it leads (Kafka's `GroupCoordinatorService`). What it decides is in kafka/group.
 *
 * Simplified: each step is a batch of its own, at once (`group.coordinator.append.linger.ms`).
 */
export class GroupCoordinator implements MarkerWriter {
  readonly #context: BrokerContext;
  readonly #runtime: CoordinatorRuntime<GroupShard>;

  constructor(context: BrokerContext) {
    const { configs } = context;
    const options: GroupsOptions = {
      initialRebalanceDelayMs: configs["group.initial.rebalance.delay.ms"],
      maxSize: configs["group.max.size"],
      consumer: {
        sessionTimeoutMs: configs["group.consumer.session.timeout.ms"],
        heartbeatIntervalMs: configs["group.consumer.heartbeat.interval.ms"],
        maxSize: configs["group.consumer.max.size"],
        assignmentIntervalMs: configs["group.consumer.assignment.interval.ms"],
        migrationPolicy: configs["group.consumer.migration.policy"],
      },
      image: context.image,
      maxOffsetMetadata: configs["offset.metadata.max.bytes"],
      offsetsRetentionMs: configs["offsets.retention.minutes"] * 60_000,
    };
    this.#context = context;
    this.#runtime = new CoordinatorRuntime(context, {
      topic: GROUP_METADATA_TOPIC,
      loadBufferSize: configs["offsets.load.buffer.size"],
      requiredAcks: 1,
      timeoutMs: configs["offsets.commit.timeout.ms"],
      open: (log) => new GroupShard(context, log, options),
    });
  }

  publish(records: readonly MetadataRecord[]): void {
    this.#runtime.publish(records);
  }

  publishAll(): void {
    this.#runtime.publishAll();
  }

  /** A transaction ends that has written offsets into a partition of `__consumer_offsets`. */
  completeTransaction(
    { index }: Partition,
    marker: WritableTxnMarker,
    done: (error: ErrorCode) => void,
  ): void {
    const shard = this.#runtime.shardOf(index);
    if (shard instanceof GroupShard) shard.completeTransaction(marker, done);
    else done(shard);
  }

  /** What knows of the group here, or why that cannot be told. A group's id must not be empty. */
  shardFor(groupId: string): GroupShard | ErrorCode {
    return groupId === "" ? ERRORS.INVALID_GROUP_ID : this.#runtime.shardFor(groupId);
  }

  join(request: IncomingRequest, body: JoinGroupRequest): void {
    const refuse = (error: ErrorCode): void =>
      request.reply(JOIN_GROUP, refusedJoin(body.memberId, error));
    const { configs, world } = this.#context;
    const { sessionTimeoutMs: session } = body;
    const least = configs["group.min.session.timeout.ms"];
    if (body.groupId === "") {
      refuse(ERRORS.INVALID_GROUP_ID);
      return;
    }
    if (session < least || session > configs["group.max.session.timeout.ms"]) {
      refuse(ERRORS.INVALID_SESSION_TIMEOUT);
      return;
    }
    const shard = this.shardFor(body.groupId);
    if (!(shard instanceof GroupShard)) {
      refuse(shard);
      return;
    }
    const effects = shard.begin();
    shard.groups.join(body, requester(shard, request), world.random, effects);
    shard.perform(effects);
  }

  sync(request: IncomingRequest, body: SyncGroupRequest): void {
    const shard = this.shardFor(body.groupId);
    if (!(shard instanceof GroupShard)) {
      request.reply(SYNC_GROUP, refusedSync(shard));
      return;
    }
    const effects = shard.begin();
    shard.groups.sync(body, requester(shard, request), effects);
    shard.perform(effects);
  }

  heartbeat(request: IncomingRequest, body: HeartbeatRequest): void {
    const reply = ({ code }: ErrorCode): void =>
      request.reply(HEARTBEAT, { throttleTimeMs: 0, errorCode: code });
    const shard = this.shardFor(body.groupId);
    if (!(shard instanceof GroupShard)) {
      // While it loads, nobody is told that he is out.
      reply(shard === ERRORS.COORDINATOR_LOAD_IN_PROGRESS ? ERRORS.NONE : shard);
      return;
    }
    const effects = shard.begin();
    const outcome = shard.groups.heartbeat(body, effects);
    if (outcome !== ERRORS.NONE && outcome !== ERRORS.REBALANCE_IN_PROGRESS) {
      reply(outcome);
      return;
    }
    // Also an answer that writes nothing tells of a state that must be committed first.
    shard.perform(effects, (error) => reply(error === ERRORS.NONE ? outcome : error));
  }

  consumerHeartbeat(request: IncomingRequest, body: ConsumerGroupHeartbeatRequest): void {
    const refuse = (error: ErrorCode): void =>
      request.reply(CONSUMER_GROUP_HEARTBEAT, refusedHeartbeat(error));
    const shard = this.shardFor(body.groupId);
    if (!(shard instanceof GroupShard)) {
      refuse(shard === ERRORS.INVALID_GROUP_ID ? ERRORS.INVALID_REQUEST : shard);
      return;
    }
    const effects = shard.begin();
    const from = { request: -1, clientId: CLIENT_ID, clientHost: `/${request.from}` };
    const outcome = shard.groups.consumerHeartbeat(body, from, effects);
    if (!("memberEpoch" in outcome)) {
      // An upgrade that comes to nothing has told others something.
      shard.perform(effects);
      refuse(outcome);
      return;
    }
    shard.perform(effects, (error) => {
      if (error === ERRORS.NONE) request.reply(CONSUMER_GROUP_HEARTBEAT, outcome);
      else refuse(error);
    });
  }

  leave(request: IncomingRequest, body: LeaveGroupRequest): void {
    const shard = this.shardFor(body.groupId);
    if (!(shard instanceof GroupShard)) {
      request.reply(LEAVE_GROUP, refusedLeave(body, shard));
      return;
    }
    const effects = shard.begin();
    const outcome = shard.groups.leave(body, effects);
    shard.perform(effects, (error) =>
      request.reply(LEAVE_GROUP, error === ERRORS.NONE ? outcome : refusedLeave(body, error)),
    );
  }
}

/** Simplified: a client's host is the address of its node. */
function requester(shard: GroupShard, request: IncomingRequest): Requester {
  return {
    request: shard.park(request),
    clientId: CLIENT_ID,
    clientHost: `/${request.from}`,
  };
}
