import { type ResponsesOrigin, withOrigin } from '../../call/responses-origin.ts';
import type { ChatMessage, ChatRequest } from '../../schema/chat.ts';
import type { ResponsesRequest } from '../../schema/responses.ts';
import { createDropped, type Dropped } from './request/dropped.ts';
import { convertFields } from './request/fields.ts';
import { type ConvertedItems, convertItems } from './request/items.ts';
import { convertToolChoice } from './request/tool-choice.ts';
import { type ConvertedTools, convertTools } from './request/tools.ts';

/**
 * Makes a chat request of a Responses request. What a chat request has no place for is in its origin.
 * @param request  as its schema, `responsesIssues` and `responsesContradictions` let it pass; is not changed
 */
export function toChatRequest(request: ResponsesRequest): ChatRequest {
  const dropped = createDropped();
  const tools = convertTools(request.tools ?? [], request.input, dropped);
  const items = convertInput(request.input, tools, dropped);
  const fields = convertFields(request, tools.chat.length > 0, dropped);
  const choice = convertToolChoice(request.tool_choice, tools, dropped);
  const instructions: ChatMessage | null = request.instructions
    ? { role: 'system', content: request.instructions }
    : null;
  const { messages, itemsOf } = items;
  if (instructions !== null) {
    messages.unshift(instructions);
    itemsOf.set(instructions, []);
  }
  const chat = { ...fields.chat, messages } as ChatRequest;
  if (tools.chat.length > 0) chat.tools = [...tools.chat];
  if (choice !== undefined) chat.tool_choice = choice;
  const origin: ResponsesOrigin = {
    input: typeof request.input === 'string' ? [] : request.input,
    itemsOf,
    instructions,
    toolOf: tools.toolOf,
    hostedTools: tools.hosted,
    toolChoice: request.tool_choice ? { chat: choice, own: request.tool_choice } : null,
    fields: fields.own,
    include: fields.include,
    dropped: dropped.list(),
    onlyNative: items.onlyNative,
    callForms: tools.names.forms,
    purpose: 'respond',
    toolMedia: items.toolMedia,
  };
  return withOrigin(chat, origin);
}

function convertInput(input: ResponsesRequest['input'], { names }: ConvertedTools, dropped: Dropped): ConvertedItems {
  if (typeof input !== 'string') return convertItems(input, names, dropped);
  const message: ChatMessage = { role: 'user', content: input };
  return { messages: [message], itemsOf: new WeakMap(), onlyNative: [], toolMedia: [] };
}
