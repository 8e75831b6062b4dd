import type { RetoldHistory } from "./client-op.ts";

/**
 * What redpanda/chaos asks in `reads_writes` beside Jepsen, and two bugs that such tests found, as
 * histories. (Its `list_offsets` is end-not-behind; its transactions come with their issue.)
 */
export const REDPANDA_HISTORIES: readonly RetoldHistory[] = [
  {
    name: "two who have read a record are given different offsets next",
    ops: ["0 0-1 info send x:a x:b x:c", "1 2-3 ok poll x:0=a,1=b,2=c", "2 2-3 ok poll x:0=a,2=c"],
    theirs: ["next-differs"],
    onlyOurs: {
      "poll-skipped": "that one of them left something out follows, as in Jepsen's tests",
    },
  },
  {
    name: "two who have read a record are given the same next, though offsets are missing",
    ops: [
      "0 0-1 info send x:a x:b x:c",
      "1 2-3 ok poll x:0=a,2=b poll x:3=c",
      "2 2-3 ok poll x:0=a poll x:2=b,3=c",
    ],
    theirs: [],
  },
  {
    name: "a write stands below an offset that was known when it began",
    ops: ["0 0-1 ok send x:a@5", "1 2-3 ok send x:b@3"],
    theirs: ["written-behind"],
  },
  {
    name: "so does one that nobody knew of, until it was read",
    ops: ["0 0-1 ok send x:a@5", "1 2-3 info send x:b", "2 4-5 ok poll x:3=b"],
    theirs: ["written-behind"],
  },
  {
    name: "a write that nobody knew of may turn up behind what was known",
    ops: ["0 0-1 ok send x:a@5", "1 2-3 info send x:b", "2 4-5 ok poll x:5=a,6=b"],
    theirs: [],
  },
  {
    name: "two writes at the same time may end in either order",
    ops: ["0 0-2 ok send x:a@6", "1 1-3 ok send x:b@5"],
    theirs: [],
  },
  {
    name: "Redpanda #3003: acknowledged by a leader that was none any more, and overwritten",
    ops: ["0 0-1 ok send x:a@7", "1 0-3 ok send x:b@7", "2 4-5 ok poll x:7=b"],
    theirs: ["inconsistent-offsets", "lost-write"],
  },
  {
    name: "Bufstream 0.1.0: a write is acknowledged, and readers go past it, in a healthy cluster",
    begins: "earliest",
    ops: ["0 0-1 ok send x:a@0 x:b@1 x:c@2", "1 2-3 ok poll x:0=a,2=c", "2 2-3 ok poll x:0=a,2=c"],
    theirs: ["lost-write", "poll-skip"],
  },
];
