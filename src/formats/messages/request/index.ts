import type { Ask } from '../../../call/ask.ts';
import type { ChatRequest } from '../../../schema/chat/chat.ts';
import type { MessagesRequest } from '../../../schema/messages/request.ts';
import { createLeftover } from '../../leftover.ts';
import { wholeAsk } from '../../whole-ask.ts';
import { convertFields } from './fields.ts';
import { convertMessages } from './messages.ts';
import { ownWire } from './own-wire.ts';
import { convertChoice, convertTools } from './tools.ts';

/**
 * Makes a chat request of a Messages request, with the parts that a chat request has no place for.
 * @param request  checked by its schema and `messagesIssues`; is not changed
 * @param headers  headers of the client that an upstream of the same wire format gets
 */
export function askOfMessages(request: MessagesRequest, headers: Readonly<Record<string, string>> = {}): Ask {
  const leftover = createLeftover();
  const converted = convertMessages(request, leftover);
  const tools = convertTools(request, leftover);
  const fields = convertFields(request, leftover);
  const chat = { ...fields.chat, messages: converted.messages } as ChatRequest;
  // A list of no tools is refused by some upstreams.
  if (tools.chat.length > 0) chat.tools = tools.chat;
  Object.assign(chat, convertChoice(request, tools, leftover));
  const { itemsOf, places } = converted;
  const { messages, left } = ownWire(request.messages);
  return wholeAsk({
    format: 'messages',
    chat,
    places,
    leftover,
    body: messages === request.messages ? request : { ...request, messages },
    left,
    headers,
    items: itemsOf,
    tools: tools.holders,
    hostedTools: tools.hosted,
    fields: fields.own,
    pathOf,
  });
}

/** Returns the place in the caller's request that a place in the chat request was made of. */
function pathOf(places: readonly number[], path: string): string {
  return path
    .replace(/^response_format/, 'output_config.format')
    .replace(/^messages\[(\d+)\]/, (found, digits: string) => {
      const at = places[Number(digits)];
      if (at === undefined) return found;
      return at === -1 ? 'system' : `messages[${at}]`;
    });
}
