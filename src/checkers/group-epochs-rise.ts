import type { Instant } from "../base/time.ts";
import type { GroupAssigned, GroupMemberAssigned, GroupStateChanged } from "../trace/fact.ts";
import { violationOf } from "./finding.ts";
import type { CheckContext, Checker, Guarantee, Violation } from "./guarantee.ts";

export const GROUP_EPOCHS_RISE: Guarantee = {
  name: "group-epochs-rise",
  sentence:
    "Each assignment of a group is of a later generation, or epoch, than the one before; and no member goes back to an earlier epoch.",
  source: "KIP-62, KIP-848; G3",
  kinds: ["generation-fell", "member-epoch-fell"],
  condition:
    "Of what is committed. A group that had neither members nor offsets may begin anew, and so may a member that has been out. Permitted if the coordinator's log may have lost its end.",
  testedBy: "assignments that are not a group's first",
  tellsDeed: true,
  example: [
    "generation-fell   at 12.480s, event 9120",
    "  workers is assigned in generation 4; its last assignment was that of generation 4.",
  ],
  create: (context) => new GroupEpochsRise(context),
};

/** States that only groups of one protocol have. */
const CLASSIC: ReadonlySet<string> = new Set(["PreparingRebalance", "CompletingRebalance"]);
const CONSUMER: ReadonlySet<string> = new Set(["Assigning", "Reconciling"]);

class GroupEpochsRise implements Checker {
  evaluations = 0;
  interesting = 0;
  readonly violations: Violation[] = [];
  readonly #context: CheckContext;
  readonly #generations = new Map<string, number>();
  /** By group and member. */
  readonly #members = new Map<string, number>();
  readonly #protocols = new Map<string, "classic" | "consumer">();
  /** Groups that may be gone, or have changed their protocol without members. */
  readonly #anew = new Set<string>();

  constructor(context: CheckContext) {
    this.#context = context;
    const { facts } = context;
    facts.on("group-assigned", (fact, at, event) => this.#lookAtGroup(fact, at, event));
    facts.on("group-member-assigned", (fact, at, event) => this.#lookAtMember(fact, at, event));
    facts.on("group-member-joined", ({ group, member }) => {
      this.#members.delete(`${group} ${member}`);
    });
    facts.on("group-state-changed", (fact) => this.#follow(fact));
    // With its members a group takes its epoch along.
    facts.on("group-migrated", ({ group }) => this.#anew.delete(group));
  }

  #follow({ group, from, to }: GroupStateChanged): void {
    const before = this.#protocols.get(group);
    const protocol = CLASSIC.has(to)
      ? "classic"
      : from === "" || CONSUMER.has(to)
        ? "consumer"
        : before;
    if (protocol !== undefined) this.#protocols.set(group, protocol);
    // The coordinator finds no such group, or none of this protocol.
    const isNew = from === "" || (from === "Empty" && to === "PreparingRebalance");
    const { committed } = this.#context.groups.group(group);
    const holdsOffsets = [...committed.values()].some((all) => (all.at(-1)?.offset ?? -1) >= 0);
    if (protocol !== before || (isNew && !holdsOffsets)) this.#anew.add(group);
  }

  #lookAtGroup({ group, generation }: GroupAssigned, at: Instant, event: number): void {
    const before = this.#generations.get(group);
    this.#generations.set(group, generation);
    this.evaluations++;
    const isAnew = this.#anew.delete(group);
    if (before === undefined) return;
    this.interesting++;
    if (generation > before || isAnew) return;
    const text = `${group} is assigned in generation ${generation}; its last assignment was that of generation ${before}.`;
    this.#report("generation-fell", "", text, at, event);
  }

  #lookAtMember(fact: GroupMemberAssigned, at: Instant, event: number): void {
    const { group, member, memberEpoch } = fact;
    const key = `${group} ${member}`;
    const before = this.#members.get(key);
    this.#members.set(key, memberEpoch);
    this.evaluations++;
    if (before === undefined) return;
    this.interesting++;
    if (memberEpoch >= before) return;
    const client = this.#context.groups.clientOf(group, member)?.client ?? "";
    const text = `${member} of ${group} is in epoch ${memberEpoch}; it was in epoch ${before}.`;
    this.#report("member-epoch-fell", client, text, at, event);
  }

  #report(kind: string, client: string, text: string, at: Instant, event: number): void {
    const permitted = this.#context.groups.waiver;
    this.violations.push(
      violationOf(GROUP_EPOCHS_RISE, { kind, client, at, event, text: [text], permitted }),
    );
  }
}
