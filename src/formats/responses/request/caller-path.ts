import type { Native } from '../../../call/native.ts';
import type { ChatRequest } from '../../../schema/chat/chat.ts';

const inMessage = /^messages\[(\d+)\](?:\.content\[(\d+)\])?[^\s:]*/;
const ofFormat = /^response_format[^\s:]*/;

/**
 * Returns the place in a Responses request that a place in the chat request was made of. For several items of the model
 * in a row, the last one is named.
 */
export function pathOf({ input, items, instructionsAt }: Native, { messages }: ChatRequest, path: string): string {
  return path
    .replace(ofFormat, 'text.format')
    .replace(/^messages(?=:)/, 'input')
    .replace(inMessage, (found, digits: string, part: string | undefined) => {
      const at = Number(digits);
      const message = messages[at];
      if (message === undefined) return found;
      if (at === instructionsAt) return 'instructions';
      const item = items[at]?.at(-1);
      const place = item === undefined ? -1 : input.indexOf(item);
      if (place === -1) return 'input';
      if (part === undefined) return `input[${place}]`;
      return `input[${place}].${message.role === 'tool' ? 'output' : 'content'}[${part}]`;
    });
}
