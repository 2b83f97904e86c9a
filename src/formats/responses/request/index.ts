import { type Ask, askOf } from '../../../call/ask.ts';
import type { Native, NativeObject } from '../../../call/native.ts';
import type { ChatMessage, ChatRequest } from '../../../schema/chat/chat.ts';
import type { ResponsesRequest } from '../../../schema/responses/responses.ts';
import { pathOf } from './caller-path.ts';
import { createDropped, type Dropped } from './dropped.ts';
import { convertFields } from './fields.ts';
import { type ConvertedItems, convertItems } from './items.ts';
import { convertToolChoice } from './tool-choice.ts';
import { type ConvertedTools, convertTools } from './tools.ts';

/**
 * Makes a chat request of a Responses request, with the parts that a chat request has no place for.
 * @param request  checked by its schema, `responsesIssues` and `responsesContradictions`; is not changed
 */
export function askOfResponses(request: ResponsesRequest): Ask {
  const dropped = createDropped();
  const tools = convertTools(request.tools ?? [], request.input, dropped);
  const items = convertInput(request.input, tools, dropped);
  const fields = convertFields(request, tools.chat.length > 0, dropped);
  const choice = convertToolChoice(request.tool_choice, tools, dropped);
  const instructions: ChatMessage | null = request.instructions
    ? { role: 'system', content: request.instructions }
    : null;
  const messages = [...items.messages];
  const itemsOf: (readonly NativeObject[] | null)[] = [...items.itemsOf];
  if (instructions !== null) {
    messages.unshift(instructions);
    itemsOf.unshift([]);
  }
  const chat = { ...fields.chat, messages } as ChatRequest;
  if (tools.chat.length > 0) chat.tools = [...tools.chat];
  if (choice !== undefined) chat.tool_choice = choice;
  const native: Native = {
    format: 'responses',
    input: typeof request.input === 'string' ? [] : request.input,
    items: itemsOf,
    instructionsAt: instructions === null ? null : 0,
    tools: tools.holders,
    hostedTools: tools.hosted,
    toolChoice: request.tool_choice ? { chat: choice, own: request.tool_choice } : null,
    fields: fields.own,
    include: fields.include,
    dropped: dropped.list(),
    onlyNative: items.onlyNative,
    callForms: tools.names.forms,
    purpose: 'respond',
    toolMedia: items.toolMedia,
    pathOf,
  };
  return askOf(chat, native);
}

function convertInput(input: ResponsesRequest['input'], { names }: ConvertedTools, dropped: Dropped): ConvertedItems {
  if (typeof input !== 'string') return convertItems(input, names, dropped);
  const message: ChatMessage = { role: 'user', content: input };
  return { messages: [message], itemsOf: [null], onlyNative: [], toolMedia: [] };
}
