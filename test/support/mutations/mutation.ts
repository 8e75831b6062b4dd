import type { StoryName } from "./mutation-stories.ts";

/**
 * One rule of the implementation, broken in the source text: an engine with one planted bug.
 *
 * It is text and not a switch so that the product has no hooks for tests, and so that whatever can be
 * written wrongly can be broken, in actors as in pure rules.
 */
export interface Mutation {
  /** `hw-without-isr` */
  readonly name: string;
  /** The rule that holds no more, as a sentence. */
  readonly breaks: string;
  /** Below the repository's root. */
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly find: string;
  /** What stands there instead. */
  readonly put: string;
  /** The guarantee that is named first. */
  readonly caughtBy: string;
  /** In other stories it is this that it breaks. */
  readonly elsewhere?: string;
  readonly story: StoryName;
  /** It is caught by one of the seeds from 1 to this. */
  readonly seeds: number;
}
