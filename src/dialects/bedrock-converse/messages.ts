import { addAll, isObject, type Loose } from '../../base/values.ts';
import type { ChatMessage } from '../../schema/chat/chat.ts';
import type { AssistantMessage, ToolMessage } from '../../schema/chat/message.ts';
import type { CacheControl, ContentPart } from '../../schema/chat/part.ts';
import { type CalledTools, calledTools } from '../shared/called-tools.ts';
import { cutText, interleave, type PlacedBlock, type PlacedThought } from '../shared/interleave.ts';
import { unsupported } from '../shared/unsupported.ts';
import { argumentsObject, contentText } from '../shared/values.ts';
import { cachePoint, maxMarks } from './caching.ts';
import type { ModelTraits } from './model.ts';
import { blockOfPart, type PartContext } from './parts.ts';
import { reasoningBlocks } from './reasoning-details.ts';

type Role = 'user' | 'assistant';

/** A message as the provider takes it. */
export interface ConverseMessage {
  role: Role;
  content: Loose[];
}

/** A conversation as the provider takes it. */
export interface Conversation {
  system: Loose[];
  /** Roles alternate. */
  messages: ConverseMessage[];
}

/** The state while a conversation is encoded. */
interface Encoding extends Conversation, PartContext {
  traits: ModelTraits;
  /** false: the request has no tools, and the provider would refuse blocks of tools. */
  hasTools: boolean;
  called: CalledTools;
  upstreamModel: string;
  dropped: Set<string>;
}

/** Fields that a message from an earlier response may have, and that the provider has no word for. */
const unsent = ['name', 'audio', 'images', 'annotations'] as const;

/**
 * Encodes the messages of a request. System messages come first, wherever they stood. For models that bind thoughts,
 * later ones instead become text of the user at their place. Messages of one role in a row become one.
 * @param takesS3  true: addresses in S3 pass
 * @param dropped  gets the fields that have no effect
 * @throws UpstreamError for parts that the provider cannot take
 */
export function encodeMessages(
  messages: readonly ChatMessage[],
  traits: ModelTraits,
  upstreamModel: string,
  hasTools: boolean,
  takesS3: boolean,
  dropped: Set<string>,
): Conversation {
  const encoding: Encoding = {
    system: [],
    messages: [],
    traits,
    hasTools,
    names: new Map(),
    takesS3,
    called: calledTools(),
    upstreamModel,
    dropped,
  };
  messages.forEach((message, at) => {
    noteUnsent(message, dropped);
    const path = `messages[${at}]`;
    if (isInstruction(message)) {
      // An instruction that moves to the start would change the messages before every thought.
      const mayMove = !traits.bindsThoughts || encoding.messages.length === 0;
      if (mayMove) addAll(encoding.system, contentBlocks(message, path, encoding));
      else append(encoding, 'user', contentBlocks(message, path, encoding));
    } else if (message.role === 'assistant') append(encoding, 'assistant', assistantBlocks(message, path, encoding));
    else if (message.role === 'tool') append(encoding, 'user', resultBlocks(message, path, encoding));
    else append(encoding, 'user', contentBlocks(message, path, encoding));
  });
  const last = encoding.messages.at(-1);
  if (last?.role === 'assistant' && !traits.prefill && !('toolUse' in (last.content.at(-1) as Loose)))
    throw unsupported(`messages[${messages.length - 1}]`, 'a message of a user or a tool: this model continues none');
  trimPrefill(last);
  // Instructions alone are no conversation.
  if (encoding.messages.length === 0) return { system: [], messages: [{ role: 'user', content: encoding.system }] };
  return { system: encoding.system, messages: encoding.messages };
}

function isInstruction({ role }: ChatMessage): boolean {
  return role === 'system' || role === 'developer';
}

/** Caches the prompt up to its end, unless the caller has set all the marks that there may be. */
export function markEnd(
  { system, messages }: Conversation,
  control: CacheControl,
  traits: ModelTraits,
  dropped: Set<string>,
): void {
  const last = messages.findLast(({ role }) => role === 'user');
  const marks = [system, ...messages.map(({ content }) => content)].flat().filter((block) => 'cachePoint' in block);
  const isMarked = last?.content.at(-1) !== undefined && 'cachePoint' in (last.content.at(-1) as Loose);
  if (last === undefined || traits.caching === null || marks.length >= maxMarks) dropped.add('cache_control');
  else if (!isMarked) last.content.push(cachePoint(control, traits, 'cache_control', dropped));
}

function noteUnsent(message: ChatMessage, dropped: Set<string>): void {
  for (const field of unsent) {
    const value = (message as Loose)[field];
    if (value !== undefined && value !== null) dropped.add(`messages[].${field}`);
  }
}

function append({ messages }: Encoding, role: Role, content: Loose[]): void {
  if (content.length === 0) return;
  const last = messages.at(-1);
  if (last?.role === role) addAll(last.content, content);
  else messages.push({ role, content });
}

/**
 * Trims the end of an assistant message at the end, which the model continues: the provider refuses white space there.
 */
