import type { Duration, Instant } from "../base/time.ts";
import { SECOND } from "../base/time.ts";
import type { Offset } from "../kafka/ids.ts";
import { isReadCommitted } from "./check-setup.ts";
import type { ClientSends, SendsPart } from "./client-sends.ts";
import { ACKED } from "./client-sends.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";
import { stallBound } from "./liveness-bounds.ts";
import type { ObservedPartition } from "./observed-partition.ts";
import { SEEN_READ } from "./observed-partition.ts";
import type { PartitionGhost } from "./partition-ghost.ts";
import { recordId } from "./record-id.ts";
import { RecordRun } from "./record-run.ts";
import { relianceWaiver } from "./waivers/stuck-waiver.ts";
import { unverifiedWaiver } from "./waivers/transaction-waiver.ts";
import { vanishedRecord } from "./waivers/vanished-record.ts";
import type { Judgement, Waiver } from "./waivers/waiver.ts";

export const ACKED_GETS_READ: Guarantee = {
  name: "acked-gets-read",
  sentence:
    "What was acknowledged is read by whoever reads past it; and when nothing is left to heal, by whoever reads on.",
  source: "Jepsen's lost-write and unseen",
  kinds: ["acked-record-passed", "acked-record-unseen"],
  condition:
    "By what clients saw alone, at the end; not of compacted topics, nor of what has expired; with isolation.level=read_committed, nor of what transactions brought: it may have been aborted. Unseen only if the scenario has settled for half a minute, by consumers that do not work on what they read, of a group by the partition's owner, and only what is below the high watermark. Permitted: as for no-acked-loss; if faults stay with a leader or an active controller that is relied on; and behind a transaction that hangs, as for transactions-end.",
  testedBy: "acknowledged records that a consumer has passed, or had before it",
  example: [
    "acked-record-passed   orders-0   at 60.000s, event 41200",
    "  7 records of p1, at offsets 412..418, were acknowledged, and c1 has read past them, but nobody has read them.",
  ],
  create: (context) => new AckedGetsRead(context),
};

/** Consumers have caught up by then, if all is healed. */
const SETTLED = 30 * SECOND;

/** Records of one client that nobody has read, for one reason. */
interface Lack {
  readonly partition: ObservedPartition;
  readonly how: "passed" | "unseen";
  readonly run: RecordRun;
  readonly judged: Judgement | undefined;
}

