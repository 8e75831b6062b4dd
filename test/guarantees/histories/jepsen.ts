import type { ClientOp, RetoldHistory } from "./client-op.ts";

const TRANSACTIONS = "one send says nothing of another: transactions come with their issue";
const CYCLES = "a cycle of transactions: they come with their issue";
const NO_TRANSACTION_AROUND = "what is handed over counts, whatever becomes of a transaction";
const PRODUCERS_ARE_NOT_ASSIGNED = "what a consumer is assigned has no bearing on a producer";
const REAL_TIME = "Jepsen lets writes that real time contradicts pass, as G0-realtime";
const FROM_THE_BEGINNING =
  "the reader said that it begins at 0; theirs says nothing of a first read";

const ASSIGNMENTS = {
  "x is kept": ["x", "y"],
  "x is given up": ["y"],
} as const;

/** Polls that leave out 3, which another polls, and 6, which is acknowledged to another; 5 may not exist. */
function skippingPolls(assigned: readonly string[] | undefined): ClientOp[] {
  const assign = (at: number): ClientOp[] =>
    assigned === undefined ? [] : [{ at: [at, at + 1], by: 0, ends: "ok", assigns: assigned }];
  return [
    {
      at: [0, 1],
      by: 0,
      ends: "ok",
      polls: [
        {
          x: [
            [1, "a"],
            [2, "b"],
          ],
        },
      ],
    },
    { at: [2, 3], by: 1, ends: "ok", polls: [{ x: [[3, "c"]] }] },
    ...assign(4),
    { at: [6, 7], by: 0, ends: "ok", polls: [{ x: [[4, "d"]] }] },
    ...assign(8),
    { at: [10, 11], by: 2, ends: "ok", sends: [["x", "f", 6]] },
    { at: [12, 13], by: 0, ends: "ok", polls: [{ x: [[7, "g"]] }] },
    {
      at: [14, 15],
      by: 3,
      ends: "info",
      sends: [
        ["x", "a"],
        ["x", "b"],
        ["x", "c"],
        ["x", "d"],
        ["x", "g"],
      ],
    },
  ];
}

/** 1 to 3, and then from 2 on again. */
function polledAgain(assigned: readonly string[] | undefined): ClientOp[] {
  return [
    {
      at: [0, 1],
      by: 0,
      ends: "ok",
      sends: [
        ["x", "a"],
        ["x", "b"],
        ["x", "c"],
        ["x", "d"],
      ],
    },
    {
      at: [2, 3],
      by: 0,
      ends: "ok",
      polls: [
        {
          x: [
            [1, "a"],
            [2, "b"],
            [3, "c"],
          ],
        },
      ],
    },
    ...(assigned === undefined
      ? []
      : [{ at: [4, 5], by: 0, ends: "ok", assigns: assigned } as const]),
    {
      at: [6, 7],
      by: 0,
      ends: "ok",
      polls: [
        {
          x: [
            [2, "b"],
            [3, "c"],
            [4, "d"],
          ],
        },
      ],
    },
  ];
}

/** To 3 and 4, and then to 1 and 2. */
function sentBackwards(assigned: readonly string[] | undefined): ClientOp[] {
  return [
    {
      at: [0, 1],
      by: 0,
      ends: "ok",
      sends: [
        ["x", "c", 3],
        ["x", "d", 4],
      ],
    },
    ...(assigned === undefined
      ? []
      : [{ at: [2, 3], by: 0, ends: "ok", assigns: assigned } as const]),
    {
      at: [10, 11],
      by: 0,
      ends: "ok",
      sends: [
        ["x", "a", 1],
        ["x", "b", 2],
      ],
    },
  ];
}

/** Six records, of which process 1 has polled the first. */
const SIX_SENT: readonly ClientOp[] = [
  {
    at: [0, 1],
    by: 0,
    ends: "ok",
    sends: [
      ["x", "0", 0],
      ["x", "1", 1],
      ["x", "2", 2],
      ["x", "3", 3],
      ["x", "4", 4],
      ["x", "5", 5],
    ],
  },
  { at: [1, 2], by: 1, ends: "ok", polls: [{ x: [[0, "0"]] }] },
];

