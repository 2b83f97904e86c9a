import { serverSentEvents } from '../base/framing/sse.ts';
import type { Dialect } from './dialect.ts';
import { decodeError } from './openai-chat/errors.ts';
import { unsupportedParameters } from './openai-chat/parameters.ts';
import { type ChatQuirks, chatQuirks } from './openai-chat/quirks.ts';
import { encodeRequest } from './openai-chat/request.ts';
import { decodeResult } from './openai-chat/result.ts';
import { streamDecoder } from './openai-chat/stream.ts';

/** Chat completions as OpenAI defined them, and the many servers that follow. */
export const openaiChat: Dialect<ChatQuirks> = {
  name: 'openai-chat',
  framing: serverSentEvents,
  nativeChunks: true,
  quirks: chatQuirks,
  minMaxTokens: ({ minMaxTokens }) => minMaxTokens ?? 0,
  counting: ({ reasoningBeside, lowDetail, alwaysSearches }) => ({ reasoningBeside, lowDetail, alwaysSearches }),
  generatesOn: ({ generatesOn }) => generatesOn === true,
  unsupportedParameters,
  encodeRequest,
  decodeResult,
  streamDecoder,
  decodeError,
};
