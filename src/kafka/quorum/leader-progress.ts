import { invariant } from "../../base/invariant.ts";
import type { BrokerId, Offset } from "../ids.ts";
import type { QuorumRules } from "./quorum-rules.ts";
import { majorityOf } from "./vote-tally.ts";

interface VoterProgress {
  readonly id: BrokerId;
  /** Below it the voter has all on its disk; -1 if it was not heard of. */
  endOffset: Offset;
  /** Did it fetch since the leader last asked who is silent? */
  heard: boolean;
  /** Did it fetch since the leader last counted (see `countFetch`)? */
  fetched: boolean;
}

/** What a leader of the metadata quorum knows of the voters (Kafka's `LeaderState`). */
export class LeaderProgress {
  readonly #self: BrokerId;
  readonly #epochStart: Offset;
  readonly #rules: QuorumRules;
  readonly #voters: readonly VoterProgress[];
  /** Of the voters, as the rules are told of them. */
  readonly #ends: Offset[];
  #highWatermark: Offset = -1;

  constructor(self: BrokerId, voters: readonly BrokerId[], epochStart: Offset, rules: QuorumRules) {
    this.#self = self;
    this.#epochStart = epochStart;
    this.#rules = rules;
    this.#voters = voters.map((id) => ({
      id,
      endOffset: -1,
      heard: false,
      fetched: false,
    }));
    this.#ends = voters.map(() => -1);
  }

  /** The first offset not known to be committed; -1 until a record of this epoch is. Never falls. */
  get highWatermark(): Offset {
    return this.#highWatermark;
  }

  /** The leader's own log is durable up to `endOffset`; true if the high watermark moved. */
  flushedTo(endOffset: Offset): boolean {
    const own = this.#voter(this.#self);
    invariant(own !== undefined, () => `${this.#self} leads without a vote`);
    invariant(
      own.endOffset <= endOffset,
      () => `own end went from ${own.endOffset} to ${endOffset}`,
    );
    own.endOffset = endOffset;
    return this.#advance();
  }

  /** A replica has all below `fetchOffset` on its disk; true if the high watermark moved. */
  fetchedTo(replica: BrokerId, fetchOffset: Offset): boolean {
    const voter = this.#voter(replica);
    if (voter === undefined) return false;
    voter.heard = true;
    if (voter.endOffset === fetchOffset) return false;
    voter.endOffset = fetchOffset;
    return this.#advance();
  }

  /**
   * Counts a fetch for the check of the quorum. True if with it a majority, the leader included,
   * has fetched since the last time that this was true (KAFKA-15489).
   */
  countFetch(replica: BrokerId): boolean {
    const voter = this.#voter(replica);
    if (voter === undefined) return false;
    voter.fetched = true;
    let fetched = 1;
    for (const one of this.#voters) if (one.fetched) fetched++;
    if (fetched < majorityOf(this.#voters.length)) return false;
    for (const one of this.#voters) one.fetched = false;
    return true;
  }

  /** The other voters that have not fetched since the last call, in voter order. */
  takeSilent(): readonly BrokerId[] {
    const silent: BrokerId[] = [];
    for (const voter of this.#voters) {
      if (voter.id !== this.#self && !voter.heard) silent.push(voter.id);
      voter.heard = false;
    }
    return silent;
  }

  /** The other voters, those with most of the log first. */
  get successors(): readonly BrokerId[] {
    return this.#voters
      .filter((voter) => voter.id !== this.#self)
      .sort((a, b) => b.endOffset - a.endOffset)
      .map((voter) => voter.id);
  }

  #voter(id: BrokerId): VoterProgress | undefined {
    for (const voter of this.#voters) if (voter.id === id) return voter;
    return undefined;
  }

  #advance(): boolean {
    const ends = this.#ends;
    const voters = this.#voters;
    for (let i = 0; i < voters.length; i++) ends[i] = (voters[i] as VoterProgress).endOffset;
    const offset = this.#rules.committedOffset(ends, this.#epochStart);
    if (offset <= this.#highWatermark) return false;
    this.#highWatermark = offset;
    return true;
  }
}
