import {
  arraySize,
  INT8,
  INT16,
  INT32,
  INT64,
  NO_TAGS,
  REQUEST_OVERHEAD,
  RESPONSE_OVERHEAD,
  tagged,
  textSize,
  UUID,
  uniformSize,
} from "./wire-size.ts";
/** BrokerRegistrationRequest v4 (KIP-631, KIP-966). */
export interface BrokerRegistrationRequest {
  readonly brokerId: number;
  readonly clusterId: string;
  /** One per process: 22 characters of base64. */
  readonly incarnationId: string;
  readonly listeners: readonly Listener[];
  readonly features: readonly SupportedFeature[];
  readonly rack: string | undefined;
  /** Ids of the log directories. */
  readonly logDirs: readonly string[];
  /** From the clean shutdown file; -1 after an unclean stop. */
  readonly previousBrokerEpoch: number;
}

export interface Listener {
  readonly name: string;
  readonly host: string;
  /** The node's address in the simulated network. */
  readonly port: number;
  readonly securityProtocol: number;
}

export interface SupportedFeature {
  readonly name: string;
  readonly minSupportedVersion: number;
  readonly maxSupportedVersion: number;
}

export interface BrokerRegistrationResponse {
  readonly throttleTimeMs: number;
  readonly errorCode: number;
  readonly brokerEpoch: number;
}

/** BrokerHeartbeatRequest v1; also carries controlled shutdown. */
export interface BrokerHeartbeatRequest {
  readonly brokerId: number;
  readonly brokerEpoch: number;
  /** The highest metadata offset that the broker has applied. */
  readonly currentMetadataOffset: number;
  readonly wantFence: boolean;
  readonly wantShutDown: boolean;
  readonly offlineLogDirs: readonly string[];
}

export interface BrokerHeartbeatResponse {
  readonly throttleTimeMs: number;
  readonly errorCode: number;
  readonly isCaughtUp: boolean;
  readonly isFenced: boolean;
  readonly shouldShutDown: boolean;
}

export function brokerRegistrationRequestSize(body: BrokerRegistrationRequest): number {
  return (
    REQUEST_OVERHEAD +
    (INT32 + textSize(body.clusterId) + UUID) +
    arraySize(
      body.listeners,
      ({ name, host }) => textSize(name) + textSize(host) + 2 * INT16 + NO_TAGS,
    ) +
    arraySize(body.features, ({ name }) => textSize(name) + 2 * INT16 + NO_TAGS) +
    (textSize(body.rack) + INT8 + uniformSize(body.logDirs, UUID) + INT64 + NO_TAGS)
  );
}

export function brokerRegistrationResponseSize(): number {
  return RESPONSE_OVERHEAD + INT32 + INT16 + INT64 + NO_TAGS;
}

export function brokerHeartbeatRequestSize(body: BrokerHeartbeatRequest): number {
  const { offlineLogDirs } = body;
  const offline = offlineLogDirs.length === 0 ? 0 : tagged(uniformSize(offlineLogDirs, UUID));
  return REQUEST_OVERHEAD + INT32 + 2 * INT64 + 2 * INT8 + NO_TAGS + offline;
}

export function brokerHeartbeatResponseSize(): number {
  return RESPONSE_OVERHEAD + INT32 + INT16 + 3 * INT8 + NO_TAGS;
}
