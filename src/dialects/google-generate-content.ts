import { serverSentEvents } from '../base/framing/sse.ts';
import type { Dialect } from './dialect.ts';
import { decodeError } from './google-generate-content/errors.ts';
import { type GoogleQuirks, googleQuirks } from './google-generate-content/quirks.ts';
import { encodeRequest } from './google-generate-content/request.ts';
import { decodeResult } from './google-generate-content/result.ts';
import { streamDecoder } from './google-generate-content/stream.ts';
import { leftOutParameters } from './shared/left-out-parameters.ts';

/**
 * Google's own interface to Gemini, which the Gemini API and Vertex AI have in common.
 * @see https://ai.google.dev/api/generate-content
 */
export const googleGenerateContent: Dialect<GoogleQuirks> = {
  name: 'google-generate-content',
  framing: serverSentEvents,
  nativeChunks: false,
  quirks: googleQuirks,
  minMaxTokens: () => 0,
  // `maxOutputTokens` limits thoughts too.
  counting: () => ({ reasoningBeside: false }),
  generatesOn: ({ generatesOn }) => generatesOn === true,
  unsupportedParameters: leftOutParameters(encodeRequest),
  mapsWebSearch: true,
  encodeRequest,
  decodeResult,
  streamDecoder,
  decodeError,
};
