import type { Ask } from '../../call/ask.ts';
import type { Native, NativeObject } from '../../call/native.ts';
import type { ChatMessage, ChatRequest } from '../../schema/chat/chat.ts';
import type { ResponsesRequest } from '../../schema/responses/responses.ts';
import { askOfResponses } from './request/index.ts';

/** The question to the model: the next worker has nothing of the conversation but the response. */
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
export function askToCompact(request: ResponsesRequest): Ask {
  const ask = withQuestion(askOfResponses(request), []);
  // The summary comes at once.
  const { stream: _stream, stream_options: _options, ...rest } = ask.request;
  const native = ask.native && ({ ...ask.native, purpose: 'compact', toolChoice: null } satisfies Native);
  return { ...ask, request: rest, native };
}

/**
 * The item with which a request asks for a `compaction` item as its response: the last one of the input.
 * @returns null: the request asks for an ordinary response
 */
export function compactionTrigger({ input }: ResponsesRequest): NativeObject | null {
  const last = typeof input === 'string' ? undefined : input.at(-1);
  return last?.type === 'compaction_trigger' ? last : null;
}

/**
 * Makes a chat request of a Responses request that ends with a `compaction_trigger`: an upstream that knows the item
 * gets it, any other the question for a summary.
 * @param request  is not changed
 */
export function askOfTriggered(request: ResponsesRequest, trigger: NativeObject): Ask {
  const input = request.input.slice(0, -1) as ResponsesRequest['input'];
  return withQuestion(askOfResponses({ ...request, input }), [trigger]);
}

/** @param items  the items of the question, for an upstream that speaks Responses */
function withQuestion(ask: Ask, items: readonly NativeObject[]): Ask {
  const closing: ChatMessage = { role: 'user', content: question };
  // The summary is a plain text of its own length.
  const { response_format: _format, verbosity: _verbosity, ...rest } = ask.request;
  const asked = { ...rest, messages: [...rest.messages, closing] } as ChatRequest;
  // The tools stay, so that a prompt that the provider has cached still fits.
  if (asked.tools) asked.tool_choice = 'none';
  return { ...ask, request: asked, native: ask.native && { ...ask.native, items: [...ask.native.items, items] } };
}
