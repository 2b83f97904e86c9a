import { defineDialect } from '../dialect.ts';
import { openaiEmbeddings } from '../tasks/openai.ts';
import { openaiDecisions } from '../tasks/openai-decisions.ts';
import { openaiImages } from '../tasks/openai-images.ts';
import { openaiModerations, openaiRerank } from '../tasks/openai-rerank.ts';
import { openaiSpeech } from '../tasks/speech.ts';
import { openaiTranscripts } from '../tasks/transcripts.ts';
import { decodeError } from './errors.ts';
import { profileOf } from './order.ts';
import { unsupportedParameters } from './parameters.ts';
import { type ChatQuirks, chatQuirks } from './quirks.ts';
import { encodeRequest } from './request.ts';
import { decodeResult } from './result.ts';
import { streamDecoder } from './stream.ts';

/** Chat completions as OpenAI defined them, and the many servers that follow. */
export const openaiChat = defineDialect<ChatQuirks>({
  name: 'openai-chat',
  format: 'chat',
  quirks: chatQuirks,
  minMaxTokens: ({ minMaxTokens }) => minMaxTokens ?? 0,
  counting: ({ reasoningBeside, lowDetail, alwaysSearches }) => ({ reasoningBeside, lowDetail, alwaysSearches }),
  tasks: {
    embeddings: openaiEmbeddings,
    rerank: openaiRerank,
    moderations: openaiModerations,
    decisions: openaiDecisions,
    speech: openaiSpeech,
    transcriptions: openaiTranscripts,
    translations: openaiTranscripts,
    images: openaiImages,
  },
  unsupportedParameters,
  profile: profileOf,
  encodeRequest,
  decodeResult,
  streamDecoder,
  decodeError,
});
