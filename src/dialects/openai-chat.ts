import type { Dialect } from './dialect.ts';
import { decodeError } from './openai-chat/errors.ts';
import { encodeRequest } from './openai-chat/request.ts';
import { decodeResult } from './openai-chat/result.ts';
import { streamDecoder } from './openai-chat/stream.ts';

/** Chat completions as OpenAI defined them, and the many servers that follow. */
export const openaiChat: Dialect = {
  name: 'openai-chat',
  framing: 'sse',
  nativeChunks: true,
  encodeRequest,
  decodeResult,
  streamDecoder,
  decodeError,
};
