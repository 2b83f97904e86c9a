import { type TextCompletionRequest, textCompletionRequestSchema } from './completions/request.ts';
import { type GeminiRequest, geminiRequestSchema } from './gemini/request.ts';
import { type MessagesRequest, messagesRequestSchema } from './messages/request.ts';
import { plainFirst, withNulls } from './plain-first.ts';
import { type ResponsesRequest, responsesRequestSchema } from './responses/responses.ts';

/** Checks requests for text completions. */
export const textCompletionRequestCheck = withNulls(
  plainFirst<TextCompletionRequest>(1_000, textCompletionRequestSchema, textCompletionRequestSchema),
  textCompletionRequestSchema,
);

/** Checks Responses requests. */
export const responsesRequestCheck = withNulls(
  plainFirst<ResponsesRequest>(1_000, responsesRequestSchema, responsesRequestSchema),
  responsesRequestSchema,
);

/** Checks Messages requests. */
export const messagesRequestCheck = withNulls(
  plainFirst<MessagesRequest>(1_000, messagesRequestSchema, messagesRequestSchema),
  messagesRequestSchema,
);

/** Checks requests of the Gemini wire. */
export const geminiRequestCheck = withNulls(
  plainFirst<GeminiRequest>(1_000, geminiRequestSchema, geminiRequestSchema),
  geminiRequestSchema,
);
