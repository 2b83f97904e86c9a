import { compile, type ZodType } from 'zod';
import { lazily } from '../base/lazily.ts';
import { type ChatRequest, chatRequestSchema } from './chat/request.ts';
import { type TextCompletionRequest, textCompletionRequestSchema } from './completions/request.ts';
import { type GeminiRequest, geminiRequestSchema } from './gemini/request.ts';
import { type MessagesRequest, messagesRequestSchema } from './messages/request.ts';
import { type ResponsesRequest, responsesRequestSchema } from './responses/responses.ts';
import { type BodyCheck, takingNulls } from './schema.ts';

/**
 * Checks the first requests by the schema without generated code. By default, zod generates a function for every object
 * in the schema. Without these functions, the first check takes 4 ms instead of 9; the next thousand take the same time
 * either way.
 * @param uses   number of requests that are checked so
 * @param later  checks the requests after them
 * @returns      a function to call once per request
 */
export function plainFirst<Body>(
  uses: number,
  schema: () => ZodType<Body>,
  later: () => BodyCheck<Body>,
): () => BodyCheck<Body> {
  const plain: BodyCheck<Body> = { safeParse: (value) => schema().safeParse(value, { jitless: true }) };
  let left = uses;
  return () => {
    if (left === 0) return later();
    left -= 1;
    return plain;
  };
}

/** The schema as one generated function, or the schema itself in a runtime that forbids generated code. */
const compiled = lazily(() => compile(chatRequestSchema()));

/**
 * Checks all but the first chat requests by one generated function, which saves up to two thirds of the validation
 * time. When the function rejects a request, the schema checks the request again to list the issues.
 * @param uses  number of requests before the generated function
 * @returns     a function to call once per request
 */
export const compiledAfter = (uses: number) => plainFirst<ChatRequest>(uses, chatRequestSchema, compiled);

/**
 * Checks chat requests. Compiling takes some 60 ms, once per process. It saves 20 µs per request at first and 5 µs
 * later, so a few thousand requests pay for it; a process with fewer requests never compiles.
 */
export const chatRequestCheck = withNulls(compiledAfter(1_000), chatRequestSchema);

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

function withNulls<Body>(check: () => BodyCheck<Body>, schema: () => ZodType): () => BodyCheck<Body> {
  const taking = takingNulls<Body>({ safeParse: (value) => check().safeParse(value) }, schema);
  return () => taking;
}
