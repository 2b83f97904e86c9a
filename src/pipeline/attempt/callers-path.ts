import { UpstreamError } from '../../base/upstream-error.ts';
import { originOf } from '../../call/responses-origin.ts';
import type { ChatRequest } from '../../schema/chat.ts';

const inMessage = /^messages\[(\d+)\](?:\.content\[(\d+)\])?[^\s:]*/;
const ofFormat = /^response_format[^\s:]*/;

/**
 * The refusal of a dialect, which names a place in the chat request, with the place in the Responses request that the
 * caller sent. Of what the model said in a row, the last item is named.
 */
export function withCallersPath(error: unknown, request: ChatRequest): unknown {
  const origin = originOf(request);
  if (origin === null || !(error instanceof UpstreamError) || !error.isUnsent) return error;
  const message = error.message
    .replace(ofFormat, 'text.format')
    .replace(/^messages(?=:)/, 'input')
    .replace(inMessage, (path, at: string, part: string | undefined) => {
      const of = request.messages[Number(at)];
      if (of === undefined) return path;
      if (of === origin.instructions) return 'instructions';
      const item = origin.itemsOf.get(of)?.at(-1);
      const place = item === undefined ? -1 : origin.input.indexOf(item);
      if (place === -1) return 'input';
      if (part === undefined) return `input[${place}]`;
      return `input[${place}].${of.role === 'tool' ? 'output' : 'content'}[${part}]`;
    });
  return error.with({ message });
}
