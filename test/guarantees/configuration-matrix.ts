/**
 * What clients may see of Kafka, by configuration (the design paper on checkers, 1b, derived from Kafka's
 * source and from models of it): what it says of each cell, and why we say otherwise where we do.
 */

/** Each but the first differs from the safe settings in one. */
export const COLUMNS = [
  "safe",
  "acks=1 or 0",
  "min.insync.replicas=1",
  "unclean elections",
  "no idempotence",
  "read_uncommitted",
  "retention",
  "compaction",
  "subscribe",
  "transactions v1",
] as const;
export type Column = (typeof COLUMNS)[number];

/** No violation: the timeline tells that a consumer's position was set anew. */
export const SET_ANEW = "reset";

/** By what kinds of violations a row shows; by none if it needs transactions or groups. */
export const ROWS = {
  "lost write": ["acked-record-lost", "acked-record-passed", "acked-record-unseen"],
  "offset changes, told to a sender": ["record-changed"],
  "offset changes, read before": ["consumed-record-lost"],
  duplicate: ["duplicate-record", "record-seen-twice"],
  "polls skip or go back": ["poll-skipped", "poll-went-back", SET_ANEW],
  "sends out of order": ["record-reordered", "acks-out-of-order"],
  "append behind what was known": ["append-behind-known"],
  "aborted write read": [],
  "precommitted read, G1c by reads alone": [],
  "G0, G1c, internal send skip": [],
  "consumed again": [],
} as const satisfies Readonly<Record<string, readonly string[]>>;
export type Row = keyof typeof ROWS;

/** A story in which something is to happen, and the cause for which it is permitted. */
export interface Expected {
  /** See scenes.ts. */
  readonly scene: string;
  readonly cause: RegExp;
}

export type Cell =
  | "never"
  /** It comes with the issue about transactions, or about groups. */
  | "later"
  | Expected
  /** The paper says otherwise, but is wrong. */
  | {
      readonly but: "never" | Expected;
      readonly paper: "never" | "expected";
      readonly because: string;
    };

const ACKS_1: Expected = { scene: "acks-1-gap", cause: /^acks=1: broker-\d was replaced/ };
const SOLE_MEMBER: Expected = { scene: "sole-member", cause: /lost|power/ };
const UNCLEAN: Expected = { scene: "unclean-election", cause: /unclean election/ };
const SENT_AGAIN: Expected = { scene: "answers-lost", cause: /sent (it|one of them) again/ };
const TRUNCATED = /truncation|out-of-range/;

/** Of a row that needs transactions or groups. */
const LATER: Readonly<Record<Column, Cell>> = {
  safe: "later",
  "acks=1 or 0": "later",
  "min.insync.replicas=1": "later",
  "unclean elections": "later",
  "no idempotence": "later",
  read_uncommitted: "later",
  retention: "later",
  compaction: "later",
  subscribe: "later",
  "transactions v1": "later",
};

export const MATRIX: Readonly<Record<Row, Readonly<Record<Column, Cell>>>> = {
  "lost write": {
    ...LATER,
    safe: "never",
    "acks=1 or 0": ACKS_1,
    "min.insync.replicas=1": SOLE_MEMBER,
    "unclean elections": UNCLEAN,
    "no idempotence": "never",
    read_uncommitted: "never",
    retention: {
      but: "never",
      paper: "expected",
      because: "what has expired is not asked for: the paper says so, too (excluded)",
    },
    compaction: {
      but: "never",
      paper: "expected",
      because:
        "what a later record of its key replaced is not asked for, but the last of each key is",
    },
  },
  "offset changes, told to a sender": {
    ...LATER,
    safe: "never",
    "acks=1 or 0": ACKS_1,
    "min.insync.replicas=1": SOLE_MEMBER,
    "unclean elections": UNCLEAN,
    "no idempotence": "never",
    read_uncommitted: "never",
    retention: "never",
    compaction: "never",
  },
  "offset changes, read before": {
    ...LATER,
    safe: "never",
    "acks=1 or 0": "never",
    "min.insync.replicas=1": SOLE_MEMBER,
    "unclean elections": UNCLEAN,
    "no idempotence": "never",
    read_uncommitted: "never",
    retention: "never",
    compaction: "never",
  },
  duplicate: {
    ...LATER,
    safe: "never",
    "acks=1 or 0": {
      but: { scene: "answers-lost-acks-1", cause: SENT_AGAIN.cause },
      paper: "never",
      because: "a producer is idempotent with acks=all only (ProducerConfig): acks=1 turns it off",
    },
    "min.insync.replicas=1": "never",
    "unclean elections": { scene: "exposed-then-cut", cause: /unclean election/ },
    "no idempotence": SENT_AGAIN,
    read_uncommitted: "never",
    retention: "never",
    compaction: "never",
  },
  "polls skip or go back": {
    ...LATER,
    safe: "never",
    "acks=1 or 0": "never",
    "min.insync.replicas=1": {
      but: { scene: "sole-member", cause: TRUNCATED },
      paper: "never",
      because:
        "what a consumer has read can be gone, as the row above says: it is set back (KIP-320)",
    },
    "unclean elections": { scene: "unclean-election", cause: TRUNCATED },
    "no idempotence": "never",
    read_uncommitted: "never",
    retention: { scene: "retention", cause: TRUNCATED },
    compaction: {
      but: "never",
      paper: "expected",
      because: "offsets that were cleaned away hold nothing that could be skipped",
    },
  },
  "sends out of order": {
    ...LATER,
    safe: "never",
    "acks=1 or 0": ACKS_1,
    "min.insync.replicas=1": SOLE_MEMBER,
    "unclean elections": UNCLEAN,
    "no idempotence": SENT_AGAIN,
    read_uncommitted: "never",
    retention: "never",
    compaction: "never",
  },
  "append behind what was known": {
    ...LATER,
    safe: "never",
    "acks=1 or 0": ACKS_1,
    "min.insync.replicas=1": SOLE_MEMBER,
    "unclean elections": UNCLEAN,
    "no idempotence": {
      but: "never",
      paper: "expected",
      because:
        "an attempt that comes late is appended behind all that is known by then; a log must be cut for less",
    },
    read_uncommitted: "never",
    retention: "never",
    compaction: "never",
  },
  "aborted write read": LATER,
  "precommitted read, G1c by reads alone": LATER,
  "G0, G1c, internal send skip": LATER,
  "consumed again": LATER,
};