const FIRST_INFO: readonly ClientOp[] = [
  {
    at: [0, 1],
    by: 0,
    ends: "info",
    sends: [
      ["x", "1", 0],
      ["y", "1"],
    ],
  },
  { at: [2, 3], by: 1, ends: "ok", sends: [["x", "2", 0]] },
];

const TORN: readonly ClientOp[] = [
  {
    at: [0, 1],
    by: 0,
    ends: "info",
    sends: [
      ["x", "a"],
      ["y", "b", 0],
    ],
  },
  { at: [2, 3], by: 1, ends: "info", sends: [["y", "c"]] },
];
const READS_Y: ClientOp = { at: [6, 7], by: 3, ends: "ok", polls: [{ y: [[1, "c"]] }] };

/** Ten values, each of which is sent to 0 and polled at 1. */
const TEN_AT_TWO_PLACES: readonly ClientOp[] = Array.from({ length: 10 }, (_, i) => {
  const value = String(i);
  return [
    { at: [4 * i, 4 * i + 1], by: 0, ends: "ok", sends: [["x", value, 0]] },
    { at: [4 * i + 2, 4 * i + 3], by: 1, ends: "ok", polls: [{ x: [[1, value]] }] },
  ] as const;
}).flat();

/**
 * The histories of Jepsen's own tests of its checker for Kafka (jepsen-io/jepsen, kafka_test.clj),
 * retold: what was done, and what is to be found. Left out are those of its inner functions, of its
 * generator, and of the realtime lag (see realtime-lag.test.ts).
 */
