import type { Ask } from '../call/ask.ts';
import type { PricedKind } from '../call/model.ts';
import type { Native, NativeObject } from '../call/native.ts';
import type { ChatMessage, ChatRequest, FilePart } from '../schema/chat/chat.ts';
import { fieldRow } from '../schema/chat/fields.ts';
import { asksForPricedSearch } from '../schema/gemini/search.ts';
import { noteWrites, noteWritesIn } from './cache-writes.ts';
import { asksForSearch, mayBeText, unknownField, unknownMessageField, unknownPartField } from './known-fields.ts';
import { earlierAudioTokens, imageTokens, mediaTokens } from './media-tokens.ts';
import { boundItems } from './native-items.ts';
import { nativeToolsOf } from './native-tools.ts';
import { type Effort, jsonBound, newEffort, quotedBound, textBound } from './token-bound.ts';

/** Upper bounds of a request for any endpoint. Counted once and used for every endpoint. */
export interface PromptBound {
  /** The tokens of text and media, at least as many as a provider counts. */
  tokens: number;
  /** The part of `tokens` that stands for media. Nobody but the provider can count them. */
  mediaTokens: number;
  /** The part of `mediaTokens` that a provider does not count if it honours `detail: "low"`. */
  lowDetailTokens: number;
  /** The kinds of content beside text for which the request needs a price. */
  kinds: ReadonlySet<PricedKind>;
  /** Images in the prompt: some providers charge a price for each. */
  images: number;
  /** The number of choices that the request asks for (`n`). */
  choices: number;
  /** Tokens of a prediction. Those that a response does not use are charged as output, in addition to it. */
  predictedTokens: number;
  /** Searches that the provider itself may run: some providers charge a price for each. */
  searches: number;
  /** true: the request lets a provider search that speaks the client's own format. Others are not asked to. */
  searchesInOwnFormat: boolean;
  /**
   * Tokens that the provider's own tools may add to the prompt, turn by turn. Not part of `tokens`, nor of the context.
   */
  toolTokens: number;
  /** Paths of fields with an unknown effect and an unknown cost. */
  unknownFields: ReadonlySet<string>;
}

/** The bound while it is counted. */
type Counting = PromptBound & { kinds: Set<PricedKind>; unknownFields: Set<string>; effort: Effort };

/** The most that searches of the provider itself may add. */
export const ownSearches = {
  /** The tokens of the pages that a search reads, again in every turn. */
  tokens: 200_000,
  searches: 20,
};

/**
 * Tokens that a provider adds invisibly: a system text of its own (grok-4 680 tokens, command-r7b 495, gpt-oss 75), the
 * date, and the marks around the prompt.
 */
const tokensPerRequest = 1_024;
/** The tokens of the marks around a message, and of its role. */
const tokensPerMessage = 16;
/** The tokens of instructions for calling tools: command-r7b 900, llama-4 690, Claude 530. */
const tokensForTools = 1_536;
const tokensPerTool = 32;
const tokensPerToolCall = 32;
/** The tokens of the instructions that a response must be JSON of a certain schema. */
const tokensForFormat = 512;
/** More searches than any provider runs for a request. */
const mostSearches = 1_000;
/** The number of unknown fields that an error names. */
const mostNamed = 10;

/** Counts an upper bound of the prompt's tokens. Linear in the size of the request. */
export function boundPrompt({ request, native }: Pick<Ask, 'request' | 'native'>): PromptBound {
  const effort = newEffort();
  const fields = request as Record<string, unknown>;
  const bound: Counting = {
    tokens: tokensPerRequest,
    mediaTokens: 0,
    lowDetailTokens: 0,
    kinds: outputKinds(request),
    images: 0,
    choices: choicesOf(fields),
    predictedTokens: fields.prediction ? jsonBound(fields.prediction, effort) : 0,
    searches: 0,
    searchesInOwnFormat: native?.format === 'gemini' && asksForPricedSearch(native.whole?.body ?? {}),
    toolTokens: 0,
    unknownFields: new Set(),
    effort,
  };
  const inTools = addTools(bound, request, native);
  noteWritesIn(bound.kinds, native?.hostedTools);
  const ownEffort = newEffort();
  for (const [at, message] of request.messages.entries()) {
    const items = native?.items[at] ?? null;
    if (native === null || items === null) addMessage(bound, message);
    else
      addWithItems(
        bound,
        message,
        items.filter((item) => !inTools.has(item)),
        native.format,
        ownEffort,
      );
  }
  if (request.response_format) bound.tokens += tokensForFormat + jsonBound(request.response_format, effort);
  bound.tokens += bound.predictedTokens;
  for (const name in fields) addField(bound, name, fields[name]);
  return bound;
}

