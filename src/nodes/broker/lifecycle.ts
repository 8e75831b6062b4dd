import { fromMillis, MILLISECOND, MINUTE } from "../../base/time.ts";
import { METADATA_VERSION_LEVEL } from "../../kafka/metadata/bootstrap.ts";
import { BROKER_HEARTBEAT, BROKER_REGISTRATION } from "../../kafka/protocol/apis.ts";
import type {
  BrokerHeartbeatResponse,
  BrokerRegistrationResponse,
} from "../../kafka/protocol/broker-lifecycle.ts";
import type { Uuid } from "../../kafka/uuid.ts";
import type { NodeAddress } from "../../ports/network.ts";
import type { TimerHandle } from "../../ports/node.ts";
import { NO_TIMER } from "../../ports/node.ts";
import type { ResponseHandler } from "../rpc/rpc-client.ts";
import type { BrokerContext } from "./broker-context.ts";
import { BROKER_TIMER } from "./broker-timers.ts";
import type { ControllerChannel } from "./controller-channel.ts";

/** After an error the wait begins with this and doubles, up to broker.session.timeout.ms. */
const RETRY = 100 * MILLISECOND;
/** Between heartbeats of a broker that catches up, and after the first "not yet" to a shutdown. */
const STARTING_POLL = 10 * MILLISECOND;
const SHUTDOWN_POLL = 50 * MILLISECOND;
/** `BrokerServer.shutdown` waits this long for the controller's leave. */
const SHUTDOWN_TIMEOUT = 5 * MINUTE;

export interface LifecycleOptions {
  readonly incarnationId: string;
  readonly rack: string | undefined;
  /** Ids of the log directories that are online at the start, ascending. */
  readonly logDirs: readonly Uuid[];
  readonly address: NodeAddress;
  readonly host: string;
  readonly previousBrokerEpoch: number;
  /** The last metadata offset that this broker has applied. */
  readonly metadataOffset: () => number;
  /** The controller has unfenced this process for the first time. */
  readonly onUnfenced: () => void;
  /** The controller lets the broker go, or never answers: close the logs and exit. */
  readonly onMayStop: (reason: string) => void;
}

/**
 * A broker's standing with the controller: STARTING, RECOVERY, RUNNING,
 * PENDING_CONTROLLED_SHUTDOWN (KIP-631, `BrokerLifecycleManager`).
 */
