import type { Ask } from '../../../call/ask.ts';
import type { ChatRequest } from '../../../schema/chat/chat.ts';
import type { GeminiRequest } from '../../../schema/gemini/request.ts';
import { createLeftover } from '../../leftover.ts';
import { wholeAsk } from '../../whole-ask.ts';
import { convertFields } from './fields.ts';
import { convertContents } from './messages.ts';
import { withoutSealed } from './sealed.ts';
import { noteStored } from './stored.ts';
import { convertChoice, convertTools } from './tools.ts';

/** The facts of a request that stand outside of its body. */
export interface GeminiTarget {
  /** Slug of the model, from the path. */
  model: string;
  /** true: the response is streamed. */
  stream: boolean;
}

/**
 * Makes a chat request of a request of the Gemini wire, with the parts that a chat request has no place for.
 * @param request  checked by its schema and `geminiIssues`; is not changed
 */
export function askOfGemini(request: GeminiRequest, { model, stream }: GeminiTarget): Ask {
  const leftover = createLeftover();
  const body = withoutSealed(request);
  const { messages, itemsOf, places } = convertContents(request, body.contents, leftover);
  const { tools, choice } = convertChoice(request, convertTools(request, leftover));
  const fields = convertFields(request, leftover);
  noteStored(request, leftover);
  const chat = { ...fields.chat, model, messages } as ChatRequest;
  if (stream) chat.stream = true;
  // A list of no tools is refused by some upstreams.
  if (tools.chat.length > 0) chat.tools = tools.chat;
  if (choice !== undefined) chat.tool_choice = choice;
  return wholeAsk({
    format: 'gemini',
    chat,
    places,
    leftover,
    body,
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
    .replace(/^response_format/, 'generationConfig.responseSchema')
    .replace(/^messages\[(\d+)\]/, (found, digits: string) => {
      const at = places[Number(digits)];
      if (at === undefined) return found;
      return at === -1 ? 'systemInstruction' : `contents[${at}]`;
    });
}
