import { CLIENT_MUTATIONS } from "./client-mutations.ts";
import { GROUP_MUTATIONS } from "./group-mutations.ts";
import { METADATA_MUTATIONS } from "./metadata-mutations.ts";
import type { Mutation } from "./mutation.ts";
import { QUORUM_MUTATIONS } from "./quorum-mutations.ts";
import { REPLICATION_MUTATIONS } from "./replication-mutations.ts";
import { STORAGE_MUTATIONS } from "./storage-mutations.ts";
import { TRANSACTION_MUTATIONS } from "./transaction-mutations.ts";

/** Every planted bug. Each part of the model has a file of its own: transactions and groups get theirs. */
export const MUTATIONS: readonly Mutation[] = [
  ...REPLICATION_MUTATIONS,
  ...METADATA_MUTATIONS,
  ...CLIENT_MUTATIONS,
  ...GROUP_MUTATIONS,
  ...QUORUM_MUTATIONS,
  ...STORAGE_MUTATIONS,
  ...TRANSACTION_MUTATIONS,
];
