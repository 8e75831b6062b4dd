import type { RetoldHistory } from "./client-op.ts";

const NO_OFFSET = "Kafka's producer is told no offset of what may or may not be written";
const READS_AND_WRITES =
  "an application that reads and writes in one transaction; readers of committed records see to it that there is no such cycle";
const NO_TRANSACTION_AROUND = "what is handed over counts, whatever becomes of a transaction";
const PRODUCERS_ARE_NOT_ASSIGNED = "what a consumer is assigned has no bearing on a producer";
const REAL_TIME = "Jepsen lets writes that real time contradicts pass, as G0-realtime";
const FROM_THE_BEGINNING =
  "the reader said that it begins at 0; theirs says nothing of a first read";

/** The keys that a consumer has from then on. */
const KEPT = "assign x y";
const GIVEN_UP = "assign y";

/** Polls that leave out 3, which another polls, and 6, which is acknowledged to another; 5 may not exist. */
function skippingPolls(assign?: string): string[] {
  return [
    "0 0-1 ok poll x:1=a,2=b",
    "1 2-3 ok poll x:3=c",
    ...(assign === undefined ? [] : [`0 4-5 ok ${assign}`]),
    "0 6-7 ok poll x:4=d",
    ...(assign === undefined ? [] : [`0 8-9 ok ${assign}`]),
    "2 10-11 ok send x:f@6",
    "0 12-13 ok poll x:7=g",
    "3 14-15 info send x:a x:b x:c x:d x:g",
  ];
}

/** 1 to 3, and then from 2 on again. */
function polledAgain(assign?: string): string[] {
  return [
    "0 0-1 ok send x:a x:b x:c x:d",
    "0 2-3 ok poll x:1=a,2=b,3=c",
    ...(assign === undefined ? [] : [`0 4-5 ok ${assign}`]),
    "0 6-7 ok poll x:2=b,3=c,4=d",
  ];
}

/** To 3 and 4, and then to 1 and 2. */
function sentBackwards(assign?: string): string[] {
  return [
    "0 0-1 ok send x:c@3 x:d@4",
    ...(assign === undefined ? [] : [`0 2-3 ok ${assign}`]),
    "0 10-11 ok send x:a@1 x:b@2",
  ];
}

/** Six records, of which process 1 has polled the first. */
const SIX_SENT = ["0 0-1 ok send x:0@0 x:1@1 x:2@2 x:3@3 x:4@4 x:5@5", "1 1-2 ok poll x:0=0"];

const FIRST_INFO = ["0 0-1 info send x:1@0 y:1", "1 2-3 ok send x:2@0"];

const TORN = ["0 0-1 info send x:a y:b@0", "1 2-3 info send y:c"];
const READS_Y = "3 6-7 ok poll y:1=c";

/** Ten values, each of which is sent to 0 and polled at 1. */
const TEN_AT_TWO_PLACES = Array.from({ length: 10 }, (_, i) => [
  `0 ${4 * i}-${4 * i + 1} ok send x:${i}@0`,
  `1 ${4 * i + 2}-${4 * i + 3} ok poll x:1=${i}`,
]).flat();

/**
 * The histories of Jepsen's own tests of its checker for Kafka (jepsen-io/jepsen, kafka_test.clj),
 * retold: what was done, and what is to be found. Left out are those of its inner functions, of its
 * generator, and of the realtime lag (test/unit/trace/known-offsets.test.ts).
 */
