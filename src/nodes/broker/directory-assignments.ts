import type { Duration } from "../../base/time.ts";
import { MILLISECOND, SECOND } from "../../base/time.ts";
import { exponentialBackoff } from "../../kafka/client/backoff.ts";
import { ERRORS } from "../../kafka/error-code.ts";
import type { BrokerId, TopicId } from "../../kafka/ids.ts";
import type { MetadataImage } from "../../kafka/metadata/image.ts";
import { ASSIGN_REPLICAS_TO_DIRS } from "../../kafka/protocol/apis.ts";
import type {
  AssignedDirectory,
  AssignReplicasToDirsResponse,
} from "../../kafka/protocol/assign-replicas.ts";
import type { Uuid } from "../../kafka/uuid.ts";
import type { TimerHandle } from "../../ports/node.ts";
import { NO_TIMER } from "../../ports/node.ts";
import type { ResponseHandler } from "../rpc/rpc-client.ts";
import type { BrokerContext } from "./broker-context.ts";
import { BROKER_TIMER } from "./broker-timers.ts";
import type { ControllerChannel } from "./controller-channel.ts";

/** Assignments gather this long; after errors the wait doubles. */
const LINGER = 100 * MILLISECOND;
const MAX_BACKOFF = 10 * SECOND;
/** The bounds of Kafka's jitter of 0.02, in millionths. */
const JITTER_LOW = 980_000;
const JITTER_HIGH = 1_020_000;
/** `AssignReplicasToDirsRequest.MAX_ASSIGNMENTS_PER_REQUEST`. */
const MOST_IN_REQUEST = 2250;

/** A replica is in this directory, and the controller is to know. */
interface Assignment {
  readonly topicId: TopicId;
  readonly index: number;
  readonly directory: Uuid;
}

/**
 * Tells the controller in which log directories this broker has put its replicas, until it has heard
 * (KIP-858, `AssignmentsManager`): one request at a time, in which all that wait go together.
 */
export class DirectoryAssignments
  implements ResponseHandler<AssignReplicasToDirsResponse, readonly Assignment[]>
{
  readonly #context: BrokerContext;
  readonly #channel: ControllerChannel;
  /** By topic id and index; the newest of each. */
  readonly #ready = new Map<string, Assignment>();
  #inFlight = false;
  /** Whole requests that failed, one after the other. */
  #failures = 0;
  #timer: TimerHandle = NO_TIMER;

  constructor(context: BrokerContext, channel: ControllerChannel) {
    this.#context = context;
    this.#channel = channel;
  }

  assign(topicId: TopicId, index: number, directory: Uuid): void {
    this.#ready.set(keyOf(topicId, index), { topicId, index, directory });
    this.#schedule();
  }

  /** The wait is over. */
  onTimer(): void {
    this.#timer = NO_TIMER;
    if (this.#inFlight) return;
    const { brokerId, image } = this.#context;
    const sent: Assignment[] = [];
    for (const [key, assignment] of this.#ready) {
      if (sent.length === MOST_IN_REQUEST) break;
      this.#ready.delete(key);
      if (isValid(assignment, image, brokerId)) sent.push(assignment);
    }
    if (sent.length === 0) return;
    this.#inFlight = true;
    this.#channel.send(
      ASSIGN_REPLICAS_TO_DIRS,
      {
        brokerId,
        brokerEpoch: image.brokers.get(brokerId)?.brokerEpoch ?? -1,
        directories: byDirectory(sent),
      },
      this,
      sent,
    );
  }

  onResponse(response: AssignReplicasToDirsResponse, sent: readonly Assignment[]): void {
    this.#inFlight = false;
    if (response.errorCode !== ERRORS.NONE.code) {
      this.#failed(sent);
      return;
    }
    this.#failures = 0;
    const done = new Set<string>();
    for (const { topics } of response.directories) {
      for (const { topicId, partitions } of topics) {
        for (const { partitionIndex, errorCode } of partitions) {
          if (errorCode === ERRORS.NONE.code) done.add(keyOf(topicId, partitionIndex));
        }
      }
    }
    this.#putBack(sent.filter(({ topicId, index }) => !done.has(keyOf(topicId, index))));
  }

  onDisconnect(sent: readonly Assignment[]): void {
    this.#inFlight = false;
    this.#failed(sent);
  }

  #failed(sent: readonly Assignment[]): void {
    this.#failures++;
    this.#putBack(sent);
  }

  /** What is newer stays. */
  #putBack(assignments: readonly Assignment[]): void {
    for (const assignment of assignments) {
      const key = keyOf(assignment.topicId, assignment.index);
      if (!this.#ready.has(key)) this.#ready.set(key, assignment);
    }
    if (this.#ready.size > 0) this.#schedule();
  }

  /** A wait that runs already is not made longer. */
  #schedule(): void {
    if (this.#timer !== NO_TIMER) return;
    const { timers } = this.#context.world;
    this.#timer = timers.start(this.#pause(), BROKER_TIMER.directoryAssignments);
  }

  #pause(): Duration {
    if (this.#failures > 0) {
      const jitter = this.#context.world.random.between(JITTER_LOW, JITTER_HIGH);
      return exponentialBackoff(LINGER, MAX_BACKOFF, this.#failures, jitter);
    }
    return this.#ready.size > MOST_IN_REQUEST && !this.#inFlight ? 0 : LINGER;
  }
}

function keyOf(topicId: TopicId, index: number): string {
  return `${topicId}/${index}`;
}

/** Is the replica still one of this broker's? */
function isValid(assignment: Assignment, image: MetadataImage, broker: BrokerId): boolean {
  const partition = image.topicById(assignment.topicId)?.partitions[assignment.index];
  return partition?.replicas.includes(broker) === true;
}

function byDirectory(assignments: readonly Assignment[]): readonly AssignedDirectory[] {
  const directories = new Map<Uuid, Map<TopicId, { readonly partitionIndex: number }[]>>();
  for (const { topicId, index, directory } of assignments) {
    const topics = directories.get(directory) ?? new Map<TopicId, { partitionIndex: number }[]>();
    directories.set(directory, topics);
    const partitions = topics.get(topicId) ?? [];
    topics.set(topicId, partitions);
    partitions.push({ partitionIndex: index });
  }
  return [...directories].map(([id, topics]) => ({
    id,
    topics: [...topics].map(([topicId, partitions]) => ({ topicId, partitions })),
  }));
}
