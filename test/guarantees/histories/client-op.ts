/**
 * One operation of one process, as Jepsen records it, as a line of words:
 *
 *     0 4-5 ok send x:a@3 x:d poll y:1=b,2=c poll assign x y
 *
 * Process 0 invoked it at second 4, and at 5 it had happened (`ok`), had not (`fail`), or nobody knows
 * (`info`). It sent a to the key x, and was told the offset 3; and d. One call of `poll` gave it b at
 * offset 1 and c at 2 of the key y, another nothing. Since then it reads x and y, and no other key.
 */
export interface ClientOp {
  readonly by: number;
  readonly invoked: number;
  readonly over: number;
  readonly ends: "ok" | "fail" | "info";
  readonly sends: readonly Send[];
  readonly polls: readonly (readonly Read[])[];
  readonly assigns: readonly string[] | undefined;
}

export interface Send {
  readonly key: string;
  readonly value: string;
  /** -1 if it is not told. */
  readonly offset: number;
}

/** What is read of one key, in this order. */
export interface Read {
  readonly key: string;
  readonly records: readonly { readonly offset: number; readonly value: string }[];
}

export function parseOp(line: string): ClientOp {
  const [, by, invoked, over, ends, rest] =
    /^(\d+) (\d+)-(\d+) (ok|fail|info)((?: (?:send|poll|assign)(?: \S+)*)+)$/.exec(line) ?? [];
  if (rest === undefined) throw new Error(`no operation: ${line}`);
  const sends: Send[] = [];
  const polls: Read[][] = [];
  let assigns: string[] | undefined;
  for (const phrase of rest.split(/ (?=(?:send|poll|assign)\b)/).slice(1)) {
    const [verb, ...words] = phrase.split(" ");
    if (verb === "send") sends.push(...words.map(parseSend));
    else if (verb === "poll") polls.push(words.map(parseRead));
    else assigns = words;
  }
  return {
    by: Number(by),
    invoked: Number(invoked),
    over: Number(over),
    ends: ends as ClientOp["ends"],
    sends,
    polls,
    assigns,
  };
}

function parseSend(word: string): Send {
  const [, key = "", value = "", offset] = /^(\w):(\w+)(?:@(\d+))?$/.exec(word) ?? [];
  if (key === "") throw new Error(`nothing to send: ${word}`);
  return { key, value, offset: offset === undefined ? -1 : Number(offset) };
}

function parseRead(word: string): Read {
  const [, key = "", list = ""] = /^(\w):(\d+=\w+(?:,\d+=\w+)*)$/.exec(word) ?? [];
  if (key === "") throw new Error(`nothing to read: ${word}`);
  const records = list.split(",").map((one) => {
    const [offset, value = ""] = one.split("=");
    return { offset: Number(offset), value };
  });
  return { key, records };
}

/** A history, what Jepsen finds in it, and what we do. */
export interface RetoldHistory {
  readonly name: string;
  /** See parseOp. */
  readonly ops: readonly string[];
  /** Where a consumer that has no position begins: at the beginning, or (default) where it then reads. */
  readonly begins?: "earliest";
  /** Is each op that sends something a transaction, and are all readers read_committed? */
  readonly inTransactions?: true;
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
