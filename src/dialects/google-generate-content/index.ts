import { defineDialect } from '../dialect.ts';
import { profiles } from '../fit/index.ts';
import { googleEmbeddings } from '../tasks/google.ts';
import { googleImages } from '../tasks/google-images.ts';
import { googleSpeech } from '../tasks/google-speech.ts';
import { countRequest } from './count.ts';
import { decodeError } from './errors.ts';
import { type GoogleQuirks, googleQuirks } from './quirks.ts';
import { encodeRequest } from './request/request.ts';
import { decodeResult } from './result.ts';
import { streamDecoder } from './stream.ts';

/**
 * Google's own interface to Gemini, which the Gemini API and Vertex AI share.
 * @see https://ai.google.dev/api/generate-content
 */
export const googleGenerateContent = defineDialect<GoogleQuirks>({
  name: 'google-generate-content',
  format: 'gemini',
  quirks: googleQuirks,
  sharesStored: ({ storedContent }) => storedContent === true,
  // `maxOutputTokens` limits thoughts too.
  counting: () => ({ reasoningBeside: false }),
  tasks: { embeddings: googleEmbeddings, images: googleImages, speech: googleSpeech },
  mapsWebSearch: true,
  profile: () => profiles.google,
  encodeRequest,
  count: countRequest,
  decodeResult,
  streamDecoder,
  decodeError,
});
