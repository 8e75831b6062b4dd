import { fail, invariant } from "../../base/invariant.ts";
import { fromMillis, toMillis } from "../../base/time.ts";
import type { BrokerConfigs } from "../../kafka/config/broker-configs.ts";
import type { ErrorCode } from "../../kafka/error-code.ts";
import { ERRORS, errorOf } from "../../kafka/error-code.ts";
import type { BrokerEpoch, BrokerId, Offset, QuorumEpoch } from "../../kafka/ids.ts";
import { NO_LEADER } from "../../kafka/ids.ts";
import type { RecordBatch } from "../../kafka/log/record-batch.ts";
import type { MetadataRecord } from "../../kafka/metadata/records.ts";
import { BEGIN_QUORUM_EPOCH, END_QUORUM_EPOCH, FETCH, VOTE } from "../../kafka/protocol/apis.ts";
import type {
  FetchPartition,
  FetchPartitionResponse,
  FetchRequest,
  FetchResponse,
} from "../../kafka/protocol/fetch.ts";
import type {
  BeginQuorumEpochRequest,
  BeginQuorumEpochResponse,
  EndQuorumEpochRequest,
  EndQuorumEpochResponse,
  VoteRequest,
  VoteResponse,
} from "../../kafka/protocol/quorum.ts";
import { candidateIn, electionOf, roleAtStart } from "../../kafka/quorum/election-state.ts";
import { directoryIdOf, leaderChangeBatch } from "../../kafka/quorum/leader-change.ts";
import { LeaderProgress } from "../../kafka/quorum/leader-progress.ts";
import type { QuorumRules } from "../../kafka/quorum/quorum-rules.ts";
import { KRAFT_RULES } from "../../kafka/quorum/quorum-rules.ts";
import type { Candidate, Leader, Prospective, Role } from "../../kafka/quorum/role.ts";
import { leaderOf, NO_VOTE, voteOf } from "../../kafka/quorum/role.ts";
import { successionDelayMs } from "../../kafka/quorum/succession.ts";
import { VoteTally } from "../../kafka/quorum/vote-tally.ts";
import { DiskError } from "../../ports/disk.ts";
import type { NodeAddress } from "../../ports/network.ts";
import type { World } from "../../ports/node.ts";
import type { PartitionLog } from "../../storage/partition-log.ts";
import type { ResponseHandler, RpcClient } from "../rpc/rpc-client.ts";
import type { IncomingRequest } from "../rpc/rpc-server.ts";
import { BatchAccumulator } from "./batch-accumulator.ts";
import { FatalFault } from "./fatal-fault.ts";
import { ParkedFetch } from "./fetch-purgatory.ts";
import { LeaderFetches } from "./leader-fetches.ts";
import type { CommitListener } from "./metadata-log.ts";
import { MetadataLog } from "./metadata-log.ts";
import type { Asked, Peer } from "./peer-requests.ts";
import { PeerRequests, PeerRetry } from "./peer-requests.ts";
import {
  failedFetchResponse,
  MAX_FETCH_BYTES,
  metadataAnswer,
  metadataFetch,
  metadataPartition,
} from "./quorum-messages.ts";
import { QuorumStateFile } from "./quorum-state-file.ts";
import { ROLE_TIMER, RoleTimers } from "./role-timers.ts";

/** What the owner of a `QuorumClient` hears of the metadata log (Kafka's `RaftClient.Listener`). */
export interface QuorumListener extends CommitListener {
  /**
   * The next batch is committed: `baseOffset` to `lastOffset`, written in `epoch`, in order and
   * without gaps, from offset 0 on at each start. `records` is empty for a batch of control records.
   */
  onCommitted(
    records: readonly MetadataRecord[],
    baseOffset: Offset,
    lastOffset: Offset,
    epoch: QuorumEpoch,
  ): void;
  /**
   * The leader as this node knows it changed; `leader` is NO_LEADER (-1) if it knows none. A node
   * hears of its own leadership only when all that earlier leaders committed was handed to it, and
   * that it is over as soon as it is.
   */
  onLeader(leader: BrokerId, epoch: QuorumEpoch): void;
}

export type QuorumVoter = Peer;

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
  /** Kafka's, unless a test breaks one. */
  readonly rules?: QuorumRules;
}

/** `LeaderState.CHECK_QUORUM_TIMEOUT_FACTOR` is 1.5. */
const CHECK_QUORUM_PER_FETCH_TIMEOUTS = 3 / 2;

