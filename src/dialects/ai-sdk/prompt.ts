import { isObject, type Loose } from '../../base/values.ts';
import type { AssistantMessage, CacheControl, ChatMessage, ContentPart, ToolMessage } from '../../schema/chat/chat.ts';
import { type CalledTools, calledTools } from '../shared/called-tools.ts';
import { withFailureInWords } from '../shared/failed-result.ts';
import type { Dropped } from '../shared/left-out.ts';
import { unsupported } from '../shared/unsupported.ts';
import { argumentsObject, contentText } from '../shared/values.ts';
import { encodeFile } from './files.ts';
import { type Metadata, merged, returnedIn } from './metadata.ts';
import type { AiSdkQuirks } from './quirks.ts';

/** Fields of a message that are carried, or that other code lists where they are not. */
const carriedFields: ReadonlySet<string> = new Set([
  'role',
  'content',
  'refusal',
  'tool_calls',
  'tool_call_id',
  'is_error',
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  'images',
]);

/** The context in which messages are encoded. */
export interface PromptContext {
  quirks: AiSdkQuirks;
  dropped: Dropped;
}

/**
 * Makes the prompt of an AI SDK language model. Results of tools that follow one another become one message, as the AI
 * SDK itself writes them.
 * @see https://github.com/vercel/ai/blob/main/packages/provider/src/language-model/v4/language-model-v4-prompt.ts
 */
export function encodePrompt(messages: readonly ChatMessage[], context: PromptContext): Loose[] {
  const prompt: Loose[] = [];
  /** Names of the tools by the ids of their calls: a result has to name its tool. */
  const called = calledTools();
  for (const [at, message] of messages.entries()) {
    const path = `messages[${at}]`;
    context.dropped.addOthers('messages[]', message, carriedFields);
    if (message.role === 'assistant')
      for (const call of message.tool_calls ?? []) called.note(call.id, call.function.name);
    if (message.role !== 'tool') {
      const encoded = encodeMessage(message, path, context);
      if (encoded !== null) prompt.push(encoded);
      continue;
    }
    const result = toolResult(withFailureInWords(message), called, path, context);
    const last = prompt.at(-1);
    if (last?.role === 'tool') (last.content as Loose[]).push(result);
    else prompt.push({ role: 'tool', content: [result] });
  }
  return prompt;
}

/** @returns null: the message says nothing */
function encodeMessage(message: Exclude<ChatMessage, ToolMessage>, path: string, context: PromptContext): Loose | null {
  if (message.role === 'assistant') return encodeAssistant(message, path, context);
  const parts = partsOf(message.content);
  if (message.role === 'user')
    return { role: 'user', content: parts.map((part, at) => encodePart(part, `${path}.content[${at}]`, context)) };
  const marks = parts.map((part) => cacheOptions(part, 'messages[].content[]', context));
  return {
    role: 'system',
    content: contentText(message.content) ?? '',
    // The text is one: the last mark is the furthest.
    ...options(marks.findLast((one) => one !== null) ?? null),
  };
}

/** Returns the parts of a content; a text is one part. */
function partsOf(content: string | readonly ContentPart[]): readonly ContentPart[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

function encodePart(part: ContentPart, path: string, context: PromptContext): Loose {
  const marks = options(cacheOptions(part, 'messages[].content[]', context));
  if (part.type === 'text') return { type: 'text', text: part.text, ...marks };
  return { ...encodeFile(part, path, context.dropped), ...marks };
}

function encodeAssistant(message: AssistantMessage, path: string, context: PromptContext): Loose | null {
  const { dropped } = context;
  const returned = returnedIn(message);
  if (returned === null) dropped.addSet('messages[]', message, ['reasoning', 'reasoning_content', 'reasoning_details']);
  const said = partsOf(message.content ?? message.refusal ?? '').filter(
    (part) => part.type !== 'text' || part.text !== '',
  );
  const notes = said.length === 1 ? (returned?.text ?? null) : null;
  const content = [
    ...(returned?.thoughts ?? []).map(({ text, metadata }) => ({ type: 'reasoning', text, ...options(metadata) })),
    ...said.map((part, at) => withNotes(encodePart(part, `${path}.content[${at}]`, context), notes)),
    ...(message.images ?? []).map((image, at) =>
      encodeFile({ type: 'image_url', image_url: { url: image.image_url.url } }, `${path}.images[${at}]`, dropped),
    ),
    ...(message.tool_calls ?? []).map(({ id, function: { name, arguments: text } }) => ({
      type: 'tool-call',
      toolCallId: id,
      toolName: name,
      // In the way of the AI SDK, where they are no object.
      input: argumentsObject(text, 'rawInvalidInput'),
      ...options(returned?.calls.get(id) ?? null),
    })),
  ];
  return content.length === 0 ? null : { role: 'assistant', content };
}

function withNotes(part: Loose, notes: Metadata | null): Loose {
  if (notes === null) return part;
  const { providerOptions } = part;
  return { ...part, ...options(merged(notes, isObject(providerOptions) ? (providerOptions as Metadata) : null)) };
}

function toolResult(message: ToolMessage, called: CalledTools, path: string, context: PromptContext): Loose {
  const { content, tool_call_id: toolCallId } = message;
  const toolName = called.nameOf(toolCallId);
  if (toolName === undefined) throw unsupported(`${path}.tool_call_id`, 'the id of an earlier tool call');
  const output =
    typeof content === 'string'
      ? { type: 'text', value: content }
      : {
          type: 'content',
          value: content.map((part, at) => encodePart(part, `${path}.content[${at}]`, context)),
        };
  return { type: 'tool-result', toolCallId, toolName, output };
}

/**
 * Returns a mark of a part to cache, as the model's provider reads it; null: there is none, or the provider takes none.
 */
export function cacheOptions(
  holder: { cache_control?: CacheControl | undefined } | object,
  place: string,
  { quirks, dropped }: PromptContext,
): Metadata | null {
  const { cache_control: mark } = holder as { cache_control?: CacheControl };
  if (mark === undefined || mark === null) return null;
  if (quirks.cacheControl !== undefined) return { [quirks.cacheControl]: { cacheControl: { ...mark } } };
  dropped.add(`${place === '' ? '' : `${place}.`}cache_control`);
  return null;
}

/** Returns the field for options that only the model's provider understands. */
export function options(providerOptions: Metadata | null): { providerOptions?: Metadata } {
  return providerOptions === null ? {} : { providerOptions };
}
