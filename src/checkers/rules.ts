import type { Guarantee } from "./guarantee.ts";

/** A rule that runs are held to, by the name under which the sources of guarantees mention it. */
export interface Rule {
  /** `R13`; for the metadata quorum a name in Kafka's RaftEventSimulationTest, or a ticket. */
  readonly name: string;
  readonly demands: string;
  /** What holds it where facts do not tell: files below the repository's root, each with what it does. */
  readonly elsewhere?: readonly (readonly [file: string, how: string])[];
}

const QUORUM_HARNESS = ["test/support/quorum-harness.ts", "looks after every event"] as const;
const NO_SNAPSHOTS = ["docs/modelled.md", "there are no snapshots of the metadata log"] as const;

/**
 * The invariants of replication, of logs, of what is visible, of compaction and of the quorum, after
 * the TLA+ models of Kafka (hachikuji, Vanlightly), its own simulation test, TigerBeetle and Jepsen.
 */
export const RULES: readonly Rule[] = [
  // What the controller commits.
  { name: "M1", demands: "A partition has one leader in a leader epoch." },
  { name: "M2", demands: "Leader and partition epochs never fall, and rise together." },
  { name: "M3", demands: "ISR and ELR are replicas and share none; who is fenced is in no ISR." },
  { name: "M4", demands: "A leader is in its ISR." },
  { name: "M5", demands: "A clean leader comes from the ISR, or else from the ELR." },
  {
    name: "M6",
    demands:
      "An ISR changes only for a leader that knows both epochs, and lets in only registered lives that are neither fenced nor shutting down.",
  },
  { name: "M7", demands: "What a node has applied is a prefix of what is committed." },
  {
    name: "M8",
    demands: "Broker epochs rise; who is registered can be replaced once its session is over.",
    elsewhere: [["test/unit/kafka/metadata/broker-lifecycle.test.ts", "no fact tells of sessions"]],
  },
  // Replication.
  { name: "R1", demands: "The same offset and leader epoch is the same log up to there." },
  { name: "R2", demands: "All replicas hold the same below their high watermarks." },
  { name: "R3", demands: "What is below a leader's high watermark is on all of the ISR." },
  { name: "R4", demands: "Whoever may be elected has all that is committed." },
  { name: "R5", demands: "Whoever is elected has all that is committed or acknowledged." },
  { name: "R6", demands: "A leader counts in whoever may be elected." },
  { name: "R7", demands: "The high watermark waits for the ISR, and for min.insync.replicas." },
  { name: "R8", demands: "Who joins the ISR has caught up in this leader epoch." },
  { name: "R9", demands: "Nothing committed is cut off." },
  { name: "R10", demands: "What is committed only grows." },
  { name: "R11", demands: "acks=all is answered below the high watermark." },
  { name: "R12", demands: "What is acknowledged is on some replica." },
  { name: "R13", demands: "A replica never fetches from below what it has told its leader." },
  { name: "R14", demands: "Fetches are served and applied in the leader epoch they were made in." },
  { name: "R15", demands: "A leader fetches from nobody, a follower from its leader." },
  // Logs, and what is visible of them.
  { name: "L1", demands: "A log's start, high watermark and end are in order, its offsets too." },
  {
    name: "L2",
    demands: "Leader epochs never fall along a log, and the epoch cache tells where each begins.",
    elsewhere: [
      [
        "test/guarantees/log-against-model.campaign.test.ts",
        "the cache of real logs, which no fact tells of, against a model, through every kind of stop",
      ],
    ],
  },
  { name: "L3", demands: "The last stable offset is where the first open transaction begins." },
  {
    name: "V1",
    demands: "Readers get what is below the high watermark, or the last stable offset.",
  },
  { name: "V2", demands: "What was read stays." },
  { name: "V3", demands: "Readers get all that stands there, from their position on." },
  { name: "V4", demands: "Aborted records are not given to who reads committed ones." },
  { name: "V5", demands: "A log's end is not told too low." },
  // Compaction and retention.
  { name: "K1", demands: "Compaction stays below the high watermark." },
  { name: "K2", demands: "Compaction keeps the last value of each key." },
  { name: "K3", demands: "A marker outlives what it ended." },
  { name: "K4", demands: "What compaction leaves keeps its place." },
  { name: "K5", demands: "Retention takes only what is below the log's start." },
  // Idempotence and transactions.
  { name: "P1", demands: "A producer's sequences follow one another within an epoch." },
  { name: "P2", demands: "No sequence, and no record, stands twice." },
  { name: "P3", demands: "What is acknowledged is where it is said to be, and not aborted." },
  {
    name: "P4",
    demands: "What is known of producers and transactions is what the log adds up to.",
    elsewhere: [
      [
        "test/unit/kafka/log/producer-state.test.ts",
        "no fact tells what a partition knows of its producers",
      ],
      [
        "test/unit/storage/transactions.test.ts",
        "nor of their transactions, after a load or a cut",
      ],
    ],
  },
  { name: "T1", demands: "The end of a transaction is decided once." },
  { name: "T2", demands: "A transaction ends in all its partitions alike." },
  { name: "T3", demands: "A record is in the transaction that its producer meant." },
  { name: "T4", demands: "Applications are told what was decided." },
  { name: "T5", demands: "Who was fenced writes nothing more." },
  { name: "T6", demands: "No two processes have the same producer id and epoch." },
  { name: "T7", demands: "What is read and written is worked on as often as was promised." },
  // The metadata quorum.
  { name: "MonotonicEpoch", demands: "Quorum epochs rise.", elsewhere: [QUORUM_HARNESS] },
  { name: "SingleLeader", demands: "A quorum epoch has one leader." },
  {
    name: "MonotonicHighWatermark",
    demands: "What a member holds for committed only grows.",
    elsewhere: [QUORUM_HARNESS],
  },
  {
    name: "MajorityReachedHighWatermark",
    demands:
      "What is committed is on a majority and in every later leader's log (LeaderHasAllAckedValues, AckedValueNotLost).",
  },
  { name: "ConsistentCommittedData", demands: "Members agree on what is committed." },
  { name: "KAFKA-12460", demands: "No member cuts off what it holds for committed." },
  {
    name: "NoIllegalState",
    demands: "No member is in a state that cannot be.",
    elsewhere: [
      ["src/nodes/quorum/quorum-client.ts", "its invariants end the run"],
      QUORUM_HARNESS,
    ],
  },
  {
    name: "SnapshotAtLogStart",
    demands: "A log that does not begin at 0 has a snapshot of what is missing.",
    elsewhere: [NO_SNAPSHOTS],
  },
  {
    name: "LeaderNeverLoadSnapshot",
    demands: "A leader never loads a snapshot.",
    elsewhere: [NO_SNAPSHOTS],
  },
];

/** Names of those of `guarantees` whose source mentions the rule. */
export function watchersOf({ name }: Rule, guarantees: readonly Guarantee[]): readonly string[] {
  const mention = new RegExp(`(^|[^A-Za-z0-9-])${name}($|[^A-Za-z0-9])`);
  return guarantees.filter(({ source }) => mention.test(source)).map((one) => one.name);
}
