import type { Duration } from "../../base/time.ts";
import { SECOND } from "../../base/time.ts";
import { brokerPath, brokerRegistration } from "../../kafka/zookeeper/registries.ts";
import { ZOOKEEPER_ERROR } from "../../kafka/zookeeper/zookeeper-error.ts";
import type { WatchEvent } from "../../kafka/zookeeper/zookeeper-protocol.ts";
import type { NodeAddress } from "../../ports/network.ts";
import { createWithParents } from "../zookeeper/persistent-path.ts";
import type { SessionListener } from "../zookeeper/zookeeper-client.ts";
import { ZookeeperClient } from "../zookeeper/zookeeper-client.ts";
import type { BrokerContext } from "./broker-context.ts";
import { BROKER_TIMER } from "./broker-timers.ts";

/** `zookeeper.session.timeout.ms` of brokers, where it is not configured. */
const SESSION_TIMEOUT: Duration = 6 * SECOND;

/**
 * A broker's entry in the registry of brokers (`KafkaHealthcheck`): an ephemeral znode, by which consumers of the first
 * protocol know that it is there.
 */
export class ZookeeperRegistration implements SessionListener {
  readonly client: ZookeeperClient;
  readonly #context: BrokerContext;

  constructor(context: BrokerContext, server: NodeAddress) {
    this.#context = context;
    const { world } = context;
    const kind = BROKER_TIMER.zookeeper;
    this.client = new ZookeeperClient(world, server, SESSION_TIMEOUT, kind, this);
  }

  sessionBegan(): void {
    this.#register();
  }

  sessionExpired(): void {
    // The next session follows, and it registers anew.
  }

  watchFired({ type }: WatchEvent): void {
    if (type === "NodeDeleted") this.#register();
  }

  #register(): void {
    const { brokerId, world } = this.#context;
    const data = brokerRegistration(`broker-${brokerId}`, world.self);
    createWithParents(this.client, brokerPath(brokerId), data, true, "fails", (error) => {
      if (error === ZOOKEEPER_ERROR.NODEEXISTS) this.#outlive();
    });
  }

  /**
   * What is there was made by this process, its answer lost, or by the one before it, whose session has not
   * expired yet: that will go (`createEphemeralPathExpectConflictHandleZKBug`, which looks again after a while).
   */
  #outlive(): void {
    const path = brokerPath(this.#context.brokerId);
    this.client.ask({ op: "getData", path, watch: true }, "fails", (error) => {
      if (error === ZOOKEEPER_ERROR.NONODE) this.#register();
    });
  }
}
