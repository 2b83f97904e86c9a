import { serverSentEvents } from '../base/framing/sse.ts';
import { decodeError } from './ai-sdk/errors.ts';
import { type AiSdkQuirks, aiSdkQuirks } from './ai-sdk/quirks.ts';
import { encodeRequest } from './ai-sdk/request.ts';
import { decodeResult } from './ai-sdk/result.ts';
import { streamDecoder } from './ai-sdk/stream.ts';
import type { Dialect } from './dialect.ts';
import { leftOutParameters } from './shared/left-out-parameters.ts';

/**
 * What the AI SDK's language models of version 4 take and give, as JSON and as server-sent events of JSON. The models
 * run in the host app's process; `fromAiSdk` calls them.
 * @see https://github.com/vercel/ai/tree/main/packages/provider/src/language-model/v4
 */
export const aiSdk: Dialect<AiSdkQuirks> = {
  name: 'ai-sdk',
  framing: serverSentEvents,
  nativeChunks: false,
  quirks: aiSdkQuirks,
  minMaxTokens: () => 0,
  counting: ({ reasoningBeside }) => ({ reasoningBeside }),
  generatesOn: ({ generatesOn }) => generatesOn === true,
  unsupportedParameters: leftOutParameters(encodeRequest),
  encodeRequest,
  decodeResult,
  streamDecoder,
  decodeError,
};
