import * as z from 'zod';
import { lazily } from '../../base/lazily.ts';

/** The prompt and the response of one request. @see interface document, "GET /generation/content" */
export const generationContentSchema = lazily(() =>
  z.object({
    /** As plugins and guardrails have left it for the model. */
    input: z.object({ messages: z.array(z.unknown()) }),
    /** The first choice, as the client got it; null: there was none. */
    output: z.object({
      completion: z.string().nullable(),
      reasoning: z.string().nullable(),
      /** Calls of functions, as in a chat completion. */
      tool_calls: z.array(z.unknown()),
    }),
    /** true: a part was longer than `records.maxContentChars`, and is left out. */
    is_truncated: z.boolean(),
  }),
);
export interface GenerationContent extends z.infer<ReturnType<typeof generationContentSchema>> {}
