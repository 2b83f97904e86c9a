import type { Revision } from '../../call/ask.ts';
import type { AssistantMessage, ChatMessage, ChatRequest, ContentPart } from '../../schema/chat/chat.ts';
import { fieldsWith } from '../../schema/chat/fields.ts';
import { comparisonFormat } from './comparison.ts';
import { depthHeaders } from './depth.ts';
import type { PanelTools } from './settings.ts';

/** The settings of all requests of the plugin, beside the chat request. */
const ofFusion = { headers: depthHeaders, takesTurns: true } as const;

const sharedFields: readonly string[] = fieldsWith({ generations: 'all' });
const answerFields: readonly string[] = [...sharedFields, ...fieldsWith({ generations: 'answers' })];

/**
 * Makes the question for one analysis model: the conversation, and server tools. The tools of the request, the form of
 * the response and everything that shapes the client's response are for the writer.
 */
export function panelRequest(
  request: ChatRequest,
  model: string,
  { tools, maxCalls }: Pick<PanelTools, 'tools' | 'maxCalls'>,
): Revision {
  const asked = { ...picked(request, answerFields), model, messages: withoutCalls(request.messages) };
  return tools.length === 0
    ? ofItsOwn(asked)
    : { ...ofItsOwn({ ...asked, tools: [...tools] }), maxToolCalls: maxCalls };
}

/** Makes the question for the judge. @param isForm  false: without a `response_format` */
export function judgeRequest(
  request: ChatRequest,
  model: string,
  prompt: string,
  maxTokens: number,
  isForm: boolean,
): Revision {
  return ofItsOwn({
    ...picked(request, sharedFields),
    model,
    messages: [...withoutCalls(request.messages), { role: 'user', content: prompt }],
    max_completion_tokens: maxTokens,
    ...(isForm ? { response_format: comparisonFormat } : {}),
  });
}

/** Makes the request whose response the client gets: its own, with the findings and another model. */
export function finalRequest(request: ChatRequest, model: string, prompt: string): Revision {
  const { models: _models, route: _route, ...rest } = request;
  const { messages } = request;
  // The beginning of the response, which the request gives, stays behind everything.
  let end = messages.length;
  while (end > 0 && messages[end - 1]?.role === 'assistant') end--;
  const briefed: ChatMessage[] = [...messages.slice(0, end), { role: 'user', content: prompt }, ...messages.slice(end)];
  return { request: { ...rest, model, messages: briefed }, ...ofFusion };
}

function picked(request: ChatRequest, fields: readonly string[]): Partial<ChatRequest> {
  const all = request as Record<string, unknown>;
  const some: Record<string, unknown> = {};
  for (const field of fields) if (all[field] !== undefined) some[field] = all[field];
  return some;
}

/**
 * Makes a chat request of its own, without the parts that the client wrote in its own format, such as tools of a
 * provider.
 */
function ofItsOwn(request: ChatRequest): Revision {
  return { request, native: null, ...ofFusion };
}

/** Makes text of calls of tools and their results: providers refuse them in a request without tools. */
function withoutCalls(messages: readonly ChatMessage[]): ChatMessage[] {
  return messages.map((message) => {
    if (message.role === 'tool') {
      const label = `[Result of the tool call ${message.tool_call_id}]`;
      return { role: 'user', content: labelled(label, message.content) } as ChatMessage;
    }
    if (message.role !== 'assistant' || !message.tool_calls?.length) return message;
    const calls = message.tool_calls.map(
      ({ id, function: { name, arguments: given } }) => `[Call ${id} of the tool ${name} with ${given}]`,
    );
    const said = textOf(message.content);
    return { role: 'assistant', content: [...(said === '' ? [] : [said]), ...calls].join('\n') };
  });
}

function labelled(label: string, content: ChatMessage['content']): string | ContentPart[] {
  if (!Array.isArray(content)) return `${label}\n${content ?? ''}`;
  return [{ type: 'text', text: label }, ...(content as ContentPart[])];
}

function textOf(content: AssistantMessage['content']): string {
  if (!Array.isArray(content)) return content ?? '';
  return content.map((part) => ('text' in part && typeof part.text === 'string' ? part.text : '')).join('');
}
