import { stringifyExact } from '../../../base/exact-json.ts';
import { isObject, type Loose } from '../../../base/values.ts';
import type { NativeObject } from '../../../call/native.ts';
import type { AssistantMessage, ChatMessage, ReasoningDetail, ToolCall } from '../../../schema/chat/chat.ts';
import type { ContentPart } from '../../../schema/chat/part.ts';
import { fieldOf, listOf, objectOf, textOf } from '../../../schema/gemini/fields.ts';
import type { GeminiContent, GeminiRequest } from '../../../schema/gemini/request.ts';
import { noSignature } from '../../../schema/gemini/signature.ts';
import type { Leftover } from '../../leftover.ts';
import { googleFormat, openThoughts } from '../thoughts.ts';
import { contentPart } from './parts.ts';

export interface ConvertedContents {
  messages: ChatMessage[];
  /** By the place of a chat message: the contents that it stands for. Each of the caller's is in one of these lists. */
  itemsOf: (readonly NativeObject[])[];
  /** The place among `contents` that each message was made of; -1: the instructions. */
  places: number[];
}

/** The calls that wait for their responses, and the ids that were taken. */
interface Calls {
  open: OpenCalls;
  taken: Set<string>;
  made: number;
}

interface OpenCall {
  id: string;
  name: string;
  isAnswered: boolean;
}

/** Calls of one turn that have no response yet. Finding the oldest one takes the same time however many there are. */
class OpenCalls {
  // Oldest last, so that taking it moves no other. One that was taken by its id stays in the list of its name.
  readonly #byId = new Map<string, OpenCall[]>();
  readonly #byName = new Map<string, OpenCall[]>();