/**
 * One member of the metadata quorum, voter or observer (Kafka's `KafkaRaftClient`; KIP-595, KIP-996,
 * KIP-1166). As Kafka's, it handles one event and then looks what its role wants sent (`#poll`).
 *
 * A disk error ends the process: a member that cannot keep its promises must not make any.
 *
 * Simplified: no snapshots, and the voters never change (no KIP-630, no KIP-853).
 */
export class QuorumClient {
  readonly #world: World;
  readonly #nodeId: BrokerId;
  readonly #clusterId: string;
  readonly #voterIds: readonly BrokerId[];
  readonly #isVoter: boolean;
  readonly #brokerEpoch: () => BrokerEpoch;
  readonly #configs: BrokerConfigs;
  readonly #listener: QuorumListener;
  readonly #rules: QuorumRules;
  readonly #log: MetadataLog;
  readonly #stateFile: QuorumStateFile;
  readonly #fetches: LeaderFetches;
  readonly #peers: PeerRequests;
  readonly #timers: RoleTimers;
  readonly #voteAnswers: ResponseHandler<VoteResponse, Asked>;
  readonly #beginAnswers: ResponseHandler<BeginQuorumEpochResponse, Asked>;
  readonly #endAnswers: ResponseHandler<EndQuorumEpochResponse, Asked>;
  readonly #fetchAnswers: ResponseHandler<FetchResponse, Asked>;

  #role: Role = { role: "unattached", epoch: 0, leaderId: NO_LEADER, votedId: NO_VOTE };
  /** Whom an observer asked last, or -1 while it has no fetch under way. */
  #observing: BrokerId = -1;
  #accumulator: BatchAccumulator | undefined;
  #resignRequested = false;
  #inStep = false;
  /** Requests that came within a step. */
  readonly #waiting: IncomingRequest[] = [];
  #announcedLeader: BrokerId = NO_LEADER;
  #announcedEpoch: QuorumEpoch = -1;