const none: ReadonlySet<NativeObject> = new Set();

/**
 * Adds the tools in the longer of two forms: as chat tools, or in the client's own format.
 * @returns the items that were counted as tools
 */
function addTools(bound: Counting, request: ChatRequest, native: Native | null): ReadonlySet<NativeObject> {
  const { effort } = bound;
  let tokens = 0;
  for (const tool of request.tools ?? []) {
    tokens += tokensPerTool + jsonBound(tool, effort);
    noteWritesIn(bound.kinds, tool);
    if (tool.type !== 'function') addSearches(bound, tool);
  }
  const own = native === null ? null : nativeToolsOf(request, native, effort);
  if (own !== null) tokens = Math.max(tokens, own.tools * tokensPerTool + own.tokens);
  if (request.tools || own?.tools) bound.tokens += tokensForTools + tokens;
  return own?.counted ?? none;
}

/** The kinds of content beside text that the response must have. */
function outputKinds(request: ChatRequest): Set<PricedKind> {
  const kinds = new Set<PricedKind>();
  const { modalities = [], image_config } = request;
  if (modalities.includes('audio') || (request as Record<string, unknown>).audio) kinds.add('audioOutput');
  if (modalities.includes('image') || image_config) kinds.add('imageOutput');
  return kinds;
}

function addField(bound: Counting, name: string, value: unknown): void {
  if (value === null || value === undefined) return;
  if (asksForSearch(name, value)) addSearches(bound, value);
  noteFieldWrites(bound, name, value);
  if (!mayBeText(name)) return;
  bound.tokens += quotedBound(name, bound.effort) + jsonBound(value, bound.effort);
  addUnknown(bound, unknownField(name, value));
}

function noteFieldWrites({ kinds }: Counting, name: string, value: unknown): void {
  if (name === 'cache_control' || name === 'prompt_cache_options') noteWrites(kinds, value);
  else if (typeof value === 'object' && !isCounted(name)) noteWritesIn(kinds, value);
}

/** Tells whether the marks of a field are noted where it is counted, or the field makes no provider write anything. */
function isCounted(name: string): boolean {
  const role = fieldRow(name)?.role;
  return role === 'prompt' || role === 'gateway' || role === 'label';
}

function addUnknown({ unknownFields }: Counting, path: string | null): void {
  // More would only make an error longer.
  if (path !== null && unknownFields.size < mostNamed) unknownFields.add(path.slice(0, 80));
}

/** @param settings  may contain a number of searches or results */
function addSearches(bound: Counting, settings: unknown): void {
  bound.kinds.add('search');
  bound.toolTokens = ownSearches.tokens;
  bound.searches = Math.max(bound.searches, ownSearches.searches, largestNumber(settings));
}

/** The largest number in the fields of an object, and of the objects in it. */
function largestNumber(value: unknown, depth = 0): number {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? Math.min(value, mostSearches) : 0;
  if (typeof value !== 'object' || value === null || depth > 2) return 0;
  let largest = 0;
  for (const key in value)
    largest = Math.max(largest, largestNumber((value as Record<string, unknown>)[key], depth + 1));
  return largest;
}

/**
 * The number of choices. `n` and similar fields arrive as unknown fields of any type. The provider refuses a value that
 * is no number.
 */
function choicesOf({ n, best_of }: Record<string, unknown>): number {
  let choices = 1;
  for (const value of [n, best_of]) {
    const asked = value ? Math.ceil(Number(value)) : 1;
    if (Number.isSafeInteger(asked)) choices = Math.max(choices, asked);
  }
  return choices;
}

