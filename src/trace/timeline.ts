import type { Instant } from "../base/time.ts";
import type { BrokerId, PartitionName } from "../kafka/ids.ts";
import { NO_LEADER } from "../kafka/ids.ts";
import type {
  DiskDisturbed,
  Fact,
  PartitionChanged,
  PartitionsAssigned,
  PartitionsLost,
  PartitionsRevoked,
  TransactionStateChanged,
  ZookeeperRebalanceEnded,
} from "./fact.ts";
import type { FactRecorder } from "./recorder.ts";

/** One line of a run's story. */
export interface TimelineEntry {
  readonly at: Instant;
  readonly event: number;
  /** One word: `crash`, `elect`, `isr`. */
  readonly verb: string;
  readonly text: string;
  /** The scenario's name for the fault, or empty. */
  readonly note: string;
}

interface Registration {
  readonly leader: BrokerId;
  readonly leaderEpoch: number;
  readonly partitionEpoch: number;
  readonly isr: readonly BrokerId[];
}

/** Turns facts into the story of a run: faults, elections, ISRs, truncations, and what was lost. */
export class Timeline {
  readonly #entries: TimelineEntry[] = [];
  readonly #partitions = new Map<string, Registration>();
  /** The unflushed bytes that one power cut took from one node. */
  #loss: { node: string; event: number; bytes: number; files: number; at: number } | undefined;
  /** How which disks have bitten since the last fault: each way is told once. */
  readonly #disturbed = new Set<string>();
  /** The event of the last fault: what it did itself need not be told again. */
  #faultEvent = -1;
  /** Warm-up is not part of the story. */
  #begun = false;
  readonly #controllerName: (id: BrokerId) => string;

