import type { RefusalRules } from '../../dialects/shared/sampling/rules.ts';
import type { ReasoningEffort } from '../../schema/chat/chat.ts';

/**
 * A fact of a model: what it takes and refuses, whoever serves it and in whichever dialect. One row of a table; a model
 * may have several.
 */
export interface ModelFact extends RefusalRules {
  /** The name of the row. */
  name: string;
  /**
   * Tells whether a model is meant.
   * @param model  its name in lower case, without its author and what hosts put before it, such as `gpt-5-mini`
   */
  isOf(model: string): boolean;
  /** Slugs of the only providers for which the row holds, as of models that others serve with other rules. */
  at?: readonly string[];
  /** The time when it thinks: always, unless the request says no, or only if the request asks. Default: only if it asks. */
  thinks?: 'always' | 'unless_off' | 'if_asked';
  /** The time when it cannot be made to call a tool. */
  noForcedTools?: 'always' | 'thinking';
  /** The efforts that it knows, from the least. The nearest that is no less than what is asked for is sent. */
  efforts?: readonly ReasoningEffort[];
  /** The field for the largest output, in chat completions. */
  maxTokensField?: 'max_completion_tokens';
  /** The role in which it takes instructions, where it knows neither `system` nor `developer`. */
  instructions?: 'user';
  /** The time when it answers in streams only: always, or where it thinks. */
  streamsOnly?: 'always' | 'thinking';
  /** The most stop texts. */
  mostStops?: number;
  /** The day on which the row was last compared with its source. */
  asOf: string;
  /** The page of its provider that says so. */
  source: string;
}
