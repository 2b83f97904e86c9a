import { defineDialect } from '../dialect.ts';
import { profiles } from '../fit/index.ts';
import { cohereEmbeddings, cohereRerank } from '../tasks/cohere.ts';
import { decodeError } from './errors.ts';
import { type CohereQuirks, cohereQuirks } from './quirks.ts';
import { encodeRequest } from './request.ts';
import { decodeResult } from './result.ts';
import { streamDecoder } from './stream.ts';

/**
 * Cohere's own chat, version 2.
 * @see https://docs.cohere.com/reference/chat
 */
export const cohereChat = defineDialect<CohereQuirks>({
  name: 'cohere-chat',
  quirks: cohereQuirks,
  // Cohere honours `detail: "low"` of an image, but does not tell how many tokens that is.
  counting: ({ reasoningBeside }) => ({ reasoningBeside }),
  tasks: { embeddings: cohereEmbeddings, rerank: cohereRerank },
  profile: () => profiles.cohere,
  encodeRequest,
  decodeResult,
  streamDecoder,
  decodeError,
});
