import type { Duration, Instant } from "../../../base/time.ts";
import { ERRORS, errorOf } from "../../../kafka/error-code.ts";
import type { Api } from "../../../kafka/protocol/api.ts";
import { FIND_COORDINATOR } from "../../../kafka/protocol/apis.ts";
import type { FindCoordinatorResponse } from "../../../kafka/protocol/find-coordinator.ts";
import { COORDINATOR_TYPE } from "../../../kafka/protocol/find-coordinator.ts";
import type { NodeAddress } from "../../../ports/network.ts";
import type { BrokerConnections } from "../../client-metadata/broker-connections.ts";
import { NO_ADDRESS } from "../../client-metadata/topic-leaders.ts";
import type { ResponseHandler } from "../../rpc/rpc-client.ts";
import type { ConsumerParts } from "../consumer-parts.ts";

/**
 * A member's way to the coordinator of its group: finds it, and again when it is gone or is not it any more
 * (`AbstractCoordinator.lookupCoordinator`, `markCoordinatorUnknown`). Requests to it have a connection of
 * their own, behind which no fetch waits.
 */
export class CoordinatorLink implements ResponseHandler<FindCoordinatorResponse, undefined> {
  readonly #parts: ConsumerParts;
  readonly #groupId: string;
  /** For questions to any broker. */
  readonly #main: BrokerConnections;
  readonly #connections: BrokerConnections;
  #address: NodeAddress = NO_ADDRESS;
  #isLooking = false;
  #failures = 0;
  #retryAt: Instant = 0;
  /** Told when a coordinator is found. */
  onFound: (now: Instant) => void = () => undefined;

  constructor(
    parts: ConsumerParts,
    groupId: string,
    main: BrokerConnections,
    connections: BrokerConnections,
  ) {
    this.#parts = parts;
    this.#groupId = groupId;
    this.#main = main;
    this.#connections = connections;
  }

  get isKnown(): boolean {
    return this.#address !== NO_ADDRESS;
  }

  /** Can a request go to it now? If not, it is being looked for or connected to. */
  ready(now: Instant): boolean {
    if (this.#address === NO_ADDRESS) {
      this.#look(now);
      return false;
    }
    if (this.#connections.ready(this.#address, now)) return true;
    // Where a connection has just broken, it is asked again, after a pause, who coordinates (`isUnavailable`).
    if (this.#connections.notBefore(this.#address) > now) {
      const { settings, wakeUp } = this.#parts;
      this.#address = NO_ADDRESS;
      this.#retryAt = now + settings.retryBackoff;
      wakeUp.noLaterThan(this.#retryAt, now);
    }
    return false;
  }

  /** `ready` has just said that it can. */
  send<Request, Response, Context>(
    api: Api<Request, Response>,
    body: Request,
    timeout: Duration,
    handler: ResponseHandler<Response, Context>,
    context: Context,
  ): void {
    const { rpc } = this.#parts;
    rpc.send(this.#address, this.#connections.purpose, api, body, timeout, handler, context);
  }

  /** It said that it is not the coordinator, or nothing for too long: what waits for it is given up. */
  markUnknown(): void {
    const address = this.#address;
    if (address === NO_ADDRESS) return;
    this.#address = NO_ADDRESS;
    this.#parts.rpc.disconnect(address, this.#connections.purpose);
  }

  /** The connection to it broke under a request. */
  disconnected(from: NodeAddress, now: Instant): void {
    this.#connections.disconnected(from, now);
    if (from === this.#address) this.#address = NO_ADDRESS;
  }

  onResponse({ coordinators }: FindCoordinatorResponse, _: undefined, from: NodeAddress): void {
    const now = this.#parts.world.clock.now();
    this.#isLooking = false;
    const found = coordinators[0];
    const error = errorOf(found?.errorCode ?? ERRORS.UNKNOWN_SERVER_ERROR.code);
    if (found !== undefined && error === ERRORS.NONE) {
      this.#address = found.port;
      this.#failures = 0;
      this.onFound(now);
      return;
    }
    const broker = this.#parts.metadata.brokerAt(from);
    this.#parts.noteFailure(FIND_COORDINATOR.name, broker, "", error, error.retriable);
    if (error.retriable) this.#backOff(now);
    else this.#parts.die(`no coordinator of group ${this.#groupId}: ${error.name}`);
  }

  onDisconnect(_: undefined, from: NodeAddress): void {
    const { metadata, world } = this.#parts;
    const now = world.clock.now();
    this.#isLooking = false;
    this.#main.disconnected(from, now);
    metadata.disconnected(now);
    const broker = metadata.brokerAt(from);
    this.#parts.noteFailure(FIND_COORDINATOR.name, broker, "", ERRORS.NETWORK_EXCEPTION, true);
    this.#backOff(now);
  }

  #look(now: Instant): void {
    const { metadata, rpc, settings, wakeUp } = this.#parts;
    if (this.#isLooking) return;
    if (now < this.#retryAt) {
      wakeUp.noLaterThan(this.#retryAt, now);
      return;
    }
    const address = metadata.leastLoaded(now);
    if (address === NO_ADDRESS) {
      wakeUp.noLaterThan(metadata.nextAttempt(now), now);
      return;
    }
    if (!this.#main.ready(address, now)) return;
    this.#isLooking = true;
    const body = { keyType: COORDINATOR_TYPE.group, coordinatorKeys: [this.#groupId] };
    const { requestTimeout } = settings;
    rpc.send(address, this.#main.purpose, FIND_COORDINATOR, body, requestTimeout, this, undefined);
  }

  #backOff(now: Instant): void {
    this.#retryAt = now + this.#parts.backoff(this.#failures);
    this.#failures++;
    this.#parts.wakeUp.noLaterThan(this.#retryAt, now);
  }
}