  constructor(options: QuorumClientOptions) {
    this.#world = options.world;
    this.#nodeId = options.nodeId;
    this.#clusterId = options.clusterId;
    this.#voterIds = options.voters.map((voter) => voter.id);
    this.#isVoter = this.#voterIds.includes(options.nodeId);
    this.#brokerEpoch = options.brokerEpoch ?? (() => -1);
    this.#configs = options.configs;
    this.#listener = options.listener;
    this.#rules = options.rules ?? KRAFT_RULES;
    this.#log = new MetadataLog(
      options.log,
      options.listener,
      options.world.facts,
      options.nodeId,
      this.#isVoter,
    );
    this.#stateFile = new QuorumStateFile(options.world.disk, options.directory);
    const { world, rpc, timerKind, configs, voters } = options;
    this.#fetches = new LeaderFetches(options.nodeId, this.#log, world.timers, timerKind);
    this.#peers = new PeerRequests(rpc, world.timers, timerKind, configs, voters);
    this.#timers = new RoleTimers(world, timerKind);
    this.#voteAnswers = this.#handler((response, asked) => this.#voteAnswered(response, asked));
    this.#beginAnswers = this.#handler((response, asked) => this.#beginAnswered(response, asked));
    this.#endAnswers = this.#handler((response, asked) => this.#endAnswered(response, asked));
    this.#fetchAnswers = this.#handler((response, asked) => this.#fetchAnswered(response, asked));
  }

  /** The leader as this node knows it; NO_LEADER (-1) if it knows none. */
  get leaderId(): BrokerId {
    return leaderOf(this.#role, this.#nodeId);
  }

  get leaderAddress(): NodeAddress | undefined {
    return this.#peers.addressOf(this.leaderId);
  }

  get epoch(): QuorumEpoch {
    return this.#role.epoch;
  }

  get isLeader(): boolean {
    return this.#role.role === "leader";
  }

  /** For listings and tests. */
  get role(): Role["role"] {
    return this.#role.role;
  }

  /** The first offset that is not known to be committed; 0 at start. */
  get highWatermark(): Offset {
    return this.#log.highWatermark;
  }

  get logEndOffset(): Offset {
    return this.#log.endOffset;
  }

  /** Begins to take part. Call once, in the owner's `onStart`. */
  start(): void {
    this.#begin();
    try {
      const election = this.#stateFile.read();
      const role = roleAtStart(election, this.#log.end, this.#nodeId, this.#voterIds);
      this.#become(role);
      if (role.role === "candidate" && role.tally.isGranted) this.#becomeLeader(role);
      // A voter that is alone need not wait for anyone.
      else if (this.#isVoter && this.#voterIds.length === 1) this.#beginPreVote();
      this.#end();
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Takes a timer of `timerKind`. */
  onTimer(payload: unknown): void {
    this.#begin();
    try {
      if (payload instanceof ParkedFetch) {
        if (this.#role.role === "leader") this.#fetches.expire(payload, this.#role);
      } else if (payload instanceof PeerRetry) this.#peers.backOffIsOver(payload);
      else this.#timerDue(payload);
      this.#end();
    } catch (error) {
      this.#failed(error);
    }
  }

  /**
   * Takes a request if it is the quorum's: Vote, Begin- and EndQuorumEpoch, Fetch of the metadata
   * topic; it then answers it, now or later. False if it is another's to handle.
   */
  onRequest(request: IncomingRequest): boolean {
    if (!this.#isVoter || !isQuorumRequest(request)) return false;
    // An answer that is given within a step can bring the next request of its connection at once.
    if (this.#inStep) this.#waiting.push(request);
    else this.#takeRequest(request);
    return true;
  }

  /**
   * Leader only: gathers the records for `controller.quorum.append.linger.ms` and then appends
   * them, those of one call in one batch. Returns the offset that the last of them will have.
   */
  append(records: readonly MetadataRecord[]): Offset {
    const accumulator = this.#accumulator;
    if (accumulator === undefined) fail(`node ${this.#nodeId} appends but does not lead`);
    const offset = accumulator.append(records, toMillis(this.#world.clock.now()));
    if (!this.#timers.isRunning(ROLE_TIMER.linger)) {
      const linger = fromMillis(this.#configs["controller.quorum.append.linger.ms"]);
      this.#timers.start(ROLE_TIMER.linger, linger);
    }
    return offset;
  }

  /** Gives up leadership and tells the voters who should follow. Nothing if this node does not lead. */
  resign(): void {
    if (this.#role.role !== "leader") return;
    this.#resignRequested = true;
    if (this.#inStep) return;
    this.#begin();
    try {
      this.#end();
    } catch (error) {
      this.#failed(error);
    }
  }

  // Steps.

  #begin(): void {
    invariant(!this.#inStep, () => `a step of quorum member ${this.#nodeId} within another`);
    this.#inStep = true;
  }

  #end(): void {
    this.#poll();
    this.#inStep = false;
    const request = this.#waiting.shift();
    if (request !== undefined) this.#takeRequest(request);
  }

  #takeRequest(request: IncomingRequest): void {
    this.#begin();
    try {
      this.#handleRequest(request);
      this.#end();
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    this.#inStep = false;
    if (!(error instanceof DiskError) && !(error instanceof FatalFault)) throw error;
    this.#world.process.exit(`the metadata log is lost: ${error.message}`);
  }

  #handler<Response>(
    answered: (response: Response, asked: Asked) => void,
  ): ResponseHandler<Response, Asked> {
    return {
      onResponse: (response, asked) => {
        if (!this.#peers.isCurrent(asked)) return;
        this.#begin();
        try {
          answered(response, asked);
          this.#end();
        } catch (error) {
          this.#failed(error);
        }
      },
      onDisconnect: (asked) => {
        if (!this.#peers.isCurrent(asked)) return;
        this.#begin();
        try {
          this.#peers.backOff(asked.peer);
          this.#observing = -1;
          this.#end();
        } catch (error) {
          this.#failed(error);
        }
      },
    };
  }

  #timerDue(timer: unknown): void {
    switch (timer) {
      case ROLE_TIMER.election:
        this.#timers.ended(timer);
        this.#electionTimedOut();
        break;
      case ROLE_TIMER.fetch:
        this.#timers.ended(timer);
        this.#beginPreVote();
        break;
      case ROLE_TIMER.checkQuorum:
        this.#timers.ended(timer);
        this.#resignRequested = true;
        break;
      case ROLE_TIMER.beginEpoch:
        this.#timers.ended(timer);
        this.#tellVoters();
        break;
      case ROLE_TIMER.linger:
        this.#timers.ended(timer);
        this.#drain();
        break;
      default:
        fail("a foreign timer reached a QuorumClient");
    }
  }

  /** Sends what the role wants sent. */
  #poll(): void {
    if (this.#resignRequested) this.#becomeResigned();
    const role = this.#role;
    switch (role.role) {
      case "unattached":
        if (!this.#isVoter) this.#observe(NO_LEADER);
        break;
      case "prospective":
      case "candidate":
        this.#askForVotes(role);
        break;
      case "follower":
        if (!this.#isVoter) this.#observe(role.leaderId);
        else if (!this.#peers.isBusy(role.leaderId)) this.#fetchFrom(role.leaderId);
        break;
      case "resigned":
        this.#sendEndEpoch(role.successors, role.unacknowledged);
        break;
      default:
        break;
    }
  }

  // Roles.

  /** Enters a role. All that belonged to the one before ends. */
  #become(role: Role): void {
    const before = this.#role;
    this.#peers.nextTerm();
    this.#timers.cancelAll();
    this.#observing = -1;
    this.#resignRequested = false;
    this.#accumulator = undefined;
    this.#role = role;
    if (before.role === "leader") this.#fetches.dismissAll(this.leaderId, role.epoch);
    // Neither a pre-vote nor a resignation binds anyone, so neither needs to be remembered.
    if (role.role !== "prospective" && role.role !== "resigned") this.#persist();
    this.#announce();
    this.#startTimers(role, before);
  }

  #persist(): void {
    const election = electionOf(this.#role, this.#nodeId);
    this.#stateFile.write(election, directoryIdOf(election.votedId));
  }

  #startTimers(role: Role, before: Role): void {
    if (!this.#isVoter) return;
    switch (role.role) {
      case "follower":
        this.#restartFetchTimer();
        break;
      case "unattached":
        this.#startElectionTimer(waitsForElection(before));
        break;
      case "prospective":
      case "candidate":
      case "resigned":
        this.#startElectionTimer(false);
        break;
      default:
        break;
    }
  }

  #startElectionTimer(keepsDeadline: boolean): void {
    const timeout = this.#configs["controller.quorum.election.timeout.ms"];
    const wait = timeout + this.#world.random.below(timeout);
    this.#timers.startElection(fromMillis(wait), keepsDeadline);
  }

  #restartFetchTimer(): void {
    const timeout = this.#configs["controller.quorum.fetch.timeout.ms"];
    this.#timers.start(ROLE_TIMER.fetch, fromMillis(timeout));
  }

  #electionTimedOut(): void {
    const role = this.#role;
    switch (role.role) {
      case "unattached":
      case "candidate":
        this.#beginPreVote();
        break;
      case "prospective":
        this.#giveUpPreVote(role);
        break;
      case "resigned":
        this.#becomeUnattached(role.epoch + 1);
        break;
      default:
        fail(`the election timer of a ${role.role}`);
    }
  }

  #becomeUnattached(epoch: QuorumEpoch): void {
    this.#become({ role: "unattached", epoch, leaderId: NO_LEADER, votedId: NO_VOTE });
  }

  #becomeFollower(epoch: QuorumEpoch, leaderId: BrokerId): void {
    // Others remember a term of this member that it has lost with its disk.
    if (leaderId === this.#nodeId) throw new FatalFault(`it is to follow itself in epoch ${epoch}`);
    const before = this.#role;
    const votedId = before.epoch === epoch ? voteOf(before, this.#nodeId) : NO_VOTE;
    this.#become({ role: "follower", epoch, leaderId, votedId, hasFetched: false });
  }

  #beginPreVote(): void {
    const before = this.#role;
    const tally = new VoteTally(this.#voterIds);
    tally.record(this.#nodeId, true);
    const known = leaderOf(before, this.#nodeId);
    // One that resigned must not come back as its own follower.
    const leaderId = known === this.#nodeId ? NO_LEADER : known;
    const votedId = voteOf(before, this.#nodeId);
    this.#become({ role: "prospective", epoch: before.epoch, leaderId, votedId, tally });
    if (tally.isGranted) this.#becomeCandidate();
  }

  #giveUpPreVote(role: Prospective): void {
    const { epoch, leaderId, votedId } = role;
    if (leaderId === NO_LEADER) this.#become({ role: "unattached", epoch, leaderId, votedId });
    else this.#become({ role: "follower", epoch, leaderId, votedId, hasFetched: false });
  }

  #becomeCandidate(): void {
    const role = candidateIn(this.#role.epoch + 1, this.#nodeId, this.#voterIds);
    this.#become(role);
    if (role.tally.isGranted) this.#becomeLeader(role);
  }

  #becomeLeader(candidate: Candidate): void {
    const { epoch } = candidate;
    const epochStart = this.#log.endOffset;
    const progress = new LeaderProgress(this.#nodeId, this.#voterIds, epochStart, this.#rules);
    this.#become({ role: "leader", epoch, epochStart, progress });
    const change = {
      leaderId: this.#nodeId,
      voters: this.#voterIds,
      grantingVoters: candidate.tally.granting,
    };
    const timestamp = toMillis(this.#world.clock.now());
    this.#accumulator = new BatchAccumulator(epoch, epochStart + 1);
    this.#appendAndFlush([leaderChangeBatch(change, epochStart, epoch, timestamp)]);
    this.#tellVoters();
    this.#restartCheckQuorum();
  }

  #becomeResigned(): void {
    const role = this.#role;
    if (role.role !== "leader") return;
    const unacknowledged = new Set(this.#voterIds.filter((id) => id !== this.#nodeId));
    const { successors } = role.progress;
    this.#become({ role: "resigned", epoch: role.epoch, successors, unacknowledged });
  }

  /** Takes over what a peer says of epoch and leader, if it is news (`maybeTransition`). */
  #hear(leaderId: BrokerId, epoch: QuorumEpoch): void {
    const known = leaderOf(this.#role, this.#nodeId);
    if (epoch > this.#role.epoch) {
      if (leaderId === NO_LEADER) this.#becomeUnattached(epoch);
      else this.#becomeFollower(epoch, leaderId);
      return;
    }
    if (epoch < this.#role.epoch || leaderId === NO_LEADER) return;
    if (known !== NO_LEADER && known !== leaderId) {
      throw new FatalFault(`epoch ${epoch} is led by ${known} and by ${leaderId}`);
    }
    if (known === NO_LEADER) this.#becomeFollower(epoch, leaderId);
  }

  /** Tells the listener who leads, if that is news (`maybeFireLeaderChange`). */
  #announce(): void {
    const role = this.#role;
    let leader = leaderOf(role, this.#nodeId);
    if (role.role === "resigned") leader = NO_LEADER;
    // Not before the listener has all that earlier leaders committed.
    else if (role.role === "leader" && this.#log.delivered <= role.epochStart) return;
    if (leader === this.#announcedLeader && role.epoch === this.#announcedEpoch) return;
    this.#announcedLeader = leader;
    this.#announcedEpoch = role.epoch;
    this.#listener.onLeader(leader, role.epoch);
  }

  // Votes.

  #askForVotes(role: Prospective | Candidate): void {
    if (role.tally.isRejected) return;
    const preVote = role.role === "prospective";
    const { epoch, offset } = this.#log.end;
    for (const voter of role.tally.unanswered) {
      if (this.#peers.isBusy(voter)) continue;
      const request: VoteRequest = {
        clusterId: this.#clusterId,
        voterId: voter,
        replicaEpoch: role.epoch,
        replicaId: this.#nodeId,
        replicaDirectoryId: directoryIdOf(this.#nodeId),
        voterDirectoryId: directoryIdOf(voter),
        lastOffsetEpoch: epoch,
        lastOffset: offset,
        preVote,
      };
      this.#peers.ask(voter, VOTE, request, this.#voteAnswers);
    }
  }

  #handleVote(request: VoteRequest): VoteResponse {
    if (request.clusterId !== this.#clusterId) {
      return this.#voteResponse(ERRORS.INCONSISTENT_CLUSTER_ID, false);
    }
    const { replicaEpoch, lastOffset, lastOffsetEpoch, preVote } = request;
    const tooNew = preVote ? lastOffsetEpoch > replicaEpoch : lastOffsetEpoch >= replicaEpoch;
    if (lastOffset < 0 || lastOffsetEpoch < 0 || tooNew) {
      return this.#voteResponse(ERRORS.INVALID_REQUEST, false);
    }
    if (replicaEpoch < this.#role.epoch) {
      return this.#voteResponse(ERRORS.FENCED_LEADER_EPOCH, false);
    }
    if (replicaEpoch > this.#role.epoch) this.#becomeUnattached(replicaEpoch);
    if (!this.#isMe(request.voterId, request.voterDirectoryId)) {
      return this.#voteResponse(ERRORS.INVALID_VOTER_KEY, false);
    }
    const role = this.#role;
    const candidateEnd = { epoch: lastOffsetEpoch, offset: lastOffset };
    const granted = this.#rules.mayGrantVote(role, this.#log.end, {
      candidateId: request.replicaId,
      preVote,
      candidateEnd,
    });
    if (granted && !preVote) this.#vote(request.replicaId);
    return this.#voteResponse(ERRORS.NONE, granted);
  }

  /** Remembers a vote, durably, before it is told. What else the member does goes on. */
  #vote(candidateId: BrokerId): void {
    const role = this.#role;
    if (role.role !== "unattached" && role.role !== "prospective") return;
    this.#role = { ...role, votedId: candidateId };
    this.#persist();
  }

  #voteResponse(error: ErrorCode, voteGranted: boolean): VoteResponse {
    return {
      errorCode: error.code,
      leaderId: this.leaderId,
      leaderEpoch: this.#role.epoch,
      voteGranted,
    };
  }

  #voteAnswered(response: VoteResponse, asked: Asked): void {
    const error = errorOf(response.errorCode);
    if (this.#heardEnough(error, response.leaderId, response.leaderEpoch, asked)) return;
    const role = this.#role;
    if (role.role !== "prospective" && role.role !== "candidate") return;
    this.#peers.answered(asked.peer);
    role.tally.record(asked.peer, response.voteGranted);
    if (role.role === "candidate") {
      // One that lost waits for the end of its election timeout (KAFKA-18345).
      if (role.tally.isGranted) this.#becomeLeader(role);
    } else if (role.tally.isGranted) this.#becomeCandidate();
    else if (role.tally.isRejected) this.#giveUpPreVote(role);
  }

  /**
   * What answers of all kinds can say (`maybeHandleCommonResponse`); true if this one says no more.
   */
  #heardEnough(error: ErrorCode, leaderId: BrokerId, epoch: QuorumEpoch, asked: Asked): boolean {
    if (epoch < this.#role.epoch || error === ERRORS.UNKNOWN_LEADER_EPOCH) {
      this.#peers.backOff(asked.peer);
      return true;
    }
    const isStale = error === ERRORS.FENCED_LEADER_EPOCH || error === ERRORS.NOT_LEADER_OR_FOLLOWER;
    if (epoch > this.#role.epoch || isStale) {
      this.#hear(leaderId, epoch);
      if (this.#peers.isCurrent(asked)) this.#peers.backOff(asked.peer);
      return true;
    }
    if (leaderId !== NO_LEADER && this.leaderId === NO_LEADER) {
      this.#becomeFollower(epoch, leaderId);
      return error !== ERRORS.NONE;
    }
    if (error === ERRORS.NONE) return false;
    // A candidate that lost and has followed since is a candidate in the same epoch again if it starts anew
    // (`QuorumState.initialize` looks for the vote first), with records of that epoch: then no voter finds its request
    // valid. Kafka's process dies of the answer (`maybeHandleCommonResponse`); here it is a vote that is not given.
    invariant(
      error !== ERRORS.INVALID_REQUEST || this.#role.role === "candidate",
      () => `${asked.peer} finds a request of ${this.#nodeId} invalid`,
    );
    this.#peers.backOff(asked.peer);
    return true;
  }

  // The beginning and the end of an epoch.

  /** BeginQuorumEpoch to the voters that do not show that they follow; again in half a fetch timeout. */
  #tellVoters(): void {
    const role = this.#role;
    if (role.role !== "leader" || this.#voterIds.length === 1) return;
    for (const voter of role.progress.takeSilent()) {
      if (this.#peers.isBusy(voter)) continue;
      const request: BeginQuorumEpochRequest = {
        clusterId: this.#clusterId,
        voterId: voter,
        voterDirectoryId: directoryIdOf(voter),
        leaderId: this.#nodeId,
        leaderEpoch: role.epoch,
      };
      this.#peers.ask(voter, BEGIN_QUORUM_EPOCH, request, this.#beginAnswers);
    }
    const timeout = fromMillis(this.#configs["controller.quorum.fetch.timeout.ms"]);
    this.#timers.start(ROLE_TIMER.beginEpoch, Math.floor(timeout / 2));
  }

  #handleBegin(request: BeginQuorumEpochRequest): BeginQuorumEpochResponse {
    if (request.clusterId !== this.#clusterId) {
      return this.#epochResponse(ERRORS.INCONSISTENT_CLUSTER_ID);
    }
    if (request.leaderEpoch < this.#role.epoch) {
      return this.#epochResponse(ERRORS.FENCED_LEADER_EPOCH);
    }
    this.#hear(request.leaderId, request.leaderEpoch);
    if (!this.#isMe(request.voterId, request.voterDirectoryId)) {
      return this.#epochResponse(ERRORS.INVALID_VOTER_KEY);
    }
    return this.#epochResponse(ERRORS.NONE);
  }

  #beginAnswered(response: BeginQuorumEpochResponse, asked: Asked): void {
    const error = errorOf(response.errorCode);
    if (this.#heardEnough(error, response.leaderId, response.leaderEpoch, asked)) return;
    this.#peers.answered(asked.peer);
  }

  #sendEndEpoch(successors: readonly BrokerId[], unacknowledged: ReadonlySet<BrokerId>): void {
    for (const voter of unacknowledged) {
      if (this.#peers.isBusy(voter)) continue;
      const request: EndQuorumEpochRequest = {
        clusterId: this.#clusterId,
        leaderId: this.#nodeId,
        leaderEpoch: this.#role.epoch,
        preferredCandidates: successors,
      };
      this.#peers.ask(voter, END_QUORUM_EPOCH, request, this.#endAnswers);
    }
  }

  #handleEnd(request: EndQuorumEpochRequest): EndQuorumEpochResponse {
    if (request.clusterId !== this.#clusterId) {
      return this.#epochResponse(ERRORS.INCONSISTENT_CLUSTER_ID);
    }
    if (request.leaderEpoch < this.#role.epoch) {
      return this.#epochResponse(ERRORS.FENCED_LEADER_EPOCH);
    }
    this.#hear(request.leaderId, request.leaderEpoch);
    const role = this.#role;
    if (role.role === "follower" && role.leaderId === request.leaderId) {
      const longest = this.#configs["controller.quorum.election.backoff.max.ms"];
      const delay = successionDelayMs(this.#nodeId, request.preferredCandidates, longest);
      this.#timers.start(ROLE_TIMER.fetch, fromMillis(delay));
    }
    return this.#epochResponse(ERRORS.NONE);
  }

  #endAnswered(response: EndQuorumEpochResponse, asked: Asked): void {
    const error = errorOf(response.errorCode);
    if (this.#heardEnough(error, response.leaderId, response.leaderEpoch, asked)) return;
    this.#peers.answered(asked.peer);
    if (this.#role.role === "resigned") this.#role.unacknowledged.delete(asked.peer);
  }

  #epochResponse(error: ErrorCode): BeginQuorumEpochResponse & EndQuorumEpochResponse {
    return { errorCode: error.code, leaderId: this.leaderId, leaderEpoch: this.#role.epoch };
  }

  // The leader's side of replication.

  #drain(): void {
    const accumulator = this.#accumulator;
    if (accumulator === undefined || accumulator.isEmpty) return;
    this.#appendAndFlush(accumulator.drain());
  }

  #appendAndFlush(batches: readonly RecordBatch[]): void {
    const role = this.#role;
    if (role.role !== "leader") return;
    this.#log.appendAsLeader(batches, role.epoch);
    // Followers may have it before it is on this disk; only this node's own word waits for that.
    this.#fetches.answerReady(role);
    this.#log.flush();
    if (role.progress.flushedTo(this.#log.endOffset)) this.#leaderCommitted(role);
  }

  #leaderCommitted(role: Leader): void {
    this.#log.committedTo(role.progress.highWatermark);
    this.#announce();
    this.#fetches.answerReady(role);
  }

  #handleFetch(request: IncomingRequest, body: FetchRequest, partition: FetchPartition): void {
    if (body.clusterId !== undefined && body.clusterId !== this.#clusterId) {
      request.reply(FETCH, failedFetchResponse(ERRORS.INCONSISTENT_CLUSTER_ID));
      return;
    }
    const error = this.#complainAboutFetch(partition);
    const role = this.#role;
    if (error !== ERRORS.NONE || role.role !== "leader") {
      this.#fetches.refuse(request, error, this.leaderId, role.epoch);
      return;
    }
    const diverges = this.#fetches.diverges(partition);
    if (!diverges) {
      const { progress } = role;
      if (progress.countFetch(body.replicaId)) this.#restartCheckQuorum();
      if (progress.fetchedTo(body.replicaId, partition.fetchOffset)) this.#leaderCommitted(role);
    }
    this.#fetches.handle(request, partition, diverges, body.maxWaitMs, role);
  }

  #complainAboutFetch(partition: FetchPartition): ErrorCode {
    const { currentLeaderEpoch, fetchOffset, lastFetchedEpoch } = partition;
    if (fetchOffset < 0 || lastFetchedEpoch < 0 || lastFetchedEpoch > currentLeaderEpoch) {
      return ERRORS.INVALID_REQUEST;
    }
    if (currentLeaderEpoch < this.#role.epoch) return ERRORS.FENCED_LEADER_EPOCH;
    if (currentLeaderEpoch > this.#role.epoch) return ERRORS.UNKNOWN_LEADER_EPOCH;
    return this.isLeader ? ERRORS.NONE : ERRORS.NOT_LEADER_OR_FOLLOWER;
  }

  /** If no majority fetches within 1.5 fetch timeouts, this leader is cut off (KAFKA-15489). */
  #restartCheckQuorum(): void {
    if (this.#voterIds.length === 1) return;
    const timeout = fromMillis(this.#configs["controller.quorum.fetch.timeout.ms"]);
    const patience = Math.floor(timeout * CHECK_QUORUM_PER_FETCH_TIMEOUTS);
    this.#timers.start(ROLE_TIMER.checkQuorum, patience);
  }

  // The follower's side of replication.

  /** An observer fetches from the leader; while it has none that answers, it asks any voter. */
  #observe(leaderId: BrokerId): void {
    if (this.#observing >= 0) return;
    let target = leaderId;
    if (leaderId === NO_LEADER || this.#peers.isBusy(leaderId)) {
      const free = this.#voterIds.filter((id) => !this.#peers.isBusy(id));
      if (free.length === 0) return;
      target = free[this.#world.random.below(free.length)] as BrokerId;
    }
    this.#observing = target;
    this.#fetchFrom(target);
  }

  #fetchFrom(voter: BrokerId): void {
    const log = this.#log;
    const request = metadataFetch(this.#clusterId, this.#nodeId, this.#brokerEpoch(), {
      partition: 0,
      currentLeaderEpoch: this.#role.epoch,
      fetchOffset: log.endOffset,
      lastFetchedEpoch: log.endEpoch,
      logStartOffset: log.startOffset,
      partitionMaxBytes: MAX_FETCH_BYTES,
      highWatermark: log.highWatermark,
    });
    this.#peers.ask(voter, FETCH, request, this.#fetchAnswers);
  }

  #fetchAnswered(response: FetchResponse, asked: Asked): void {
    this.#observing = -1;
    const answer = metadataAnswer(response);
    if (answer === undefined) {
      this.#peers.backOff(asked.peer);
      return;
    }
    const leaderId = answer.currentLeader?.leaderId ?? NO_LEADER;
    const epoch = answer.currentLeader?.leaderEpoch ?? this.#role.epoch;
    if (this.#heardEnough(errorOf(answer.errorCode), leaderId, epoch, asked)) return;
    this.#peers.answered(asked.peer);
    this.#apply(answer);
  }

  #apply(answer: FetchPartitionResponse): void {
    const role = this.#role;
    if (role.role !== "follower") fail(`a ${role.role} fetched`);
    if (answer.divergingEpoch !== undefined) this.#log.truncateTo(answer.divergingEpoch);
    else {
      if (answer.records.length > 0) {
        this.#log.appendAsFollower(answer.records, role.epoch);
        // The next fetch tells the leader that this is durable. It counts voters only.
        if (this.#isVoter) this.#log.flush();
      }
      this.#log.committedTo(Math.min(answer.highWatermark, this.#log.endOffset));
    }
    role.hasFetched = true;
    if (this.#isVoter) this.#restartFetchTimer();
  }

  // Requests.

  #handleRequest(request: IncomingRequest): void {
    switch (request.apiKey) {
      case VOTE.key:
        request.reply(VOTE, this.#handleVote(request.body as VoteRequest));
        break;
      case BEGIN_QUORUM_EPOCH.key: {
        const body = request.body as BeginQuorumEpochRequest;
        request.reply(BEGIN_QUORUM_EPOCH, this.#handleBegin(body));
        break;
      }
      case END_QUORUM_EPOCH.key:
        request.reply(END_QUORUM_EPOCH, this.#handleEnd(request.body as EndQuorumEpochRequest));
        break;
      default: {
        const body = request.body as FetchRequest;
        const partition = metadataPartition(body);
        if (partition === undefined) fail("a fetch of another topic");
        this.#handleFetch(request, body, partition);
      }
    }
  }

  #isMe(voterId: BrokerId, directoryId: string): boolean {
    return voterId === this.#nodeId && directoryId === directoryIdOf(this.#nodeId);
  }
}

function isQuorumRequest(request: IncomingRequest): boolean {
  switch (request.apiKey) {
    case VOTE.key:
    case BEGIN_QUORUM_EPOCH.key:
    case END_QUORUM_EPOCH.key:
      return true;
    case FETCH.key:
      return metadataPartition(request.body as FetchRequest) !== undefined;
    default:
      return false;
  }
}

/** Was it waiting for an election already, so that a newer epoch must not make it wait longer? */
function waitsForElection(role: Role): boolean {
  switch (role.role) {
    case "candidate":
    case "unattached":
    case "resigned":
      return true;
    case "prospective":
      return !role.tally.isRejected;
    default:
      return false;
  }
}
