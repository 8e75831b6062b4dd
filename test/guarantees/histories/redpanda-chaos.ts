import type { RetoldHistory } from "./client-op.ts";

/**
 * What redpanda/chaos asks in `reads_writes` beside Jepsen, and two bugs that such tests found, as
 * histories. (Its `list_offsets` is end-not-behind; its transactions come with their issue.)
 */
export const REDPANDA_HISTORIES: readonly RetoldHistory[] = [
  {
    name: "two who have read a record are given different offsets next",
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
        by: 1,
        ends: "ok",
        polls: [
          {
            x: [
              [0, "a"],
              [1, "b"],
              [2, "c"],
            ],
          },
        ],
      },
      {
        at: [2, 3],
        by: 2,
        ends: "ok",
        polls: [
          {
            x: [
              [0, "a"],
              [2, "c"],
            ],
          },
        ],
      },
    ],
    theirs: ["next-differs"],
    onlyOurs: {
      "poll-skipped": "that one of them left something out follows, as in Jepsen's tests",
    },
  },
  {
    name: "two who have read a record are given the same next, though offsets are missing",
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
        by: 1,
        ends: "ok",
        polls: [
          {
            x: [
              [0, "a"],
              [2, "b"],
            ],
          },
          { x: [[3, "c"]] },
        ],
      },
      {
        at: [2, 3],
        by: 2,
        ends: "ok",
        polls: [
          { x: [[0, "a"]] },
          {
            x: [
              [2, "b"],
              [3, "c"],
            ],
          },
        ],
      },
    ],
    theirs: [],
  },
  {
    name: "a write stands below an offset that was known when it began",
    ops: [
      { at: [0, 1], by: 0, ends: "ok", sends: [["x", "a", 5]] },
      { at: [2, 3], by: 1, ends: "ok", sends: [["x", "b", 3]] },
    ],
    theirs: ["written-behind"],
  },
  {
    name: "so does one that nobody knew of, until it was read",
    ops: [
      { at: [0, 1], by: 0, ends: "ok", sends: [["x", "a", 5]] },
      { at: [2, 3], by: 1, ends: "info", sends: [["x", "b"]] },
      { at: [4, 5], by: 2, ends: "ok", polls: [{ x: [[3, "b"]] }] },
    ],
    theirs: ["written-behind"],
  },
  {
    name: "a write that nobody knew of may turn up behind what was known",
    ops: [
      { at: [0, 1], by: 0, ends: "ok", sends: [["x", "a", 5]] },
      { at: [2, 3], by: 1, ends: "info", sends: [["x", "b"]] },
      {
        at: [4, 5],
        by: 2,
        ends: "ok",
        polls: [
          {
            x: [
              [5, "a"],
              [6, "b"],
            ],
          },
        ],
      },
    ],
    theirs: [],
  },
  {
    name: "two writes at the same time may end in either order",
    ops: [
      { at: [0, 2], by: 0, ends: "ok", sends: [["x", "a", 6]] },
      { at: [1, 3], by: 1, ends: "ok", sends: [["x", "b", 5]] },
    ],
    theirs: [],
  },
  {
    name: "Redpanda #3003: acknowledged by a leader that was none any more, and overwritten",
    ops: [
      { at: [0, 1], by: 0, ends: "ok", sends: [["x", "a", 7]] },
      { at: [0, 3], by: 1, ends: "ok", sends: [["x", "b", 7]] },
      { at: [4, 5], by: 2, ends: "ok", polls: [{ x: [[7, "b"]] }] },
    ],
    theirs: ["inconsistent-offsets", "lost-write"],
  },
  {
    name: "Bufstream 0.1.0: a write is acknowledged, and readers go past it, in a healthy cluster",
    begins: "earliest",
    ops: [
      {
        at: [0, 1],
        by: 0,
        ends: "ok",
        sends: [
          ["x", "a", 0],
          ["x", "b", 1],
          ["x", "c", 2],
        ],
      },
      {
        at: [2, 3],
        by: 1,
        ends: "ok",
        polls: [
          {
            x: [
              [0, "a"],
              [2, "c"],
            ],
          },
        ],
      },
      {
        at: [2, 3],
        by: 2,
        ends: "ok",
        polls: [
          {
            x: [
              [0, "a"],
              [2, "c"],
            ],
          },
        ],
      },
    ],
    theirs: ["lost-write", "poll-skip"],
  },
];