function trimPrefill(last: ConverseMessage | undefined): void {
  const block = last?.role === 'assistant' ? last.content.at(-1) : undefined;
  if (typeof block?.text === 'string') block.text = block.text.trimEnd();
}

function contentBlocks(message: ChatMessage, path: string, encoding: Encoding): Loose[] {
  const { content } = message;
  const blocks: Loose[] = [];
  if (typeof content === 'string') {
    if (content.trim() !== '') blocks.push({ text: content });
  } else if (Array.isArray(content)) {
    (content as readonly ContentPart[]).forEach((part, at) => {
      const block = blockOfPart(part, `${path}.content[${at}]`, encoding);
      if (block !== null) blocks.push(block);
      if (part.type === 'image_url' && (part.image_url.detail ?? 'auto') !== 'auto')
        encoding.dropped.add('messages[].content[].image_url.detail');
      pushMark(blocks, part.cache_control, 'messages[].content[].cache_control', encoding);
    });
  }
  pushMark(blocks, (message as Loose).cache_control, 'messages[].cache_control', encoding);
  return blocks;
}

function pushMark(blocks: Loose[], control: unknown, path: string, { traits, dropped }: Encoding): void {
  if (!isObject(control) || blocks.length === 0) return;
  if (traits.caching === null) dropped.add(path);
  else blocks.push(cachePoint(control as unknown as CacheControl, traits, path, dropped));
}

function assistantBlocks(message: AssistantMessage, path: string, encoding: Encoding): Loose[] {
  const { thoughts, textEnds } = replayed(message, encoding);
  const { content } = message;
  const said: PlacedBlock[] =
    typeof content === 'string' && textEnds.length > 0
      ? cutText(content, textEnds).flatMap(({ start, text }) =>
          text.trim() === '' ? [] : [{ start, block: { text } }],
        )
      : contentBlocks(message, path, encoding).map((block) => ({ block }));
  const blocks = interleave(thoughts, said);
  if (typeof message.refusal === 'string' && message.refusal.trim() !== '') blocks.push({ text: message.refusal });
  for (const call of message.tool_calls ?? []) {
    const { name, arguments: text } = call.function;
    encoding.called.note(call.id, name);
    // The provider takes no calls either where the request has no tools: the model reads them as text.
    if (!encoding.hasTools) blocks.push({ text: `[Called the tool ${name} with ${text || '{}'}]` });
    else blocks.push({ toolUse: { toolUseId: call.id, name, input: argumentsObject(text) } });
  }
  return blocks;
}

interface Replayed {
  thoughts: readonly PlacedThought[];
  /** The places where the texts end that stood before thoughts. */
  textEnds: readonly number[];
}

const nothing: Replayed = { thoughts: [], textEnds: [] };

/** Returns earlier reasoning, which comes first, or where it stood: Claude insists on it. */
function replayed(message: AssistantMessage, { traits, upstreamModel, dropped }: Encoding): Replayed {
  const { reasoning_details: details } = message;
  // Some clients use the older name of the text.
  const field = isText(message.reasoning) ? 'reasoning' : 'reasoning_content';
  const text = message[field];
  const hasText = isText(text);
  if (details !== undefined && details.length > 0) {
    const { blocks, isComplete, textEnds } = reasoningBlocks(details, traits, upstreamModel);
    if (!isComplete) dropped.add('messages[].reasoning_details');
    if (blocks.length === 0 && hasText) dropped.add(`messages[].${field}`);
    return { thoughts: blocks, textEnds };
  }
  if (!hasText) return nothing;
  if (traits.replay === 'plain')
    return {
      thoughts: [{ place: 0, textStart: null, block: { reasoningContent: { reasoningText: { text } } } }],
      textEnds: [],
    };
  dropped.add(`messages[].${field}`);
  return nothing;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function resultBlocks(message: ToolMessage, path: string, encoding: Encoding): Loose[] {
  const { tool_call_id: id, content: given } = message;
  const { cache_control: mark, ...unmarked } = message as Loose;
  const marks = Array.isArray(given) ? given.map((part) => (part as Loose).cache_control) : [];
  const parts = Array.isArray(given) ? given.map(({ cache_control: _, ...part }: Loose) => part) : given;
  const content = contentBlocks({ ...unmarked, content: parts } as unknown as ChatMessage, path, encoding);
  const blocks: Loose[] = [];
  if (!encoding.hasTools) {
    const name = encoding.called.nameOf(id) ?? 'tool';
    blocks.push({ text: `[Result of the tool ${name}: ${contentText(given) ?? ''}]` });
    addAll(
      blocks,
      content.filter((block) => !('text' in block)),
    );
  } else {
    const failed = message.is_error === true || message.status === 'error' ? { status: 'error' } : {};
    const result = content.length > 0 ? content : [{ text: '(no output)' }];
    blocks.push({ toolResult: { toolUseId: id, content: result, ...failed } });
  }
  // A mark stands behind the result, not inside.
  const control = marks.findLast(isObject) ?? mark;
  pushMark(blocks, control, 'messages[].content[].cache_control', encoding);
  return blocks;
}
