import { isObject, type Loose, without } from '../../../base/values.ts';
import type { Native, NativeObject } from '../../../call/native.ts';
import type { ChatMessage } from '../../../schema/chat/chat.ts';
import { unsupported } from '../../shared/unsupported.ts';
import { contentText } from '../../shared/values.ts';
import type { Dropped } from '../dropped.ts';
import { encodeMessage } from '../input.ts';
import type { ResponsesQuirks } from '../quirks.ts';
import { type NativeCalls, nativeCalls } from './calls.ts';
import type { NativeTools } from './tools.ts';

/** The conversation of a Responses request, for a provider that speaks Responses. */
export interface NativeInput {
  /** The instructions; null: there are none, or a plugin has changed them; then they are among the items. */
  instructions: string | null;
  input: Loose[];
  /** true: an item of the caller's is among the input. */
  isSent(item: NativeObject): boolean;
}

export interface NativeInputOptions {
  quirks: ResponsesQuirks;
  dropped: Dropped;
  tools: NativeTools;
  /** true: only the tokens of the request are paid for. */
  isLimited: boolean;
  /** true: the provider compacts by itself, and is not asked the closing question. */
  compacts: boolean;
}

/**
 * Encodes the items that the messages were made of, as the caller wrote them. A message that a plugin has put in the
 * place of another is encoded as in a chat request.
 */
export function encodeNativeInput(
  messages: readonly ChatMessage[],
  native: Native,
  options: NativeInputOptions,
): NativeInput {
  const { quirks, dropped } = options;
  const input: Loose[] = [];
  const sent = new Set<NativeObject>();
  let calls: NativeCalls | null = null;
  const takesInstructions = quirks.dropParams?.includes('instructions') !== true;
  let instructions: string | null = null;
  for (const [at, message] of messages.entries()) {
    const items = native.items[at] ?? null;
    const isInstructions = at === native.instructionsAt;
    // The last message of a compaction asks for a summary, and was made of no item.
    const isClosing = native.purpose === 'compact' && at === messages.length - 1 && !items?.length;
    if (isClosing && options.compacts) continue;
    const isQuestion = isTrigger(items) && (options.isLimited || quirks.compacts !== true);
    if (isInstructions && takesInstructions) instructions = contentText(message.content);
    else if (items === null || isClosing || isInstructions || isQuestion) {
      calls ??= nativeCalls(messages, native);
      for (const item of encodeMessage(message, at, quirks, dropped)) input.push(calls.own(item));
    } else for (const item of items) add(item);
  }

  function add(item: NativeObject): void {
    sent.add(item);
    const left = passable(item, options);
    if (left !== null) input.push(left);
  }

  return { instructions, input, isSent: (item) => sent.has(item) };
}

/**
 * true: a message, which asks for a summary, was made of the item that asks for a compaction. A provider that does not
 * compact gets the message; so does every provider where money is limited: the cost of the item could not be held.
 */
function isTrigger(items: readonly NativeObject[] | null): boolean {
  return items?.length === 1 && items[0]?.type === 'compaction_trigger';
}

/**
 * Items that record the actions in a container, or at a server with the account's rights. Their ids could name those of
 * anybody who uses the operator's key.
 */
const ofAccount =
  /^(?:code_interpreter_call|(?:shell_call|computer_call)(?:_output)?|mcp_\w+|program|program_output|[\w-]+:[\w-]+)$/;

/**
 * Returns the parts of an item that go to the provider; null: none. @throws UpstreamError for an item that must not be
 * ignored
 */
function passable(item: NativeObject, { dropped, tools, quirks, isLimited }: NativeInputOptions): Loose | null {
  const { type } = item;
  // A stored item belongs to the caller that stored it, and everybody who uses the operator's key could name it.
  if (type === 'item_reference') throw unsupported('input[].item_reference', 'the item itself');
  if (type === 'compaction_trigger' && isLimited)
    throw unsupported('input[].compaction_trigger', 'no compaction at the provider where money is limited');
  const isStored =
    (type === 'reasoning' && !item.encrypted_content && isEmptyList(item.content)) ||
    (type === 'image_generation_call' && typeof item.result !== 'string');
  if (isStored || (typeof type === 'string' && ofAccount.test(type))) {
    dropped.note(`input[].${type}`);
    return null;
  }
  const set = withoutUnset(item);
  if (Array.isArray(set.tools)) return { ...set, tools: tools.allowed(set.tools, 'input[].tools[]') };
  return withoutMarks(set, quirks, dropped);
}

/**
 * Returns an item without unset fields. Client libraries send back an item with every field that they know as null, and
 * with fields that they themselves read from its text. Providers refuse both.
 */
function withoutUnset(item: NativeObject): NativeObject {
  const { content } = item;
  const set = Object.keys(item).some(isUnsetIn(item)) ? fieldsSet(item) : item;
  if (!Array.isArray(content) || !content.some((part) => isObject(part) && Object.keys(part).some(isUnsetIn(part))))
    return set;
  return { ...set, content: content.map((part) => (isObject(part) ? fieldsSet(part) : part)) };
}

function fieldsSet(holder: Loose): Loose {
  return Object.fromEntries(Object.entries(holder).filter(([name]) => !isUnset(holder, name)));
}

function isUnsetIn(holder: Loose): (name: string) => boolean {
  return (name) => isUnset(holder, name);
}

/** Fields that providers send as null themselves. `call_id: null` says that the provider ran a search. */
const takenAsNull: ReadonlySet<string> = new Set(['content', 'encrypted_content', 'call_id']);

function isUnset(holder: Loose, name: string): boolean {
  return (holder[name] === null && !takenAsNull.has(name)) || name === 'parsed' || name === 'parsed_arguments';
}

function isEmptyList(value: unknown): boolean {
  return !Array.isArray(value) || value.length === 0;
}

/** Returns an item without marks: `cache_control` is a word of gateways, which a provider refuses. */
function withoutMarks(item: NativeObject, { cacheBreakpoints }: ResponsesQuirks, dropped: Dropped): Loose {
  const { content } = item;
  if (!Array.isArray(content) || !content.some(isMarked)) return item;
  if (cacheBreakpoints !== true) dropped.note('input[].content[].cache_control');
  const mark = cacheBreakpoints === true ? { prompt_cache_breakpoint: { mode: 'explicit' } } : {};
  const parts = content.map((part) => (isMarked(part) ? { ...without(['cache_control'], part), ...mark } : part));
  return { ...item, content: parts };
}

function isMarked(part: unknown): part is Loose {
  return isObject(part) && isObject(part.cache_control);
}