export const JEPSEN_HISTORIES: readonly RetoldHistory[] = [
  {
    name: "version orders: a send that crashed, but told offsets, conflicts with a read",
    ops: ["0 0-1 ok poll x:0=a,1=b", "1 2-3 info send x:c@1 x:b@3 x:d@4"],
    theirs: ["inconsistent-offsets"],
    notOurs: {
      "inconsistent-offsets": "Kafka's producer tells no offset of a send that it gave up",
    },
  },
  {
    name: "version orders: two sends acknowledged at one offset",
    ops: ["0 280-280 ok send x:641@537", "1 283-287 ok send x:645@537"],
    theirs: ["inconsistent-offsets"],
    onlyOurs: { "append-behind-known": REAL_TIME },
  },
  {
    name: "inconsistent offsets: a send that crashed may not have been written",
    ops: FIRST_INFO,
    theirs: [],
  },
  {
    name: "inconsistent offsets: another of the sends of its transaction was read",
    ops: [...FIRST_INFO, "2 4-5 ok poll y:5=1"],
    theirs: ["inconsistent-offsets"],
    notOurs: { "inconsistent-offsets": NO_OFFSET },
  },
  {
    name: "G1a: a send that failed is read",
    ops: ["0 0-1 fail send x:2 y:3", "1 2-3 ok poll x:0=2"],
    theirs: ["G1a"],
  },
  {
    name: "G1a: the same in a transaction that was aborted",
    inTransactions: true,
    ops: ["0 0-1 fail send x:2 y:3", "1 2-3 ok poll x:0=2"],
    theirs: ["G1a"],
    onlyOurs: {
      "aborted-write-read": "what is told of the send, and what is told of its transaction",
    },
  },
  {
    name: "lost write: of a committed transaction one record is read, and another is read past",
    inTransactions: true,
    begins: "earliest",
    ops: [
      "0 0-1 ok send x:a@0 y:b@0",
      "1 2-3 ok send y:c@1",
      "2 4-5 ok poll x:0=a",
      "3 6-7 ok poll y:1=c",
    ],
    theirs: ["lost-write"],
    onlyOurs: {
      "poll-skipped": FROM_THE_BEGINNING,
      "transaction-torn": "what theirs takes for a lost write, by its transaction",
    },
  },
  {
    name: "lost write: a read at 2 says that 0 and 1 should have been read, but not 3",
    begins: "earliest",
    ops: [
      "0 0-1 ok send x:a@0",
      "0 2-3 ok send x:b@1 x:d@3",
      "1 4-5 info send x:c",
      "0 6-7 ok poll x:2=c",
    ],
    theirs: ["lost-write"],
    onlyOurs: { "poll-skipped": FROM_THE_BEGINNING, "append-behind-known": REAL_TIME },
  },
  {
    name: "lost write: it was overwritten",
    begins: "earliest",
    ops: ["0 0-1 ok send x:a@0", "0 2-3 ok send x:b@0 x:c@2", "0 4-5 ok poll x:0=b,2=c"],
    theirs: ["lost-write", "inconsistent-offsets"],
    onlyOurs: {
      "acks-out-of-order":
        "theirs orders by index, in which one of two values at an offset is dropped",
      "append-behind-known": REAL_TIME,
    },
  },
  {
    name: "lost write: what crashed need not have been written",
    begins: "earliest",
    ops: [...TORN, READS_Y],
    theirs: [],
  },
  {
    name: "lost write: what crashed was written, as another of its transaction was read",
    begins: "earliest",
    ops: [...TORN, "2 4-5 ok poll x:0=a", READS_Y],
    theirs: ["lost-write"],
    notOurs: { "lost-write": NO_OFFSET },
  },
  {
    name: "poll skip",
    ops: skippingPolls(),
    theirs: ["poll-skip", "lost-write"],
  },
  {
    name: "poll skip, in spite of an assignment that keeps the key",
    ops: skippingPolls(KEPT),
    theirs: ["poll-skip", "lost-write"],
  },
  {
    name: "poll skip: none, as the key was given up between the polls",
    ops: skippingPolls(GIVEN_UP),
    theirs: ["lost-write"],
    notOurs: {
      "lost-write": "nobody has read past it in one go: a consumer may begin where it likes",
    },
  },
  {
    name: "poll skip: none, as polls in transactions that did not commit are taken back",
    ops: [
      "0 0-1 ok send x:0@0 x:1@1 x:2@2",
      "1 1-2 ok poll x:0=0",
      "1 3-4 fail poll x:1=1,2=2",
      "1 5-6 info poll x:1=1,2=2",
      "1 7-8 ok poll x:1=1,2=2",
    ],
    theirs: [],
  },
  {
    name: "poll skip: polls that were taken back go on as if they were not",
    ops: [
      ...SIX_SENT,
      "1 3-4 fail poll x:1=1,2=2",
      "1 5-6 fail poll x:3=3,4=4",
      "1 7-8 ok poll x:5=5",
    ],
    theirs: ["poll-skip"],
  },
  {
    name: "poll skip: by a poll of which nobody knows how it ended",
    ops: [...SIX_SENT, "1 3-4 fail poll x:1=1,2=2", "1 5-6 info poll x:3=3,4=4"],
    theirs: ["poll-skip"],
  },
  { name: "nonmonotonic poll", ops: polledAgain(), theirs: ["nonmonotonic-poll"] },
  {
    name: "nonmonotonic poll, in spite of an assignment that keeps the key",
    ops: polledAgain(KEPT),
    theirs: ["nonmonotonic-poll"],
  },
  {
    name: "nonmonotonic poll: none, as the key was given up between the polls",
    ops: polledAgain(GIVEN_UP),
    theirs: [],
  },
  {
    name: "nonmonotonic send",
    ops: sentBackwards(),
    theirs: ["nonmonotonic-send"],
    onlyOurs: { "append-behind-known": REAL_TIME },
  },
  {
    name: "nonmonotonic send, in spite of an assignment that keeps the key",
    ops: sentBackwards(KEPT),
    theirs: ["nonmonotonic-send"],
    onlyOurs: { "append-behind-known": REAL_TIME },
  },
  {
    name: "nonmonotonic send: as the key was given up between the sends, theirs looks away",
    ops: sentBackwards(GIVEN_UP),
    theirs: [],
    onlyOurs: {
      "acks-out-of-order": PRODUCERS_ARE_NOT_ASSIGNED,
      "append-behind-known": REAL_TIME,
    },
  },
  {
    name: "internal poll skip: within a poll, and from one to the next of the same op",
    ops: [
      "1 0-1 info send x:a x:b x:d",
      "0 2-3 ok poll x:1=a,4=d",
      "0 4-5 ok poll x:1=a poll x:4=d",
      "0 6-7 ok poll x:2=b",
    ],
    // Its test does not ask: each of the later polls also begins before the last one's end.
    theirs: ["int-poll-skip", "nonmonotonic-poll"],
  },
  {
    name: "internal send skip: another's record between two of one op",
    begins: "earliest",
    ops: ["0 0-1 ok send x:a@1 x:c", "1 2-3 info send x:b", "2 4-5 ok poll x:2=b,3=c"],
    theirs: ["int-send-skip", "lost-write"],
    notOurs: {
      "int-send-skip": "always allowed: nobody has a log to himself; theirs allows it, too",
    },
    onlyOurs: { "poll-skipped": FROM_THE_BEGINNING },
  },
  {
    name: "internal nonmonotonic poll: backwards within a poll, and the same again in the next",
    ops: [
      "0 0-1 info send x:a x:b x:c",
      "0 2-3 ok poll x:3=c,1=a",
      "0 4-5 ok poll x:2=b,3=c poll x:3=c",
    ],
    theirs: ["int-nonmonotonic-poll"],
  },
  {
    name: "internal nonmonotonic send: as the offsets say that were told",
    ops: ["0 0-1 ok send x:c@3 x:a@1"],
    theirs: ["int-nonmonotonic-send"],
  },
  {
    name: "internal nonmonotonic send: as only a poll shows",
    ops: ["0 2-3 info send y:d y:b", "1 4-5 info send y:c", "0 6-7 ok poll y:2=b,3=c,4=d"],
    theirs: ["int-nonmonotonic-send"],
  },
  {
    name: "duplicate: told of at 1, and polled at 3",
    ops: ["0 0-1 ok send x:a@1", "1 2-3 info send x:b", "2 4-5 ok poll x:2=b,3=a"],
    theirs: ["duplicate"],
  },
  {
    name: "duplicate: many at the same two offsets",
    ops: TEN_AT_TWO_PLACES,
    theirs: ["duplicate", "inconsistent-offsets"],
    onlyOurs: {
      "poll-went-back":
        "theirs compares values by their place in the order, which ten of them share",
      "acks-out-of-order": "as above",
      "append-behind-known": REAL_TIME,
    },
  },
  {
    name: "duplicate: seen by a poll whose transaction failed, of one record that did not",
    ops: ["0 0-1 ok send x:0@1", "0 2-3 fail send x:1@2", "1 4-5 fail poll x:11=0,12=1"],
    theirs: ["duplicate"],
    onlyOurs: { "failed-record-read": NO_TRANSACTION_AROUND },
  },
  {
    name: "unseen: one of two that were acknowledged",
    settles: true,
    ops: ["0 0-1 ok poll", "0 2-3 ok send x:a@0 x:b@1", "0 4-5 ok poll x:0=a"],
    theirs: ["unseen"],
  },
  {
    name: "unseen: none, in the end",
    settles: true,
    ops: [
      "0 0-1 ok poll",
      "0 2-3 ok send x:a@0 x:b@1",
      "0 4-5 ok poll x:0=a",
      "0 6-7 ok poll x:1=b",
    ],
    theirs: [],
  },
  {
    name: "G0: two transactions write two keys in opposite orders",
    ops: ["0 0-2 ok send x:a@0 y:a@1", "1 1-3 ok send x:b@1 y:b@0"],
    theirs: ["G0"],
    notOurs: { G0: "writes of transactions are not kept apart; theirs allows it always" },
  },
  {
    name: "G1c: each of two transactions reads what the other writes",
    ops: ["0 0-2 ok send x:a@0 poll y:0=b", "1 1-3 ok send y:b@0 poll x:0=a"],
    theirs: ["G1c"],
    notOurs: { G1c: READS_AND_WRITES },
  },
  {
    name: "G1c: one transaction reads what the other writes, and writes before it",
    ops: ["0 0-2 ok send x:a@0 y:c@2", "1 1-3 ok poll x:0=a send y:b@1"],
    theirs: ["G1c"],
    notOurs: { G1c: READS_AND_WRITES },
  },
  {
    name: "precommitted read: a transaction reads its own write",
    ops: ["0 0-1 ok send x:a@0 poll x:0=a"],
    theirs: ["precommitted-read"],
    notOurs: { "precommitted-read": "an application that reads and writes in one transaction" },
  },
];
