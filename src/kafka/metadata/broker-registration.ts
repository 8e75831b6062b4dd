import type { BrokerEpoch, BrokerId, Offset } from "../ids.ts";
import type { Uuid } from "../uuid.ts";
import type {
  BrokerEndPoint,
  BrokerFeature,
  BrokerRegistrationChangeRecord,
  RegisterBrokerRecord,
} from "./records.ts";

/** A broker as the metadata log has it (Kafka's `BrokerRegistration`). Immutable. */
export interface BrokerRegistration {
  readonly brokerId: BrokerId;
  readonly brokerEpoch: BrokerEpoch;
  readonly incarnationId: Uuid;
  /** The port of its first end point: its address in the simulated network. */
  readonly address: number;
  readonly endPoints: readonly BrokerEndPoint[];
  readonly features: readonly BrokerFeature[];
  readonly rack: string | undefined;
  readonly fenced: boolean;
  readonly inControlledShutdown: boolean;
  readonly logDirs: readonly Uuid[];
  /** Where in the metadata log it registered; what it must have applied before it is unfenced. */
  readonly registrationOffset: Offset;
}

/** The broker that a record at `offset` registers. */
export function brokerOf(record: RegisterBrokerRecord, offset: Offset): BrokerRegistration {
  return {
    brokerId: record.brokerId,
    brokerEpoch: record.brokerEpoch,
    incarnationId: record.incarnationId,
    address: record.endPoints[0]?.port ?? -1,
    endPoints: record.endPoints,
    features: record.features,
    rack: record.rack,
    fenced: record.fenced,
    inControlledShutdown: record.inControlledShutdown,
    logDirs: record.logDirs,
    registrationOffset: offset,
  };
}

/** The broker after a change (`BrokerRegistration.cloneWith`). */
export function changedBroker(
  before: BrokerRegistration,
  change: BrokerRegistrationChangeRecord,
): BrokerRegistration {
  const { logDirs = [] } = change;
  return {
    ...before,
    fenced: change.fenced === 0 ? before.fenced : change.fenced > 0,
    inControlledShutdown: change.inControlledShutdown === 1 || before.inControlledShutdown,
    // Without any there is no change: a broker whose directories are all gone is gone itself.
    logDirs: logDirs.length > 0 ? logDirs : before.logDirs,
  };
}

/** May this broker join ISRs and lead (`ClusterControlManager.isActive`)? */
export function isActive(broker: BrokerRegistration | undefined): boolean {
  return broker !== undefined && !broker.fenced && !broker.inControlledShutdown;
}
