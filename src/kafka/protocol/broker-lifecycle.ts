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
