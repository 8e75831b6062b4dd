import { fail } from "../../base/invariant.ts";
import type { Instant } from "../../base/time.ts";
import type { ErrorCode } from "../error-code.ts";
import { ERRORS } from "../error-code.ts";
import type { BrokerEpoch, Offset } from "../ids.ts";
import type {
  BrokerHeartbeatRequest,
  BrokerHeartbeatResponse,
  BrokerRegistrationRequest,
  BrokerRegistrationResponse,
} from "../protocol/broker-lifecycle.ts";
import type { BrokerRegistration } from "./broker-registration.ts";
import type { BrokerSessions } from "./broker-sessions.ts";
import type { Decision, DecisionContext } from "./decision.ts";
import { checkBrokerEpoch } from "./decision.ts";
import {
  beginControlledShutdown,
  dropIncarnation,
  fenceBroker,
  hasLeaderships,
  unfenceBroker,
} from "./partition-updates.ts";
import type { MetadataRecord } from "./records.ts";
import { takeDirectoriesOffline } from "./replica-directories.ts";

export interface RegistrationDecision extends Decision<BrokerRegistrationResponse> {
  /** A new process, which begins a new broker epoch. */
  readonly isNewIncarnation: boolean;
  /** Did the former process stop in order? False if there was none. */
  readonly isCleanShutdown: boolean;
}

/**
 * A broker announces itself (KIP-631; `ClusterControlManager.registerBroker`). `nextOffset` is where
 * the decision's first record will stand: it becomes the broker epoch.
 *
 * Simplified: the features that a broker supports are not checked, as all nodes are of one release.
 */
export function registerBroker(
  context: DecisionContext,
  sessions: BrokerSessions,
  clusterId: string,
  request: BrokerRegistrationRequest,
  nextOffset: Offset,
  now: Instant,
): RegistrationDecision {
  const { brokerId, incarnationId } = request;
  if (request.clusterId !== clusterId) return refused(ERRORS.INCONSISTENT_CLUSTER_ID);
  const existing = context.image.brokers.get(brokerId);
  const isNewIncarnation = existing?.incarnationId !== incarnationId;
  if (isNewIncarnation && sessions.isAlive(context.image, brokerId, now)) {
    return refused(ERRORS.DUPLICATE_BROKER_REGISTRATION);
  }
  const isCleanShutdown = existing?.brokerEpoch === request.previousBrokerEpoch;
  const records: MetadataRecord[] = [];
  let brokerEpoch = nextOffset;
  let fenced = true;
  let inControlledShutdown = false;
  if (isNewIncarnation || existing === undefined) {
    records.push(...dropIncarnation(context, brokerId, isCleanShutdown));
  } else {
    // The same process again: its registration is amended, its epoch stays (KAFKA-16952).
    ({ brokerEpoch, fenced, inControlledShutdown } = existing);
  }
  records.push({
    type: "RegisterBrokerRecord",
    brokerId,
    incarnationId,
    brokerEpoch,
    endPoints: request.listeners,
    features: request.features,
    rack: request.rack,
    fenced,
    inControlledShutdown,
    logDirs: request.logDirs,
  });
  const response = registrationResponse(ERRORS.NONE, brokerEpoch);
  return { records, response, isNewIncarnation, isCleanShutdown };
}

export function registrationResponse(
  error: ErrorCode,
  brokerEpoch: BrokerEpoch,
): BrokerRegistrationResponse {
  return { throttleTimeMs: 0, errorCode: error.code, brokerEpoch };
}

/** Where a broker stands with the controller (`BrokerControlState`). */
export type BrokerState = "fenced" | "unfenced" | "controlled-shutdown" | "shutdown-now";

export interface HeartbeatDecision extends Decision<BrokerHeartbeatResponse> {
  /** The state after it; undefined if the heartbeat was refused. */
  readonly state: BrokerState | undefined;
}

