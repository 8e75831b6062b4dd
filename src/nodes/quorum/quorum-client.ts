import { fail } from "../../base/invariant.ts";
import type { BrokerConfigs } from "../../kafka/config/broker-configs.ts";
import type { BrokerEpoch, BrokerId, Offset, QuorumEpoch } from "../../kafka/ids.ts";
import type { MetadataRecord } from "../../kafka/metadata/records.ts";
import type { NodeAddress } from "../../ports/network.ts";
import type { World } from "../../ports/node.ts";
import type { PartitionLog } from "../../storage/partition-log.ts";
import type { RpcClient } from "../rpc/rpc-client.ts";
import type { IncomingRequest } from "../rpc/rpc-server.ts";

/** What the owner of a `QuorumClient` hears of the metadata log (Kafka's `RaftClient.Listener`). */
export interface QuorumListener {
  /**
   * The next batch is committed: `baseOffset` to `lastOffset`, in order and without gaps, from
   * offset 0 on at each start. `records` is empty for a batch of control records.
   */
  onCommitted(records: readonly MetadataRecord[], baseOffset: Offset, lastOffset: Offset): void;
  /**
   * The leader as this node knows it changed; `leader` is NO_LEADER (-1) if it knows none. A node
   * hears of its own leadership only when all that earlier leaders committed was handed to it.
   */
  onLeader(leader: BrokerId, epoch: QuorumEpoch): void;
}

export interface QuorumVoter {
  readonly id: BrokerId;
  readonly address: NodeAddress;
}

export interface QuorumClientOptions {
  readonly world: World;
  readonly rpc: RpcClient;
  /** The replica of `__cluster_metadata`, opened as after an unclean stop. */
  readonly log: PartitionLog;
  /** Where `quorum-state` lives: the directory of the metadata log. */
  readonly directory: string;
  /** A voter if `voters` lists it, else an observer. */
  readonly nodeId: BrokerId;
  readonly clusterId: string;
  readonly voters: readonly QuorumVoter[];
  /** What an observing broker says in its fetches (KIP-903); -1 if absent. */
  readonly brokerEpoch?: () => BrokerEpoch;
  readonly configs: BrokerConfigs;
  /** The kind of this client's timers; the owner's `onTimer` passes them on. */
  readonly timerKind: number;
  readonly listener: QuorumListener;
}

/** One member of the metadata quorum, voter or observer (Kafka's `KafkaRaftClient`). */
export class QuorumClient {
  constructor(_options: QuorumClientOptions) {
    fail("not yet");
  }

  /** The leader as this node knows it; NO_LEADER (-1) if it knows none. */
  get leaderId(): BrokerId {
    return fail("not yet");
  }

  get leaderAddress(): NodeAddress | undefined {
    return fail("not yet");
  }

  get epoch(): QuorumEpoch {
    return fail("not yet");
  }

  get isLeader(): boolean {
    return fail("not yet");
  }

  /** The first offset that is not known to be committed; 0 at start. */
  get highWatermark(): Offset {
    return fail("not yet");
  }

  get logEndOffset(): Offset {
    return fail("not yet");
  }

  /** Begins to take part. Call once, in the owner's `onStart`. */
  start(): void {
    fail("not yet");
  }

  /** Takes a timer of `timerKind`. */
  onTimer(_payload: unknown): void {
    fail("not yet");
  }

  /** Takes a request if it is the quorum's: Vote, Begin- and EndQuorumEpoch, Fetch of the metadata topic. */
  onRequest(_request: IncomingRequest): boolean {
    return fail("not yet");
  }

  /** Active leader only: appends after `controller.quorum.append.linger.ms`; the last record's offset. */
  append(_records: readonly MetadataRecord[]): Offset {
    return fail("not yet");
  }

  /** Gives up leadership and tells the voters who should follow. Nothing if this node does not lead. */
  resign(): void {
    fail("not yet");
  }
}