function addMessage(bound: Counting, message: ChatMessage): void {
  const { effort } = bound;
  bound.tokens += tokensPerMessage;
  for (const field in message) {
    const value = (message as Record<string, unknown>)[field];
    if (value === null || value === undefined || field === 'role') continue;
    switch (field) {
      case 'content':
        addContent(bound, message);
        break;
      case 'cache_control':
        noteWrites(bound.kinds, value);
        break;
      case 'tool_calls':
        addToolCalls(bound, value);
        break;
      case 'images':
        addImages(bound, value);
        break;
      case 'audio':
        addMedia(bound, earlierAudioTokens.most, ['audio']);
        bound.tokens += jsonBound(withoutData(value), effort);
        break;
      default:
        bound.tokens += quotedBound(field, effort) + jsonBound(value, effort);
        noteWritesIn(bound.kinds, value);
        addUnknown(bound, unknownMessageField(field));
    }
  }
}

/**
 * Adds a message or the items that it was made of, whichever is longer, since only one of them is sent.
 * @param effort  for the items, so that they do not use up the effort for the messages
 */
function addWithItems(
  bound: Counting,
  message: ChatMessage,
  items: readonly NativeObject[],
  format: Native['format'],
  effort: Effort,
): void {
  const { tokens, mediaTokens: media, images } = bound;
  addMessage(bound, message);
  const addedMedia = bound.mediaTokens - media;
  const own = boundItems(items, format, effort);
  noteWritesIn(bound.kinds, items);
  bound.tokens += Math.max(own.tokens - (bound.tokens - tokens - addedMedia), 0);
  const further = own.media.reduce((sum, { most }) => sum + most, 0) - addedMedia;
  if (further > 0) addMedia(bound, further, [...new Set(own.media.flatMap(({ kinds }) => kinds))]);
  bound.images = Math.max(bound.images, images + own.images);
}

function addContent(bound: Counting, { role, content }: ChatMessage): void {
  // Templates write the result of a tool as plain text, or as a JSON string.
  const ofText = role === 'tool' ? quotedBound : textBound;
  if (typeof content === 'string') {
    bound.tokens += ofText(content, bound.effort);
    return;
  }
  for (const part of content ?? []) {
    bound.tokens += tokensPerMessage;
    for (const field in part) addPartField(bound, field, (part as Record<string, unknown>)[field], ofText);
  }
}

function addPartField(
  bound: Counting,
  field: string,
  value: unknown,
  ofText: (text: string, effort: Effort) => number,
): void {
  const { effort } = bound;
  if (field === 'cache_control') noteWrites(bound.kinds, value);
  if (value === null || value === undefined || field === 'type' || field === 'cache_control') return;
  const media = mediaTokens(field, value);
  if (media) {
    addMedia(bound, media.most, media.kinds);
    bound.lowDetailTokens += media.most - (media.mostLowDetail ?? media.most);
    if (field === 'image_url') bound.images++;
    if (field === 'file') bound.tokens += jsonBound((value as FilePart['file']).filename, effort);
  } else if (field === 'text' && typeof value === 'string') bound.tokens += ofText(value, effort);
  else {
    bound.tokens += quotedBound(field, effort) + jsonBound(value, effort);
    addUnknown(bound, unknownPartField(field));
  }
}

function addMedia(bound: Counting, tokens: number, kinds: readonly PricedKind[]): void {
  bound.tokens += tokens;
  bound.mediaTokens += tokens;
  for (const kind of kinds) bound.kinds.add(kind);
}

function addToolCalls(bound: Counting, calls: unknown): void {
  if (!Array.isArray(calls)) return;
  for (const call of calls) {
    bound.tokens += tokensPerToolCall + jsonBound(call, bound.effort);
    const text: unknown = call?.function?.arguments;
    // A template may write the arguments as JSON with more spaces, and indented.
    if (typeof text === 'string') bound.tokens += quotedBound(text, bound.effort);
  }
}

function addImages(bound: Counting, images: unknown): void {
  const count = Array.isArray(images) ? images.length : 1;
  bound.images += count;
  if (count > 0) addMedia(bound, count * imageTokens.most, imageTokens.kinds);
}

/** The audio data itself is not text. */
function withoutData(audio: unknown): unknown {
  if (typeof audio !== 'object' || audio === null) return audio;
  const { data: _, ...rest } = audio as Record<string, unknown>;
  return rest;
}
