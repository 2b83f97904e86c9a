import { isObject, type Loose } from '../../base/values.ts';
import type { Native } from '../../call/native.ts';
import type { OutputDelta } from '../../call/output-item.ts';
import { withOutputItem } from '../../call/output-item.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import type { DialectRequest, EncodedRequest } from '../dialect.ts';
import { gatewayFields } from '../shared/gateway-fields.ts';
import type { Dropped } from './dropped.ts';
import { encodeNativeInput } from './native/items.ts';
import { nativeTools } from './native/tools.ts';
import type { ResponsesQuirks } from './quirks.ts';

/**
 * true: the provider itself is asked for a shorter conversation. It takes no largest output: where one has to be sent,
 * the model is asked for a summary instead.
 */
export function asksToCompact(request: ChatRequest, { purpose }: Native, { compacts }: ResponsesQuirks): boolean {
  const largest = request.max_completion_tokens ?? request.max_tokens ?? null;
  return compacts === true && largest === null && purpose === 'compact';
}

/** Fields of a chat request that the endpoint takes. */
const taken: readonly string[] = ['prompt_cache_key', 'prompt_cache_retention', 'service_tier'];

/**
 * Encodes the conversation alone, without the question that closes it.
 * @see https://platform.openai.com/docs/api-reference/responses/compact
 */
export function encodeCompaction(
  { request, upstreamModel, quirks, isLimited = false }: DialectRequest<ResponsesQuirks>,
  native: Native,
  dropped: Dropped,
): EncodedRequest {
  const tools = nativeTools(native, isLimited, dropped);
  const { instructions, input } = encodeNativeInput(request.messages, native, {
    quirks,
    dropped,
    tools,
    isLimited,
    compacts: true,
  });
  const payload: Loose = { model: upstreamModel, input };
  if (instructions !== null) payload.instructions = instructions;
  const refused = quirks.dropParams ?? [];
  for (const [key, value] of [...Object.entries(request), ...Object.entries(native.fields)]) {
    if (value === null || value === undefined || key === 'messages' || gatewayFields.includes(key)) continue;
    if (taken.includes(key) && !refused.includes(key)) payload[key] = value;
    else dropped.noteOthers('', { [key]: value }, []);
  }
  return {
    path: '/responses/compact',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    payload,
    body: JSON.stringify(payload),
    choices: 1,
    dropped: dropped.list(),
    reading: { outputItems: true, compaction: true },
  };
}

/** true: a response is a shorter conversation. */
export function isCompaction(body: Loose): boolean {
  return body.object === 'response.compaction';
}

/** Returns its items, which stand for the conversation: some are the user's, so none is text of the model. */
export function compactedDeltas(output: readonly unknown[]): OutputDelta[] {
  return output
    .filter(isObject)
    .map((item, index) => ({ delta: withOutputItem({}, { index, item, isOpaque: true, isDone: true }) }));
}