/** A broker says that it lives, and what it wants (`ReplicationControlManager.processBrokerHeartbeat`). */
export function heartbeat(
  context: DecisionContext,
  sessions: BrokerSessions,
  request: BrokerHeartbeatRequest,
): HeartbeatDecision {
  const { brokerId, currentMetadataOffset } = request;
  const error = checkBrokerEpoch(context, brokerId, request.brokerEpoch);
  const broker = context.image.brokers.get(brokerId);
  if (error !== ERRORS.NONE || broker === undefined) {
    return { records: [], response: refuseHeartbeat(error), state: undefined };
  }
  const before = stateOf(broker, sessions);
  const isLeaving = request.wantShutDown || before === "controlled-shutdown";
  const after = nextBrokerState(before, {
    wantFence: request.wantFence,
    wantShutDown: request.wantShutDown,
    isCaughtUp: currentMetadataOffset >= broker.registrationOffset,
    hasLeaderships: isLeaving && hasLeaderships(context, brokerId),
    othersCaughtUp: sessions.shutdownOffset(brokerId) <= sessions.lowestActiveOffset(context.image),
  });
  const response = {
    throttleTimeMs: 0,
    errorCode: 0,
    isCaughtUp: currentMetadataOffset >= broker.registrationOffset,
    isFenced: isFencedIn(after),
    shouldShutDown: after === "shutdown-now",
  };
  const records = before === after ? [] : recordsOf(context, broker, after);
  const lost = takeDirectoriesOffline(context, brokerId, request.offlineLogDirs);
  return { records: lost.length === 0 ? records : [...records, ...lost], response, state: after };
}

export function refuseHeartbeat(error: ErrorCode): BrokerHeartbeatResponse {
  return {
    throttleTimeMs: 0,
    errorCode: error.code,
    isCaughtUp: false,
    isFenced: true,
    shouldShutDown: false,
  };
}

export function isFencedIn(state: BrokerState): boolean {
  return state === "fenced" || state === "shutdown-now";
}

/** What a heartbeat tells the state machine. */
export interface HeartbeatSigns {
  readonly wantFence: boolean;
  readonly wantShutDown: boolean;
  /** Has the broker applied its own registration? */
  readonly isCaughtUp: boolean;
  readonly hasLeaderships: boolean;
  /** Have all that stay applied what the controlled shutdown changed? */
  readonly othersCaughtUp: boolean;
}

/** `BrokerHeartbeatManager.calculateNextBrokerState`. */
export function nextBrokerState(state: BrokerState, signs: HeartbeatSigns): BrokerState {
  switch (state) {
    case "fenced":
      if (signs.wantShutDown) return "shutdown-now";
      return !signs.wantFence && signs.isCaughtUp ? "unfenced" : "fenced";
    case "unfenced":
      if (signs.wantFence) return signs.wantShutDown ? "shutdown-now" : "fenced";
      if (!signs.wantShutDown) return "unfenced";
      return signs.hasLeaderships ? "controlled-shutdown" : "shutdown-now";
    case "controlled-shutdown":
      if (signs.hasLeaderships || !signs.othersCaughtUp) return "controlled-shutdown";
      return "shutdown-now";
    default:
      return "shutdown-now";
  }
}

function stateOf(broker: BrokerRegistration, sessions: BrokerSessions): BrokerState {
  if (broker.fenced) return "fenced";
  return sessions.shutdownOffset(broker.brokerId) >= 0 ? "controlled-shutdown" : "unfenced";
}

function recordsOf(
  context: DecisionContext,
  broker: BrokerRegistration,
  state: BrokerState,
): readonly MetadataRecord[] {
  switch (state) {
    case "fenced":
    case "shutdown-now":
      return broker.fenced ? [] : fenceBroker(context, broker.brokerId);
    case "unfenced":
      return unfenceBroker(context, broker.brokerId);
    case "controlled-shutdown":
      return beginControlledShutdown(context, broker.brokerId);
    default:
      return fail(`no broker state ${state}`);
  }
}

function refused(error: ErrorCode): RegistrationDecision {
  return {
    records: [],
    response: registrationResponse(error, -1),
    isNewIncarnation: false,
    isCleanShutdown: false,
  };
}