export const JEPSEN_HISTORIES: readonly RetoldHistory[] = [
  {
    name: "version orders: a send that crashed, but told offsets, conflicts with a read",
    ops: [
      {
        at: [0, 1],
        by: 0,
        ends: "ok",
        polls: [
          {
            x: [
              [0, "a"],
              [1, "b"],
            ],
          },
        ],
      },
      {
        at: [2, 3],
        by: 1,
        ends: "info",
        sends: [
          ["x", "c", 1],
          ["x", "b", 3],
          ["x", "d", 4],
        ],
      },
    ],
    theirs: ["inconsistent-offsets"],
    notOurs: {
      "inconsistent-offsets": "Kafka's producer tells no offset of a send that it gave up",
    },
  },
  {
    name: "version orders: two sends acknowledged at one offset",
    ops: [
      { at: [280, 280], by: 0, ends: "ok", sends: [["x", "641", 537]] },
      { at: [283, 287], by: 1, ends: "ok", sends: [["x", "645", 537]] },
    ],
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
    ops: [...FIRST_INFO, { at: [4, 5], by: 2, ends: "ok", polls: [{ y: [[5, "1"]] }] }],
    theirs: ["inconsistent-offsets"],
    notOurs: { "inconsistent-offsets": TRANSACTIONS },
  },
  {
    name: "G1a: a send that failed is read",
    ops: [
      {
        at: [0, 1],
        by: 0,
        ends: "fail",
        sends: [
          ["x", "2"],
          ["y", "3"],
        ],
      },
      { at: [2, 3], by: 1, ends: "ok", polls: [{ x: [[0, "2"]] }] },
    ],
    theirs: ["G1a"],
  },
  {
    name: "lost write: a read at 2 says that 0 and 1 should have been read, but not 3",
    begins: "earliest",
    ops: [
      { at: [0, 1], by: 0, ends: "ok", sends: [["x", "a", 0]] },
      {
        at: [2, 3],
        by: 0,
        ends: "ok",
        sends: [
          ["x", "b", 1],
          ["x", "d", 3],
        ],
      },
      { at: [4, 5], by: 1, ends: "info", sends: [["x", "c"]] },
      { at: [6, 7], by: 0, ends: "ok", polls: [{ x: [[2, "c"]] }] },
    ],
    theirs: ["lost-write"],
    onlyOurs: { "poll-skipped": FROM_THE_BEGINNING, "append-behind-known": REAL_TIME },
  },
  {
    name: "lost write: it was overwritten",
    begins: "earliest",
    ops: [
      { at: [0, 1], by: 0, ends: "ok", sends: [["x", "a", 0]] },
      {
        at: [2, 3],
        by: 0,
        ends: "ok",
        sends: [
          ["x", "b", 0],
          ["x", "c", 2],
        ],
      },
      {
        at: [4, 5],
        by: 0,
        ends: "ok",
        polls: [
          {
            x: [
              [0, "b"],
              [2, "c"],
            ],
          },
        ],
      },
    ],
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
    ops: [...TORN, { at: [4, 5], by: 2, ends: "ok", polls: [{ x: [[0, "a"]] }] }, READS_Y],
    theirs: ["lost-write"],
    notOurs: { "lost-write": TRANSACTIONS },
  },
  {
    name: "poll skip",
    ops: skippingPolls(undefined),
    theirs: ["poll-skip", "lost-write"],
  },
  {
    name: "poll skip, in spite of an assignment that keeps the key",
    ops: skippingPolls(ASSIGNMENTS["x is kept"]),
    theirs: ["poll-skip", "lost-write"],
  },
  {
    name: "poll skip: none, as the key was given up between the polls",
    ops: skippingPolls(ASSIGNMENTS["x is given up"]),
    theirs: ["lost-write"],
    notOurs: {
      "lost-write": "nobody has read past it in one go: a consumer may begin where it likes",
    },
  },
  {
    name: "poll skip: none, as polls in transactions that did not commit are taken back",
    ops: [
      {
        at: [0, 1],
        by: 0,
        ends: "ok",
        sends: [
          ["x", "0", 0],
          ["x", "1", 1],
          ["x", "2", 2],
        ],
      },
      { at: [1, 2], by: 1, ends: "ok", polls: [{ x: [[0, "0"]] }] },
      {
        at: [3, 4],
        by: 1,
        ends: "fail",
        polls: [
          {
            x: [
              [1, "1"],
              [2, "2"],
            ],
          },
        ],
      },
      {
        at: [5, 6],
        by: 1,
        ends: "info",
        polls: [
          {
            x: [
              [1, "1"],
              [2, "2"],
            ],
          },
        ],
      },
      {
        at: [7, 8],
        by: 1,
        ends: "ok",
        polls: [
          {
            x: [
              [1, "1"],
              [2, "2"],
            ],
          },
        ],
      },
    ],
    theirs: [],
  },
  {
    name: "poll skip: polls that were taken back go on as if they were not",
    ops: [
      ...SIX_SENT,
      {
        at: [3, 4],
        by: 1,
        ends: "fail",
        polls: [
          {
            x: [
              [1, "1"],
              [2, "2"],
            ],
          },
        ],
      },
      {
        at: [5, 6],
        by: 1,
        ends: "fail",
        polls: [
          {
            x: [
              [3, "3"],
              [4, "4"],
            ],
          },
        ],
      },
      { at: [7, 8], by: 1, ends: "ok", polls: [{ x: [[5, "5"]] }] },
    ],
    theirs: ["poll-skip"],
  },
  {
    name: "poll skip: by a poll of which nobody knows how it ended",
    ops: [
      ...SIX_SENT,
      {
        at: [3, 4],
        by: 1,
        ends: "fail",
        polls: [
          {
            x: [
              [1, "1"],
              [2, "2"],
            ],
          },
        ],
      },
      {
        at: [5, 6],
        by: 1,
        ends: "info",
        polls: [
          {
            x: [
              [3, "3"],
              [4, "4"],
            ],
          },
        ],
      },
    ],
    theirs: ["poll-skip"],
  },
  { name: "nonmonotonic poll", ops: polledAgain(undefined), theirs: ["nonmonotonic-poll"] },
  {
    name: "nonmonotonic poll, in spite of an assignment that keeps the key",
    ops: polledAgain(ASSIGNMENTS["x is kept"]),
    theirs: ["nonmonotonic-poll"],
  },
  {
    name: "nonmonotonic poll: none, as the key was given up between the polls",
    ops: polledAgain(ASSIGNMENTS["x is given up"]),
    theirs: [],
  },
  {
    name: "nonmonotonic send",
    ops: sentBackwards(undefined),
    theirs: ["nonmonotonic-send"],
    onlyOurs: { "append-behind-known": REAL_TIME },
  },
  {
    name: "nonmonotonic send, in spite of an assignment that keeps the key",
    ops: sentBackwards(ASSIGNMENTS["x is kept"]),
    theirs: ["nonmonotonic-send"],
    onlyOurs: { "append-behind-known": REAL_TIME },
  },
  {
    name: "nonmonotonic send: as the key was given up between the sends, theirs looks away",
    ops: sentBackwards(ASSIGNMENTS["x is given up"]),
    theirs: [],
    onlyOurs: {
      "acks-out-of-order": PRODUCERS_ARE_NOT_ASSIGNED,
      "append-behind-known": REAL_TIME,
    },
  },
  {
    name: "internal poll skip: within a poll, and from one to the next of the same op",
    ops: [
      {
        at: [0, 1],
        by: 1,
        ends: "info",
        sends: [
          ["x", "a"],
          ["x", "b"],
          ["x", "d"],
        ],
      },
      {
        at: [2, 3],
        by: 0,
        ends: "ok",
        polls: [
          {
            x: [
              [1, "a"],
              [4, "d"],
            ],
          },
        ],
      },
      { at: [4, 5], by: 0, ends: "ok", polls: [{ x: [[1, "a"]] }, { x: [[4, "d"]] }] },
      { at: [6, 7], by: 0, ends: "ok", polls: [{ x: [[2, "b"]] }] },
    ],
    // Its test does not ask: each of the later polls also begins before the last one's end.
    theirs: ["int-poll-skip", "nonmonotonic-poll"],
  },
  {
    name: "internal send skip: another's record between two of one op",
    begins: "earliest",
    ops: [
      {
        at: [0, 1],
        by: 0,
        ends: "ok",
        sends: [
          ["x", "a", 1],
          ["x", "c"],
        ],
      },
      { at: [2, 3], by: 1, ends: "info", sends: [["x", "b"]] },
      {
        at: [4, 5],
        by: 2,
        ends: "ok",
        polls: [
          {
            x: [
              [2, "b"],
              [3, "c"],
            ],
          },
        ],
      },
    ],
    theirs: ["int-send-skip", "lost-write"],
    notOurs: {
      "int-send-skip": "always allowed: nobody has a log to himself; theirs allows it, too",
    },
    onlyOurs: { "poll-skipped": FROM_THE_BEGINNING },
  },
  {
    name: "internal nonmonotonic poll: backwards within a poll, and the same again in the next",
    ops: [
      {
        at: [0, 1],
        by: 0,
        ends: "info",
        sends: [
          ["x", "a"],
          ["x", "b"],
          ["x", "c"],
        ],
      },
      {
        at: [2, 3],
        by: 0,
        ends: "ok",
        polls: [
          {
            x: [
              [3, "c"],
              [1, "a"],
            ],
          },
        ],
      },
      {
        at: [4, 5],
        by: 0,
        ends: "ok",
        polls: [
          {
            x: [
              [2, "b"],
              [3, "c"],
            ],
          },
          { x: [[3, "c"]] },
        ],
      },
    ],
    theirs: ["int-nonmonotonic-poll"],
  },
  {
    name: "internal nonmonotonic send: as the offsets say that were told",
    ops: [
      {
        at: [0, 1],
        by: 0,
        ends: "ok",
        sends: [
          ["x", "c", 3],
          ["x", "a", 1],
        ],
      },
    ],
    theirs: ["int-nonmonotonic-send"],
  },
  {
    name: "internal nonmonotonic send: as only a poll shows",
    ops: [
      {
        at: [2, 3],
        by: 0,
        ends: "info",
        sends: [
          ["y", "d"],
          ["y", "b"],
        ],
      },
      { at: [4, 5], by: 1, ends: "info", sends: [["y", "c"]] },
      {
        at: [6, 7],
        by: 0,
        ends: "ok",
        polls: [
          {
            y: [
              [2, "b"],
              [3, "c"],
              [4, "d"],
            ],
          },
        ],
      },
    ],
    theirs: ["int-nonmonotonic-send"],
  },
  {
    name: "duplicate: told of at 1, and polled at 3",
    ops: [
      { at: [0, 1], by: 0, ends: "ok", sends: [["x", "a", 1]] },
      { at: [2, 3], by: 1, ends: "info", sends: [["x", "b"]] },
      {
        at: [4, 5],
        by: 2,
        ends: "ok",
        polls: [
          {
            x: [
              [2, "b"],
              [3, "a"],
            ],
          },
        ],
      },
    ],
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
    ops: [
      { at: [0, 1], by: 0, ends: "ok", sends: [["x", "0", 1]] },
      { at: [2, 3], by: 0, ends: "fail", sends: [["x", "1", 2]] },
      {
        at: [4, 5],
        by: 1,
        ends: "fail",
        polls: [
          {
            x: [
              [11, "0"],
              [12, "1"],
            ],
          },
        ],
      },
    ],
    theirs: ["duplicate"],
    onlyOurs: { "failed-record-read": NO_TRANSACTION_AROUND },
  },
  {
    name: "unseen: one of two that were acknowledged",
    settles: true,
    ops: [
      { at: [0, 1], by: 0, ends: "ok", polls: [{}] },
      {
        at: [2, 3],
        by: 0,
        ends: "ok",
        sends: [
          ["x", "a", 0],
          ["x", "b", 1],
        ],
      },
      { at: [4, 5], by: 0, ends: "ok", polls: [{ x: [[0, "a"]] }] },
    ],
    theirs: ["unseen"],
  },
  {
    name: "unseen: none, in the end",
    settles: true,
    ops: [
      { at: [0, 1], by: 0, ends: "ok", polls: [{}] },
      {
        at: [2, 3],
        by: 0,
        ends: "ok",
        sends: [
          ["x", "a", 0],
          ["x", "b", 1],
        ],
      },
      { at: [4, 5], by: 0, ends: "ok", polls: [{ x: [[0, "a"]] }] },
      { at: [6, 7], by: 0, ends: "ok", polls: [{ x: [[1, "b"]] }] },
    ],
    theirs: [],
  },
  {
    name: "G0: two transactions write two keys in opposite orders",
    ops: [
      {
        at: [0, 2],
        by: 0,
        ends: "ok",
        sends: [
          ["x", "a", 0],
          ["y", "a", 1],
        ],
      },
      {
        at: [1, 3],
        by: 1,
        ends: "ok",
        sends: [
          ["x", "b", 1],
          ["y", "b", 0],
        ],
      },
    ],
    theirs: ["G0"],
    notOurs: { G0: `${CYCLES}; theirs allows it always` },
  },
  {
    name: "G1c: each of two transactions reads what the other writes",
    ops: [
      { at: [0, 2], by: 0, ends: "ok", sends: [["x", "a", 0]], polls: [{ y: [[0, "b"]] }] },
      { at: [1, 3], by: 1, ends: "ok", sends: [["y", "b", 0]], polls: [{ x: [[0, "a"]] }] },
    ],
    theirs: ["G1c"],
    notOurs: { G1c: CYCLES },
  },
  {
    name: "G1c: one transaction reads what the other writes, and writes before it",
    ops: [
      {
        at: [0, 2],
        by: 0,
        ends: "ok",
        sends: [
          ["x", "a", 0],
          ["y", "c", 2],
        ],
      },
      { at: [1, 3], by: 1, ends: "ok", polls: [{ x: [[0, "a"]] }], sends: [["y", "b", 1]] },
    ],
    theirs: ["G1c"],
    notOurs: { G1c: CYCLES },
  },
  {
    name: "precommitted read: a transaction reads its own write",
    ops: [{ at: [0, 1], by: 0, ends: "ok", sends: [["x", "a", 0]], polls: [{ x: [[0, "a"]] }] }],
    theirs: ["precommitted-read"],
    notOurs: { "precommitted-read": "without transactions one may read what one has written" },
  },
];
