import { originOf, type ResponsesObject, type ResponsesOrigin, withOrigin } from '../../call/responses-origin.ts';
import type { ChatMessage, ChatRequest } from '../../schema/chat.ts';
import type { ResponsesRequest } from '../../schema/responses.ts';
import { toChatRequest } from './request.ts';

/** What the model is asked for: whoever goes on has nothing of the conversation but the response. */
const question = `The conversation is too long to go on with all of it. Write a summary that stands for it from now on.
Whoever continues the work reads only your summary, so write down all that is needed to go on without a break:
- Task: what the user wants, with every requirement, constraint and preference, as exactly as it was said.
- Decided: choices that were made, and why; what was tried and given up.
- Done: what is finished, with its results.
- Found: facts, file paths, names, commands, values and error messages that matter, letter for letter.
- Open: what is left to do, and the next step.
Leave out greetings and what no longer matters. Call no tool. Answer with the summary alone.`;

/**
 * Makes a chat request that asks for a summary of a conversation: the conversation, and a closing message with the
 * question. An upstream that compacts by itself gets the conversation alone.
 * @param request  the body of POST /responses/compact; is not changed
 */
export function toCompactionChatRequest(request: ResponsesRequest): ChatRequest {
  // The summary comes at once.
  const { stream: _stream, stream_options: _options, ...rest } = withQuestion(toChatRequest(request), []);
  const origin = originOf(rest as ChatRequest) as ResponsesOrigin;
  return withOrigin(rest as ChatRequest, { ...origin, purpose: 'compact', toolChoice: null });
}

/**
 * The item with which a request asks for a `compaction` item as its response: the last one of the input.
 * @returns null: the request asks for an ordinary response
 */
export function compactionTrigger({ input }: ResponsesRequest): ResponsesObject | null {
  const last = typeof input === 'string' ? undefined : input.at(-1);
  return last?.type === 'compaction_trigger' ? last : null;
}

/**
 * Makes a chat request of a Responses request that ends with a `compaction_trigger`: an upstream that knows the item
 * gets it, any other the question for a summary.
 * @param request  is not changed
 */
export function toTriggeredChatRequest(request: ResponsesRequest, trigger: ResponsesObject): ChatRequest {
  const input = request.input.slice(0, -1) as ResponsesRequest['input'];
  return withQuestion(toChatRequest({ ...request, input }), [trigger]);
}

/** @param items  what an upstream that speaks Responses gets of the question */
function withQuestion(chat: ChatRequest, items: readonly ResponsesObject[]): ChatRequest {
  const closing: ChatMessage = { role: 'user', content: question };
  // The summary is a plain text of its own length.
  const { response_format: _format, verbosity: _verbosity, ...rest } = chat;
  const asked = { ...rest, messages: [...chat.messages, closing] } as ChatRequest;
  (originOf(chat) as ResponsesOrigin).itemsOf.set(closing, items);
  // The tools stay, so that a prompt that the provider has cached still fits.
  if (asked.tools) asked.tool_choice = 'none';
  return asked;
}
