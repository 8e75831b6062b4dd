/** One operation of one process, as Jepsen records it: from when it was invoked to when it was over. */
export interface ClientOp {
  /** Invoked and over, in seconds. */
  readonly at: readonly [invoked: number, over: number];
  readonly by: number;
  /** It happened, it did not, or nobody knows. */
  readonly ends: "ok" | "fail" | "info";
  /** What is sent, in this order, and the offset that is told for it, if one is. */
  readonly sends?: readonly (readonly [key: string, value: string, offset?: number])[];
  /** One for each call of `poll`: by key, what is read, in this order. */
  readonly polls?: readonly Readonly<Record<string, readonly Read[]>>[];
  /** From now on it reads these keys, and no others. */
  readonly assigns?: readonly string[];
}

export type Read = readonly [offset: number, value: string];

/** A history, what Jepsen finds in it, and what we do. */
export interface RetoldHistory {
  readonly name: string;
  readonly ops: readonly ClientOp[];
  /** Where a consumer that has no position begins: at the beginning, or (default) where it then reads. */
  readonly begins?: "earliest";
  /** Does the cluster get half a minute in which nothing is left to heal? */
  readonly settles?: boolean;
  /** What its test asserts, and whatever else the definitions of its checker make of it. */
  readonly theirs: readonly Anomaly[];
  /** Of these, what we do not call so, each with the reason. */
  readonly notOurs?: Readonly<Partial<Record<Anomaly, string>>>;
  /** Kinds of violations that only we find, each with the reason. */
  readonly onlyOurs?: Readonly<Record<string, string>>;
}

/** What each of Jepsen's anomalies is called here; the empty ones are none, or not yet. */
export const ANOMALIES = {
  "inconsistent-offsets": "record-changed",
  duplicate: "record-seen-twice",
  "lost-write": "acked-record-passed",
  unseen: "acked-record-unseen",
  G1a: "failed-record-read",
  "int-poll-skip": "poll-skipped",
  "poll-skip": "poll-skipped",
  "int-nonmonotonic-poll": "poll-went-back",
  "nonmonotonic-poll": "poll-went-back",
  "int-nonmonotonic-send": "acks-out-of-order",
  "nonmonotonic-send": "acks-out-of-order",
  // Of redpanda/chaos.
  "next-differs": "readers-differ",
  "written-behind": "append-behind-known",
  "int-send-skip": "",
  G0: "",
  G1c: "",
  "precommitted-read": "",
} as const;

export type Anomaly = keyof typeof ANOMALIES;
