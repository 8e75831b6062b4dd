import type { Mutation } from "./mutation.ts";

const CONSUMER = "src/nodes/consumer/group/group-consumer.ts";

/** Between groups and their members: what is committed, and what of it has been worked on. */
export const GROUP_MUTATIONS: readonly Mutation[] = [
  {
    name: "auto-commit-of-what-is-polled",
    breaks: "Auto commit, within a poll, commits what earlier polls gave.",
    file: CONSUMER,
    find: "this.#work.polled(taken);",
    put: 'this.#work.polled(taken); if (this.#settings.autoCommit) this.#offsets.commit("auto", 0, () => undefined);',
    caughtBy: "worked-on-once",
    story: "membersDie",
    seeds: 10,
  },
  {
    name: "commit-behind-what-is-done",
    breaks: "A pool of workers commits the smallest offset that is not done.",
    file: CONSUMER,
    find: "this.#offsets.commitBelow(partition, unfinished);",
    put: "this.#offsets.commitBelow(partition, unfinished + 1);",
    caughtBy: "commits-what-was-read",
    story: "membersDie",
    seeds: 10,
  },
];