class AckedGetsRead implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;
  #settledAt: Instant | undefined = undefined;

  constructor(context: CheckContext) {
    this.#context = context;
    context.facts.on("fault-begun", ({ verb }, at) => {
      if (verb === "settle") this.#settledAt = at;
    });
  }

  atEnd(at: Instant, event: number): void {
    const isSettled = this.#settledAt !== undefined && at - this.#settledAt >= this.#patience();
    for (const client of this.#context.history.clients.values()) {
      const lacks = new Map<string, Lack>();
      for (const part of client.parts()) this.#look(client, part, isSettled, lacks, event);
      for (const lack of lacks.values()) this.violations.push(describe(client, lack, at, event));
    }
  }

  /** How long consumers may take to catch up. */
  #patience(): Duration {
    const { liveness, setup } = this.#context;
    if (!liveness.isPartial) return SETTLED;
    const bounds = [...setup.consumers.values()].map(({ configs }) => stallBound(configs, true));
    return Math.max(SETTLED, ...bounds);
  }

  #look(
    client: ClientSends,
    part: SendsPart,
    isSettled: boolean,
    lacks: Map<string, Lack>,
    event: number,
  ): void {
    const { history, expiry } = this.#context;
    for (let i = 0; i < part.count; i++) {
      const ghost = part.partitions[i];
      const offset = part.offsets[i] as number;
      if (ghost === undefined || part.outcomes[i] !== ACKED || offset < 0) continue;
      if (ghost.tree.keys !== undefined || offset < expiry.permitted(ghost)) continue;
      this.evaluations++;
      const partition = history.partitions[ghost.index] as ObservedPartition;
      const id = recordId(client.address, part.first + i);
      // A tombstone that was read does not tell which it is.
      const isReadThere =
        partition.at(offset) === id && ((partition.seen[offset] as number) & SEEN_READ) !== 0;
      if (part.reads[i] !== 0 || isReadThere) {
        this.interesting++;
        continue;
      }
      const how = this.#howLacking(partition, offset, isSettled);
      if (how === undefined || this.#mayBeAborted(ghost, offset)) continue;
      this.interesting++;
      const judged =
        vanishedRecord(this.#context, ghost, [[id, offset]], event) ??
        (how === "unseen" ? this.#heldUp(ghost) : undefined);
      const key = `${ghost.index} ${how} ${judged?.waiver?.text ?? ""}`;
      const lack = lacks.get(key) ?? { partition, how, run: new RecordRun(), judged };
      lacks.set(key, lack);
      lack.run.add(offset, offset, 1);
    }
  }

  /** Should somebody have read there? */
  #howLacking(
    { ghost, readers }: ObservedPartition,
    offset: Offset,
    isSettled: boolean,
  ): Lack["how"] | undefined {
    if (readers.some((reader) => reader.hasPassed(offset))) return "passed";
    const isCommitted = ghost.canon.count === 0 || offset < ghost.trueHighWatermark;
    if (!isSettled || !isCommitted) return undefined;
    const isAwaited = readers.some(({ client, position }) => {
      return position >= 0 && position <= offset && this.#readsOn(client, ghost);
    });
    return isAwaited ? "unseen" : undefined;
  }

  /** A member that has given the partition up does not (see group-settles), and who works comes to it when he can. */
  #readsOn(client: string, { name }: PartitionGhost): boolean {
    const { groups, setup } = this.#context;
    if (setup.working.has(client)) return false;
    return !setup.members.has(client) || groups.clients.get(client)?.owned.has(name) === true;
  }

  /** Some readers leave out what was aborted, and what comes of a transaction others judge. */
  #mayBeAborted(ghost: PartitionGhost, offset: Offset): boolean {
    return ghost.isTransactionalAt(offset) && isReadCommitted(this.#context.setup);
  }

  /** Nobody can read from a leader that only the controller hears, nor committed records behind what hangs. */
  #heldUp(ghost: PartitionGhost): Judgement | undefined {
    const waiver = relianceWaiver(this.#context, ghost) ?? this.#hanging(ghost);
    return waiver && { waiver, cause: waiver.cause };
  }

  /** A transaction that no coordinator will end, for a reason that transactions-end permits. */
  #hanging(ghost: PartitionGhost): Waiver | undefined {
    const { setup, transactions } = this.#context;
    if (setup.features["transaction.version"] >= 2) return undefined;
    const text = unverifiedWaiver(setup);
    const [first] = transactions?.parts.openIn(ghost)?.all().next().value ?? [];
    return first && text !== undefined ? { text, cause: first.event } : undefined;
  }
}

function describe(client: ClientSends, lack: Lack, at: Instant, event: number): Violation {
  const { partition, how, run, judged } = lack;
  const { ghost, readers } = partition;
  const were = run.count === 1 ? "was" : "were";
  const them = run.count === 1 ? "it" : "them";
  const passer = readers.find((reader) => reader.hasPassed(run.first))?.client ?? "a consumer";
  const rest =
    how === "passed"
      ? `and ${passer} has read past ${them}, but nobody has read ${them}`
      : `but nobody has read ${them}`;
  return violationOf(ACKED_GETS_READ, {
    kind: `acked-record-${how}`,
    partition: ghost.name,
    client: client.name,
    at,
    event,
    text: [`${run.size} of ${client.name}, at ${run.text}, ${were} acknowledged, ${rest}.`],
    offsets: run.offsets,
    count: run.count,
    permitted: judged?.waiver?.text,
    cause: judged?.cause,
  });
}
