import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';
import { list } from '../bounded.ts';
import { expectation } from '../chat/expectations.ts';
import { chatRequestSchema } from '../chat/request.ts';
import { flagOrNull, integer, positive, textOrNull } from '../scalars.ts';

const oneText = lazily(() =>
  z.string({ error: expectation('expected a text: ids of tokens differ from model to model, and are not read') }),
);

/** Fields of a chat request that a text completion has not, or has in another form. */
const notHere = {
  messages: true,
  tools: true,
  tool_choice: true,
  parallel_tool_calls: true,
  modalities: true,
  image_config: true,
  stop_server_tools_when: true,
  logprobs: true,
  top_logprobs: true,
} as const;

/**
 * A request for a text completion, which is served by a chat model. All fields that are not named here have the meaning that
 * they have in a chat request; unknown ones pass.
 * @see https://platform.openai.com/docs/api-reference/completions/create
 */
export const textCompletionRequestSchema = lazily(() =>
  chatRequestSchema()
    .omit(notHere)
    .extend({
      /** The text before the completion; a list of texts: each has completions of its own. */
      prompt: z.union([oneText(), list(oneText())]),
      /** The text behind the completion: the model is told to fill the gap, also where this text is empty. */
      suffix: textOrNull(),
      /** true: the response begins with the prompt, as guardrails have left it. */
      echo: flagOrNull(),
      /** The largest output, in tokens; 16 where neither it nor `max_completion_tokens` is set. */
      max_tokens: positive().nullish(),
      /** The number of completions. */
      n: integer().min(1).max(128).nullish(),
      /** The same as `n`, or absent: the gateway chooses no best one among several. */
      best_of: integer().min(1).nullish(),
      /** The number of most likely tokens that are listed at each place; 0: only the tokens of the text. */
      logprobs: integer().min(0).max(20).nullish(),
    }),
);

/** The body of `POST /completions`. */
export interface TextCompletionRequest extends z.infer<ReturnType<typeof textCompletionRequestSchema>> {}