export class Lifecycle
  implements
    ResponseHandler<BrokerRegistrationResponse, "registration">,
    ResponseHandler<BrokerHeartbeatResponse, "heartbeat">
{
  readonly #context: BrokerContext;
  readonly #channel: ControllerChannel;
  readonly #options: LifecycleOptions;
  #state: "starting" | "recovery" | "running" | "pending-shutdown" | "stopping" = "starting";
  #retry = RETRY;
  #timer: TimerHandle = NO_TIMER;
  #deadline: TimerHandle = NO_TIMER;
  #inFlight = false;
  #heardOfShutdown = false;
  /** Log directories that have failed since the start; true once the controller knows. */
  readonly #offlineDirs = new Map<Uuid, boolean>();
  /** What the last heartbeat told of them. */
  #toldOffline: readonly Uuid[] = NO_DIRECTORIES;
  /** The next heartbeat is not to wait, though one is under way. */
  #isUrgent = false;

  constructor(context: BrokerContext, channel: ControllerChannel, options: LifecycleOptions) {
    this.#context = context;
    this.#channel = channel;
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#state === "running";
  }

  start(): void {
    this.#deadline = this.#context.world.timers.start(
      fromMillis(this.#context.configs["initial.broker.registration.timeout.ms"]),
      BROKER_TIMER.lifecycleDeadline,
    );
    this.#register();
  }

  /** The timer for the next registration or heartbeat came due. */
  onTimer(): void {
    this.#timer = NO_TIMER;
    if (this.#inFlight) return;
    if (this.#context.brokerEpoch < 0) this.#register();
    else this.#heartbeat();
  }

  beginShutdown(): void {
    if (this.#state === "pending-shutdown" || this.#state === "stopping") return;
    if (this.#state !== "running" || !this.#context.configs["controlled.shutdown.enable"]) {
      this.#stop("shutdown");
      return;
    }
    this.#state = "pending-shutdown";
    this.#deadline = this.#context.world.timers.start(
      SHUTDOWN_TIMEOUT,
      BROKER_TIMER.lifecycleDeadline,
    );
    this.#schedule(0);
  }

  /** Tells the controller with the next heartbeat, which is sent at once (KIP-858). */
  directoryFailed(directory: Uuid): void {
    this.#offlineDirs.set(directory, false);
    this.#context.world.timers.start(
      fromMillis(this.#context.configs["log.dir.failure.timeout.ms"]),
      BROKER_TIMER.directoryFailureDeadline,
      directory,
    );
    if (this.#context.brokerEpoch < 0) return;
    if (this.#inFlight) this.#isUrgent = true;
    else this.#schedule(0);
  }

  /** A controller that does not hear of it would have a replica lead that nobody can reach. */
  onDirectoryFailureDeadline(directory: unknown): void {
    if (typeof directory === "string" && this.#offlineDirs.get(directory) === false) {
      this.beginShutdown();
    }
  }

  /** It could not register in time, or nobody let it go in time. */
  onDeadline(): void {
    this.#stop(this.#state === "pending-shutdown" ? "shutdown" : "unable to register");
  }

  #stop(reason: string): void {
    if (this.#state === "stopping") return;
    this.#state = "stopping";
    this.#context.world.timers.cancel(this.#timer);
    this.#context.world.timers.cancel(this.#deadline);
    this.#options.onMayStop(reason);
  }

  #register(): void {
    const { incarnationId, rack, logDirs, address, host, previousBrokerEpoch } = this.#options;
    this.#inFlight = true;
    this.#channel.send(
      BROKER_REGISTRATION,
      {
        brokerId: this.#context.brokerId,
        clusterId: this.#context.clusterId,
        incarnationId,
        listeners: [{ name: "PLAINTEXT", host, port: address, securityProtocol: 0 }],
        features: [
          {
            name: "metadata.version",
            minSupportedVersion: 7,
            maxSupportedVersion: METADATA_VERSION_LEVEL,
          },
          {
            name: "eligible.leader.replicas.version",
            minSupportedVersion: 0,
            maxSupportedVersion: 1,
          },
        ],
        rack,
        logDirs,
        previousBrokerEpoch,
      },
      this,
      "registration",
    );
  }

  #heartbeat(): void {
    this.#inFlight = true;
    this.#toldOffline =
      this.#offlineDirs.size === 0 ? NO_DIRECTORIES : [...this.#offlineDirs.keys()];
    this.#channel.send(
      BROKER_HEARTBEAT,
      {
        brokerId: this.#context.brokerId,
        brokerEpoch: this.#context.brokerEpoch,
        currentMetadataOffset: this.#options.metadataOffset(),
        wantFence: this.#state === "starting",
        wantShutDown: this.#state === "pending-shutdown",
        offlineLogDirs: this.#toldOffline,
      },
      this,
      "heartbeat",
    );
  }

  onResponse(response: BrokerRegistrationResponse | BrokerHeartbeatResponse): void {
    this.#inFlight = false;
    // Among others: a new process of a broker waits for the session of its former life to end.
    if (response.errorCode !== 0) {
      this.#backOff();
      return;
    }
    this.#retry = RETRY;
    if ("brokerEpoch" in response) {
      this.#context.brokerEpoch = response.brokerEpoch;
      this.#context.world.timers.cancel(this.#deadline);
      this.#schedule(0);
      return;
    }
    this.#onHeartbeat(response);
  }

  #onHeartbeat(response: BrokerHeartbeatResponse): void {
    for (const directory of this.#toldOffline) this.#offlineDirs.set(directory, true);
    const interval = fromMillis(this.#context.configs["broker.heartbeat.interval.ms"]);
    switch (this.#state) {
      case "starting":
        // Logs were recovered before the registration, so that once the metadata is caught up with
        // nothing keeps the broker from asking to be unfenced.
        if (response.isCaughtUp) this.#state = "recovery";
        this.#schedule(response.isCaughtUp ? 0 : STARTING_POLL);
        return;
      case "recovery":
        if (!response.isFenced) {
          this.#state = "running";
          this.#options.onUnfenced();
        }
        this.#schedule(interval);
        return;
      case "running":
        this.#schedule(interval);
        return;
      case "pending-shutdown":
        if (response.shouldShutDown) this.#stop("shutdown");
        else this.#schedule(this.#heardOfShutdown ? interval : SHUTDOWN_POLL);
        this.#heardOfShutdown = true;
        return;
      case "stopping":
        return;
    }
  }

  onDisconnect(): void {
    this.#inFlight = false;
    this.#backOff();
  }

  #backOff(): void {
    this.#isUrgent = false;
    this.#schedule(this.#retry);
    const most = fromMillis(this.#context.configs["broker.session.timeout.ms"]);
    this.#retry = Math.min(2 * this.#retry, most);
  }

  #schedule(delay: number): void {
    if (this.#state === "stopping") return;
    this.#context.world.timers.cancel(this.#timer);
    const pause = this.#isUrgent ? 0 : delay;
    this.#isUrgent = false;
    this.#timer = this.#context.world.timers.start(pause, BROKER_TIMER.heartbeat);
  }
}

const NO_DIRECTORIES: readonly Uuid[] = [];