  constructor(facts: FactRecorder, controllerName: (id: BrokerId) => string) {
    this.#controllerName = controllerName;
    facts.on("partition-changed", (fact, at, event) => this.#partition(fact, at, event));
    facts.on("unflushed-lost", (fact, at, event) => this.#lost(fact.node, fact.bytes, at, event));
    for (const kind of TOLD) facts.on(kind, (fact, at, event) => this.#tell(fact, at, event));
  }

  /** The scenario's time begins: from here on it is a story. */
  begin(): void {
    this.#begun = true;
  }

  /** In order. */
  entries(): readonly TimelineEntry[] {
    this.#flushLoss();
    return this.#entries;
  }

  #add(at: Instant, event: number, verb: string, text: string, note = ""): void {
    if (this.#loss !== undefined && this.#loss.event !== event) this.#flushLoss();
    if (this.#begun) this.#entries.push({ at, event, verb, text, note });
  }

  #tell(fact: Fact, at: Instant, event: number): void {
    switch (fact.kind) {
      case "fault-begun":
        this.#faultEvent = event;
        this.#disturbed.clear();
        this.#add(at, event, fact.verb, fact.text, fact.name);
        return;
      case "fault-ended":
        this.#faultEvent = event;
        this.#add(at, event, "heal", `${fact.verb} ${fact.text}`, fact.name);
        return;
      case "node-started":
        // At time zero the clients start: that is no news.
        if (event !== this.#faultEvent && at > 0) this.#add(at, event, "start", fact.node);
        return;
      case "node-stopped":
        if (event !== this.#faultEvent) {
          this.#add(at, event, "stop", `${fact.node}: ${fact.reason}`);
        }
        return;
      case "disk-disturbed":
        this.#disturb(fact, at, event);
        return;
      case "controller-elected":
        this.#add(
          at,
          event,
          "elect",
          `${this.#controllerName(fact.controller)}  active controller, epoch ${fact.quorumEpoch}`,
        );
        return;
      case "broker-fenced":
        this.#add(at, event, "fence", `broker-${fact.broker}`);
        return;
      case "broker-unfenced":
        this.#add(at, event, "unfence", `broker-${fact.broker}`);
        return;
      case "truncated":
        this.#add(
          at,
          event,
          "cut",
          `broker-${fact.broker} ${fact.partition}  ${fact.from} -> ${fact.to}  ${fact.reason}`,
        );
        return;
      case "log-start-moved":
        // A follower that does as its leader did is no news.
        if (fact.reason !== "leader") {
          const text = `broker-${fact.broker} ${fact.partition}  ${fact.from} -> ${fact.to}  ${fact.reason}`;
          this.#add(at, event, "expire", text);
        }
        return;
      case "coordinator-loaded":
        this.#add(at, event, "coordinate", `broker-${fact.broker} ${fact.partition}  loaded`);
        return;
      case "group-state-changed":
        this.#add(
          at,
          event,
          "group",
          `${fact.group}  ${fact.from === "" ? "none" : fact.from} -> ${fact.to}  generation ${fact.generation}  ${fact.reason}`,
        );
        return;
      case "group-migrated":
        this.#add(
          at,
          event,
          "group",
          `${fact.group}  follows the ${fact.to} protocol  from generation ${fact.generation} on`,
        );
        return;
      case "group-member-left":
        this.#add(at, event, "group", `${fact.group}  without ${fact.member}: ${fact.reason}`);
        return;
      case "partitions-assigned":
      case "partitions-revoked":
      case "partitions-lost":
        this.#ownership(fact, at, event);
        return;
      case "commit-ended":
        if (fact.outcome !== "committed") {
          const text = `${fact.client}  commit of ${fact.group} ${fact.outcome}: ${fact.error}`;
          this.#add(at, event, "group", text);
        }
        return;
      case "zookeeper-session-ended":
        if (fact.how === "expired") {
          const gone =
            fact.znodes.length > 3 ? `${fact.znodes.length} znodes` : fact.znodes.join(" ");
          this.#add(
            at,
            event,
            "group",
            `zookeeper  session ${fact.session} expired, without ${gone}`,
          );
        }
        return;
      case "zookeeper-rebalance-ended":
        this.#registry(fact, at, event);
        return;
      case "transaction-state-changed":
        this.#transaction(fact, at, event);
        return;
      case "transaction-ended":
        if (fact.error !== "NONE") {
          const text = `${fact.client} ${fact.transactionalId}  transaction ${fact.transaction} ${fact.outcome}: ${fact.error}`;
          this.#add(at, event, "transact", text);
        }
        return;
      case "producer-fenced":
        this.#add(at, event, "transact", `${fact.client} ${fact.transactionalId}  producer fenced`);
        return;
      case "producer-id-rotated": {
        const text = `producer ${fact.from} has no epoch left: goes on as producer ${fact.to}`;
        this.#add(at, event, "transact", `${fact.transactionalId}  ${text}`);
        return;
      }
      case "hanging-transaction-found":
        this.#add(
          at,
          event,
          "transact",
          `${fact.client} ${fact.partition}  producer ${fact.producerId} epoch ${fact.producerEpoch} hangs since offset ${fact.firstOffset}: abort asked for`,
        );
        return;
      case "log-directory-failed":
        this.#add(
          at,
          event,
          "offline",
          `broker-${fact.broker}, log directory ${fact.directory}: ${fact.reason}`,
        );
        return;
      case "log-loaded":
        if (fact.truncatedBytes > 0) {
          this.#add(
            at,
            event,
            "recover",
            `broker-${fact.broker} ${fact.partition}  ${fact.truncatedBytes} torn bytes cut, ends at ${fact.logEndOffset}`,
          );
        }
        return;
      case "offset-told": {
        const offset = fact.offset ?? "none";
        this.#add(at, event, "ask", `${fact.client} ${fact.partition}  ${fact.call}: ${offset}`);
        return;
      }
      case "call-failed": {
        const of = fact.partition === "" ? "" : ` ${fact.partition}`;
        this.#add(at, event, "throw", `${fact.client}${of}  ${fact.call}: ${fact.error}`);
        return;
      }
      case "position-reset":
        if (fact.reason !== "initial" && fact.reason !== "committed") {
          const text = `${fact.client} ${fact.partition}  ${fact.from} -> ${fact.to}  ${fact.reason}`;
          this.#add(at, event, "reset", text);
        }
        return;
      default:
    }
  }

  /** Members that have nothing, and get nothing, are no news. */
  #ownership(
    {
      kind,
      client,
      generation,
      partitions,
    }: PartitionsAssigned | PartitionsRevoked | PartitionsLost,
    at: Instant,
    event: number,
  ): void {
    if (partitions.length === 0) return;
    const verb = kind.slice("partitions-".length);
    const when = generation < 0 ? "" : `, generation ${generation}`;
    this.#add(at, event, "group", `${client}  ${verb} ${listed(partitions)}${when}`);
  }

  /** What a member has got it tells itself. */
  #registry(fact: ZookeeperRebalanceEnded, at: Instant, event: number): void {
    const { attempt, client, outcome, partitions } = fact;
    if (outcome === "owned") return;
    const others = partitions.length === 0 ? "" : `, others have ${listed(partitions)}`;
    this.#add(at, event, "group", `${client}  rebalance ${attempt} ${outcome}${others}`);
  }

  /** What producers ask for is no news: only what happens to them, and what a new coordinator takes over. */
  #transaction(fact: TransactionStateChanged, at: Instant, event: number): void {
    const { transactionalId, broker, from, to, reason } = fact;
    const isForced = to === "PrepareAbort" && reason !== "EndTxn";
    const isTakenOver = from === "" && to.startsWith("Prepare");
    if (!isForced && !isTakenOver && to !== "Dead") return;
    this.#add(at, event, "transact", `${transactionalId}  ${to} by broker-${broker}: ${reason}`);
  }

  #disturb({ node, how, path, position, bytes }: DiskDisturbed, at: Instant, event: number): void {
    const way = `${node} ${how}`;
    if (this.#disturbed.has(way)) return;
    this.#disturbed.add(way);
    const where = position < 0 ? path : `${path} at ${position}`;
    const what = how === "fsync-lie" || how === "fsync-error" ? `, ${bytes} unflushed bytes` : "";
    this.#add(at, event, "disk", `${node}  ${how}: ${where}${what}`);
  }

  #partition(fact: PartitionChanged, at: Instant, event: number): void {
    const before = this.#partitions.get(fact.partition);
    if (before !== undefined && before.partitionEpoch >= fact.partitionEpoch) return;
    this.#partitions.set(fact.partition, fact);
    if (before === undefined) return;
    if (before.leader !== fact.leader || before.leaderEpoch !== fact.leaderEpoch) {
      const unclean = fact.election === "unclean" || fact.election === "last-known";
      this.#add(
        at,
        event,
        "elect",
        `${fact.partition}  ${leader(before.leader)} -> ${leader(fact.leader)}  ` +
          `epoch ${before.leaderEpoch} -> ${fact.leaderEpoch}${unclean ? "  UNCLEAN" : ""}`,
      );
    }
    if (set(before.isr) !== set(fact.isr)) {
      this.#add(at, event, "isr", `${fact.partition}  ${set(before.isr)} -> ${set(fact.isr)}`);
    }
  }

  #lost(node: string, bytes: number, at: Instant, event: number): void {
    if (this.#loss?.node === node && this.#loss.event === event) {
      this.#loss.bytes += bytes;
      this.#loss.files++;
      return;
    }
    this.#flushLoss();
    this.#loss = { node, event, bytes, files: 1, at };
  }

  #flushLoss(): void {
    const loss = this.#loss;
    if (loss === undefined) return;
    this.#loss = undefined;
    const files = loss.files === 1 ? "1 file" : `${loss.files} files`;
    this.#add(
      loss.at,
      loss.event,
      "lose",
      `${loss.node}  ${loss.bytes} unflushed bytes of ${files}`,
    );
  }
}

const TOLD = [
  "fault-begun",
  "fault-ended",
  "node-started",
  "node-stopped",
  "disk-disturbed",
  "controller-elected",
  "broker-fenced",
  "broker-unfenced",
  "truncated",
  "log-start-moved",
  "coordinator-loaded",
  "group-state-changed",
  "group-migrated",
  "group-member-left",
  "partitions-assigned",
  "partitions-revoked",
  "partitions-lost",
  "commit-ended",
  "zookeeper-session-ended",
  "zookeeper-rebalance-ended",
  "transaction-state-changed",
  "transaction-ended",
  "producer-fenced",
  "producer-id-rotated",
  "hanging-transaction-found",
  "log-directory-failed",
  "log-loaded",
  "offset-told",
  "call-failed",
  "position-reset",
] as const;

function listed(partitions: readonly PartitionName[]): string {
  return partitions.length > 6 ? `${partitions.length} partitions` : partitions.join(" ");
}

function leader(id: BrokerId): string {
  return id === NO_LEADER ? "none" : `broker-${id}`;
}

/** `{1,2,3}`: a set, so in order. */
function set(ids: readonly BrokerId[]): string {
  return `{${[...ids].sort((a, b) => a - b).join(",")}}`;
}
