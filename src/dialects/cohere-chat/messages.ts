import type { Loose } from '../../base/values.ts';
import type { AssistantMessage, ChatMessage, ContentPart, ToolMessage } from '../../schema/chat/chat.ts';
import { withFailureInWords } from '../shared/failed-result.ts';
import type { Dropped } from '../shared/left-out.ts';
import { unsupported } from '../shared/unsupported.ts';
import { contentText } from '../shared/values.ts';
import { ownThoughts } from './reasoning.ts';

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
]);

type Parts = string | readonly ContentPart[];

/**
 * Encodes messages as Cohere takes them. Their order and number stay, except for messages that say nothing, which it
 * refuses.
 * @see https://docs.cohere.com/reference/chat#request.body.messages
 */
export function encodeMessages(messages: readonly ChatMessage[], dropped: Dropped): Loose[] {
  return messages
    .map((message, at) => encodeMessage(message, `messages[${at}]`, dropped))
    .filter((message) => message !== null);
}

/** @returns null: the message says nothing */
function encodeMessage(message: ChatMessage, path: string, dropped: Dropped): Loose | null {
  dropped.addOthers('messages[]', message, carriedFields);
  switch (message.role) {
    case 'system':
    case 'developer':
      return { role: 'system', content: encodeParts(message.content, path, dropped, 'text') };
    case 'user':
      return { role: 'user', content: encodeParts(message.content, path, dropped, 'text or an image') };
    case 'tool':
      return encodeToolMessage(withFailureInWords(message), path, dropped);
    case 'assistant':
      return encodeAssistant(message, path, dropped);
  }
}

function encodeToolMessage(message: ToolMessage, path: string, dropped: Dropped): Loose {
  return {
    role: 'tool',
    tool_call_id: message.tool_call_id,
    content: encodeParts(message.content, path, dropped, 'text'),
  };
}

function encodeAssistant(message: AssistantMessage, path: string, dropped: Dropped): Loose | null {
  const thoughts = ownThoughts(message);
  if (thoughts === null) dropped.addSet('messages[]', message, ['reasoning', 'reasoning_content', 'reasoning_details']);
  const encoded: Loose = { role: 'assistant' };
  const thinking = (thoughts?.thinking ?? []).map((text) => ({ type: 'thinking', thinking: text }));
  const said = encodeParts(message.content ?? message.refusal ?? '', path, dropped, 'text');
  const calls = message.tool_calls ?? [];
  if (calls.length > 0)
    encoded.tool_calls = calls.map(({ id, function: { name, arguments: text } }) => ({
      id,
      type: 'function',
      function: { name, arguments: text },
    }));
  // The text beside calls is the plan of them: Cohere documents no other text there.
  const text = calls.length > 0 ? '' : said;
  if (thinking.length > 0) encoded.content = [...thinking, ...blocksOf(text)];
  else if (text.length > 0) encoded.content = text;
  const plan = [thoughts?.plan ?? '', ...(calls.length > 0 ? [textIn(said)] : [])].filter((one) => one !== '');
  if (plan.length > 0) encoded.tool_plan = plan.join('\n');
  return Object.keys(encoded).length === 1 ? null : encoded;
}

function blocksOf(said: string | Loose[]): Loose[] {
  if (typeof said !== 'string') return said;
  return said === '' ? [] : [{ type: 'text', text: said }];
}

function textIn(said: string | Loose[]): string {
  return contentText(said) ?? '';
}

/** @param expected  the content that the role may have, completes "expected …" */
function encodeParts(content: Parts, path: string, dropped: Dropped, expected: string): string | Loose[] {
  if (typeof content === 'string') return content;
  return content.map((part, at) => {
    // Cohere caches by itself, and takes no marks of places.
    dropped.addSet('messages[].content[]', part, ['cache_control']);
    if (part.type === 'text') return { type: 'text', text: part.text };
    if (part.type !== 'image_url' || expected === 'text') throw unsupported(`${path}.content[${at}]`, expected);
    return { type: 'image_url', image_url: encodeImage(part.image_url, dropped) };
  });
}

/** @see https://docs.cohere.com/docs/image-inputs */
function encodeImage({ url, detail }: { url: string; detail?: string | undefined }, dropped: Dropped): Loose {
  if (detail === undefined) return { url };
  if (detail !== 'original') return { url, detail };
  dropped.add('messages[].content[].image_url.detail');
  return { url, detail: 'high' };
}
