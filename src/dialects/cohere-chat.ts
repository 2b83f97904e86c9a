import { serverSentEvents } from '../base/framing/sse.ts';
import { decodeError } from './cohere-chat/errors.ts';
import { type CohereQuirks, cohereQuirks } from './cohere-chat/quirks.ts';
import { encodeRequest } from './cohere-chat/request.ts';
import { decodeResult } from './cohere-chat/result.ts';
import { streamDecoder } from './cohere-chat/stream.ts';
import type { Dialect } from './dialect.ts';
import { leftOutParameters } from './shared/left-out-parameters.ts';

/**
 * Cohere's own chat, version 2.
 * @see https://docs.cohere.com/reference/chat
 */
export const cohereChat: Dialect<CohereQuirks> = {
  name: 'cohere-chat',
  framing: serverSentEvents,
  nativeChunks: false,
  quirks: cohereQuirks,
  minMaxTokens: () => 0,
  // It honours `detail: "low"` of an image, but does not say how many tokens that is.
  counting: ({ reasoningBeside }) => ({ reasoningBeside }),
  generatesOn: ({ generatesOn }) => generatesOn === true,
  unsupportedParameters: leftOutParameters(encodeRequest),
  encodeRequest,
  decodeResult,
  streamDecoder,
  decodeError,
};