  constructor(calls: readonly ToolCall[]) {
    for (const { id, function: called } of calls.toReversed()) {
      const call = { id, name: called.name, isAnswered: false };
      append(this.#byId, id, call);
      append(this.#byName, call.name, call);
    }
  }

  takeById(id: string): OpenCall | undefined {
    return takeOldest(this.#byId.get(id));
  }

  takeByName(name: string): OpenCall | undefined {
    return takeOldest(this.#byName.get(name));
  }
}

function append<T>(lists: Map<string, T[]>, key: string, one: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [one]);
  else list.push(one);
}

function takeOldest(calls: OpenCall[] | undefined): OpenCall | undefined {
  for (let call = calls?.pop(); call !== undefined; call = calls?.pop()) {
    if (call.isAnswered) continue;
    call.isAnswered = true;
    return call;
  }
  return undefined;
}

/**
 * Makes chat messages of the instructions and the turns.
 * @param own  the turns as an upstream of the same wire gets them
 */
export function convertContents(
  request: GeminiRequest,
  own: readonly GeminiContent[],
  leftover: Leftover,
): ConvertedContents {
  const made: ConvertedContents = { messages: [], itemsOf: [], places: [] };
  // What no chat message was made of yet. An upstream of the same wire gets it, so the next chat message stands for it.
  let open: NativeObject[] = [];
  const add = (message: ChatMessage, place: number) => {
    made.messages.push(message);
    made.itemsOf.push(open);
    made.places.push(place);
    open = [];
  };
  const instruction = fieldOf(request, 'systemInstruction');
  if (instruction !== undefined) open.push({ systemInstruction: instruction });
  const instructions = instructionsOf(instruction, leftover);
  if (instructions !== null) add({ role: 'system', content: instructions }, -1);
  const calls: Calls = { open: new OpenCalls([]), taken: new Set(), made: 0 };
  // An id that is made must not be one that a later turn has.
  for (const { parts } of request.contents)
    for (const part of parts ?? []) {
      const id = textOf(objectOf(part, 'functionCall'), 'id');
      if (id) calls.taken.add(id);
    }
  for (const { role, parts, at, count } of turnsOf(request.contents)) {
    // The first chat message stands for all of a turn: if one of them changes, none is sent as it came.
    for (const content of own.slice(at, at + count)) open.push(content as NativeObject);
    const converted = role === 'model' ? modelTurn(parts, calls, leftover) : otherTurn(parts, calls, leftover);
    for (const message of converted) add(message, at);
  }
  if (made.messages.length === 0) add({ role: 'user', content: '' }, 0);
  // Nothing follows the last ones, so the message before stands for them too.
  if (open.length > 0) made.itemsOf.push([...(made.itemsOf.pop() ?? []), ...open]);
  return made;
}

/** A turn of the conversation. */
interface Turn {
  role: unknown;
  parts: Loose[];
  /** The place of its first content among `contents`, and the number of contents that it was made of. */
  at: number;
  count: number;
}

/**
 * Joins neighbours of the model into one turn: clients keep each event of a stream as a content of its own, which may end
 * in the middle of a word.
 */
function turnsOf(contents: GeminiRequest['contents']): Turn[] {
  const turns: Turn[] = [];
  contents.forEach(({ role, parts }, at) => {
    const objects = (parts ?? []).filter(isObject);
    const last = turns.at(-1);
    if (role === 'model' && last?.role === 'model') {
      for (const part of objects) last.parts.push(part);
      last.count++;
    } else turns.push({ role, parts: objects, at, count: 1 });
  });
  return turns;
}

function instructionsOf(instruction: unknown, leftover: Leftover): string | null {
  if (typeof instruction === 'string') return instruction === '' ? null : instruction;
  const texts: string[] = [];
  for (const part of listOf(instruction, 'parts')) {
    const text = textOf(part, 'text');
    if (text === null) leftover.note('systemInstruction.parts[]');
    else if (text !== '') texts.push(text);
  }
  return texts.length === 0 ? null : texts.join('\n\n');
}

/** Returns the ids of calls that have none: the same conversation gets the same ids again. */
function newId(calls: Calls): string {
  for (;;) {
    const id = `call_${++calls.made}`;
    if (!calls.taken.has(id)) return id;
  }
}

function modelTurn(parts: readonly Loose[], calls: Calls, leftover: Leftover): ChatMessage[] {
  let text = '';
  let thoughts = '';
  let plain = '';
  const made: ToolCall[] = [];
  const images: { image_url: { url: string } }[] = [];
  const details: ReasoningDetail[] = [];
  let isPacked = false;
  for (const part of parts) {
    const given = textOf(part, 'thoughtSignature');
    const signature = given === noSignature ? null : given;
    const opened = signature === null ? null : openThoughts(signature);
    if (opened !== null) {
      // What has no format is the text of a thought, and nothing else.
      for (const detail of opened)
        if (detail.format || detail.type !== 'reasoning.text') details.push(detail);
        else plain += detail.text ?? '';
      isPacked = true;
    }
    const sign = (id: string) => {
      if (signature !== null && signature !== '' && opened === null)
        details.push({ type: 'reasoning.encrypted', data: signature, id, format: googleFormat });
    };
    const call = objectOf(part, 'functionCall');
    const inline = objectOf(part, 'inlineData');
    const said = textOf(part, 'text');
    if (fieldOf(part, 'thought') === true) {
      thoughts += said ?? '';
      const signed = signature && opened === null ? { signature } : {};
      if (said || 'signature' in signed)
        details.push({ type: 'reasoning.text', text: said ?? '', ...signed, format: googleFormat });
    } else if (call !== null) {
      const id = textOf(call, 'id') || newId(calls);
      const name = textOf(call, 'name') ?? '';
      made.push({
        id,
        type: 'function',
        function: { name, arguments: stringifyExact((fieldOf(call, 'args') ?? {}) as object) },
      });
      sign(id);
    } else if (inline !== null && textOf(inline, 'mimeType')?.startsWith('image/')) {
      const converted = contentPart(part, leftover);
      if (converted?.type === 'image_url') {
        sign(`image:${images.length}`);
        images.push({ image_url: { url: converted.image_url.url } });
      }
    } else {
      const converted = contentPart(part, leftover);
      const start = text.length;
      if (converted?.type === 'text') text += converted.text;
      else if (converted !== null) leftover.note('contents[].parts[].inlineData');
      sign(`text:${start}-${text.length}`);
    }
  }
  if (text === '' && made.length === 0 && images.length === 0 && details.length === 0) return [];
  calls.open = new OpenCalls(made);
  // The packed thoughts hold the same text as the thoughts that are shown.
  const kept = isPacked
    ? details.filter((one) => one.type !== 'reasoning.text' || one.format !== googleFormat)
    : details;
  const message: AssistantMessage = { role: 'assistant', content: text === '' && made.length > 0 ? null : text };
  if (made.length > 0) message.tool_calls = made;
  // The sealed text is there where the client has dropped the thoughts that it showed.
  const reasoning = thoughts || plain;
  if (reasoning !== '') message.reasoning = reasoning;
  if (kept.length > 0) message.reasoning_details = kept.map((detail, index) => ({ ...detail, index }));
  if (images.length > 0) message.images = images;
  return [message];
}

/** The turn of a person, with the responses of tools, which come first: each must follow its call. */
function otherTurn(parts: readonly Loose[], calls: Calls, leftover: Leftover): ChatMessage[] {
  const tools: ChatMessage[] = [];
  const content: ContentPart[] = [];
  for (const part of parts) {
    const response = objectOf(part, 'functionResponse');
    if (response === null) {
      const converted = contentPart(part, leftover);
      if (converted !== null) content.push(converted);
      continue;
    }
    tools.push({
      role: 'tool',
      tool_call_id: callIdOf(response, calls),
      ...resultOf(fieldOf(response, 'response')),
    });
    for (const media of listOf(response, 'parts')) {
      const converted = isObject(media) ? contentPart(media, leftover) : null;
      if (converted !== null) content.push(converted);
    }
  }
  if (content.length === 0) return tools;
  const isText = content.every(({ type }) => type === 'text');
  const [only] = content;
  const plain = isText && content.length === 1 && only?.type === 'text' ? only.text : content;
  return [...tools, { role: 'user', content: plain }];
}

/** Finds the call of a response: by its id, or as the oldest one of its name that has no response yet. */
function callIdOf(response: Loose, calls: Calls): string {
  const id = textOf(response, 'id');
  const name = textOf(response, 'name');
  const byId = id ? calls.open.takeById(id) : undefined;
  if (byId !== undefined) return byId.id;
  const byName = id && calls.taken.has(id) ? undefined : calls.open.takeByName(name ?? '');
  return byName?.id ?? (id || newId(calls));
}

/** The content of a tool's response: the text alone, where there is nothing else. A tool that failed has said only why. */
function resultOf(response: unknown): { content: string; is_error?: true } {
  if (!isObject(response)) return { content: response === undefined ? '' : JSON.stringify(response) };
  const [[name, only] = ['', null], second] = Object.entries(response);
  const isText = second === undefined && typeof only === 'string' && /^(?:output|result|content|error)$/.test(name);
  if (!isText) return { content: stringifyExact(response) };
  return name === 'error' ? { content: only, is_error: true } : { content: only };
}
