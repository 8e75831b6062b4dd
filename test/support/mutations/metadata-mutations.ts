import type { Mutation } from "./mutation.ts";

const ALTER = "src/kafka/metadata/alter-partition.ts";
const CHANGE = "src/kafka/metadata/partition-change.ts";
const UPDATES = "src/kafka/metadata/partition-updates.ts";
const LIFECYCLE = "src/kafka/metadata/broker-lifecycle.ts";
const REGISTRATION = "src/kafka/metadata/partition-registration.ts";
const ELECTION = "src/kafka/metadata/election.ts";
const ISR_CHANNEL = "src/nodes/broker/isr-channel.ts";

/** Between brokers and the controller: registrations, elections, changes of ISRs. */
export const METADATA_MUTATIONS: readonly Mutation[] = [
  {
    name: "isr-of-earlier-partition-epoch",
    breaks:
      "A change of the ISR is refused if its leader did not know the present one (partition epoch).",
    file: ALTER,
    find: "if (partitionEpoch < partition.partitionEpoch) return ERRORS.INVALID_UPDATE_VERSION;",
    put: "",
    caughtBy: "isr-grows-by-request",
    story: "isrChurn",
    seeds: 20,
  },
  {
    name: "process-taken-for-its-forerunner",
    breaks: "A new process of a broker registers anew (incarnation id).",
    file: LIFECYCLE,
    find: "const isNewIncarnation = existing?.incarnationId !== incarnationId;",
    put: "const isNewIncarnation = existing === undefined;",
    caughtBy: "epochs-rise",
    story: "followerDies",
    seeds: 1,
  },
  {
    name: "unclean-stop-taken-for-clean",
    breaks: "Who did not stop in order leaves ISR and ELR when it registers (KIP-966).",
    file: UPDATES,
    find: "if (isCleanShutdown || !isElrEnabled(context.image)) {",
    put: "if (isCleanShutdown || isElrEnabled(context.image)) {",
    caughtBy: "no-acked-loss",
    story: "lastLosesPower",
    seeds: 10,
  },
  {
    name: "elr-beside-full-isr",
    breaks: "There is an ELR only while the ISR is below min.insync.replicas (KIP-966).",
    file: CHANGE,
    find: "if (targetIsr.length >= change.minInsyncReplicas) return [];",
    put: "",
    caughtBy: "leader-in-isr",
    story: "followerDies",
    seeds: 1,
  },
  {
    name: "leader-from-anywhere",
    breaks: "A leader comes from the ISR, or from the ELR if that is empty.",
    file: ELECTION,
    find: "targetIsr.includes(replica) || (targetIsr.length === 0 && targetElr.includes(replica));",
    put: "targetIsr.includes(replica) || targetElr.includes(replica) || replica > 0;",
    caughtBy: "leader-in-isr",
    story: "outsiderLives",
    seeds: 1,
  },
  {
    name: "unclean-without-leave",
    breaks: "Who is in neither ISR nor ELR leads only if unclean elections are enabled.",
    file: ELECTION,
    find: 'if (mode === "unclean") {',
    put: "{",
    caughtBy: "clean-election",
    story: "onlyOutsiderLives",
    seeds: 1,
  },
  {
    name: "epoch-kept-by-new-leader",
    breaks: "A new leader begins a new leader epoch (KIP-101).",
    file: REGISTRATION,
    find: "leaderEpoch: leader === undefined ? before.leaderEpoch : before.leaderEpoch + 1,",
    put: "leaderEpoch: before.leaderEpoch,",
    caughtBy: "one-leader-per-epoch",
    story: "leaderDies",
    seeds: 1,
  },
  {
    name: "partition-epoch-kept",
    breaks: "Each change of a partition begins a new partition epoch.",
    file: REGISTRATION,
    find: "partitionEpoch: before.partitionEpoch + 1,",
    put: "partitionEpoch: before.partitionEpoch,",
    caughtBy: "epochs-rise",
    story: "leaderDies",
    seeds: 1,
  },
  {
    name: "fenced-stay-in-isr",
    breaks: "Who is fenced leaves every ISR, and leads no more.",
    file: UPDATES,
    find: "    ...leaderAndIsrUpdates(context, { remove: broker }, hasInIsr(broker)),\n    {",
    put: "    {",
    caughtBy: "leader-in-isr",
    story: "leaderDies",
    seeds: 1,
  },
  {
    name: "answered-before-committed",
    breaks: "A controller answers when what it decided is committed.",
    file: "src/nodes/controller/active-controller.ts",
    find: "if (offset === undefined) request.reply(api, response);",
    put: "if (offset === undefined || request.apiKey > 0) request.reply(api, response);",
    caughtBy: "isr-known-to-leader",
    story: "controllerAlone",
    seeds: 10,
  },
  {
    name: "isr-request-forgotten",
    breaks: "A leader that was not answered goes by what it asked for.",
    file: ISR_CHANNEL,
    find: "  onDisconnect(proposals: readonly Proposal[]): void {\n    this.#inFlight = false;\n    this.#again(proposals);",
    put: '  onDisconnect(proposals: readonly Proposal[]): void {\n    this.#inFlight = false;\n    for (const { partition, state } of proposals) if (partition.isr === state) partition.adoptIsr(state.committed, "refusal");',
    caughtBy: "isr-known-to-leader",
    story: "isrAnswersLost",
    seeds: 10,
  },
  {
    name: "isr-request-withdrawn",
    breaks: "A leader whose request came too late goes by it until newer metadata come.",
    file: ISR_CHANNEL,
    find: "      case ERRORS.INELIGIBLE_REPLICA:\n",
    put: "      case ERRORS.INELIGIBLE_REPLICA:\n      case ERRORS.INVALID_UPDATE_VERSION:\n",
    caughtBy: "isr-known-to-leader",
    story: "isrAnswersLost",
    seeds: 10,
  },
];
