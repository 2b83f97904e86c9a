import { isObject, type Loose, without } from '../../base/values.ts';
import type { ThoughtFieldMemory } from '../dialect.ts';
import { contentText } from '../shared/values.ts';
import { dropMisshapen } from './shapes.ts';

/** The fields with thoughts of the model, in a message or a delta. Where several hold the same, the first counts. */
export const thoughtFields = [
  // OpenRouter, Groq, Cerebras, vLLM, Ollama
  'reasoning',
  // DeepSeek, Moonshot, xAI, Z.AI, Alibaba, SGLang, llama.cpp
  'reasoning_content',
  // A proxy of an editor
  'reasoning_text',
  // Ollama's own interface, and proxies of it
  'thinking',
  'thinking_content',
] as const;
export type ThoughtField = (typeof thoughtFields)[number];

/** The field that holds a thought; of those whose text is empty, the first. null: none. */
export function thoughtFieldIn(said: Loose): ThoughtField | null {
  let empty: ThoughtField | null = null;
  for (const field of thoughtFields) {
    const value = said[field];
    if (value === undefined || value === null) continue;
    const text = textIn(value);
    if (text) return field;
    if (text === '') empty ??= field;
  }
  return empty;
}

/** Notes in which field a message, or a piece of one, has its thought. @returns false: it has none */
export function sawThought(raw: Loose, memory: ThoughtFieldMemory): boolean {
  const { reasoning_details: details, content } = raw;
  const hasDetails = Array.isArray(details) && details.length > 0;
  let field: string | null = hasDetails ? 'reasoning_details' : thoughtFieldIn(raw);
  // An empty text says nothing of where others come.
  if (!hasDetails && field !== null && !textIn(raw[field])) field = null;
  if (field === null && Array.isArray(content) && content.some(isThinking)) field = 'content';
  if (field === null) return false;
  memory.saw(field);
  return true;
}

/** Tells whether a part of a content is a thought in the form of Mistral, which takes it back in that form. */
function isThinking(part: unknown): boolean {
  return isObject(part) && part.type === 'thinking' && Array.isArray(part.thinking) && Boolean(textIn(part));
}

/** A text, an object around one, or a list of such objects; null: none of these. */
function textIn(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.every(isObject) ? value.map((one) => textIn(one) ?? '').join('') : null;
  if (!isObject(value)) return null;
  const text = [value.text, value.content, value.thinking, value.reasoning, value.summary].find(
    (one) => typeof one === 'string' || Array.isArray(one),
  );
  return text === undefined ? null : textIn(text);
}

/** The texts and media in the parts of a content: some servers send a list of parts, or one. */
interface Parts {
  text: string;
  /** null: no part is one of thoughts. */
  thought: string | null;
  refusal: string | null;
  images: Loose[];
  annotations: unknown[];
}

/** Types of parts that hold thoughts. @see https://docs.mistral.ai/capabilities/reasoning */
const ofThoughts: ReadonlySet<unknown> = new Set(['thinking', 'reasoning', 'reasoning_text', 'summary_text']);

function partsIn(content: readonly unknown[]): Parts {
  const parts: Parts = { text: '', thought: null, refusal: null, images: [], annotations: [] };
  for (const part of content) {
    if (typeof part === 'string') parts.text += part;
    if (!isObject(part)) continue;
    if (ofThoughts.has(part.type)) parts.thought = (parts.thought ?? '') + (textIn(part) ?? '');
    else if (part.type === 'refusal' && typeof part.refusal === 'string')
      parts.refusal = (parts.refusal ?? '') + part.refusal;
    else if (part.type === 'image_url' && isObject(part.image_url)) parts.images.push(part);
    else if (typeof part.text === 'string') parts.text += part.text;
    if (Array.isArray(part.annotations)) parts.annotations.push(...part.annotations);
  }
  return parts;
}

/** Set anew where they are what they should be. */
const reshaped: readonly string[] = [...thoughtFields, 'content', 'refusal', 'role', 'tool_calls'];

/**
 * Returns the fields of a message, or of a piece of one, beside its calls, in one form wherever a server puts them. A
 * field that is null says nothing, but for the content.
 */
export function saidIn(raw: Loose): Loose {
  const said = withoutNulls(without(reshaped, raw));
  dropMisshapen(said);
  const { content, refusal } = raw;
  const listed = Array.isArray(content) ? content : isObject(content) ? [content] : null;
  const parts = listed === null ? null : partsIn(listed);
  if (content !== undefined) said.content = parts === null ? contentText(content) : parts.text;
  const field = thoughtFieldIn(raw);
  const thought = (field === null ? null : textIn(raw[field])) || parts?.thought;
  const detailed = thought ? null : detailsText(said.reasoning_details);
  if (thought || detailed) said.reasoning = thought || detailed;
  else if (field !== null || typeof thought === 'string') said.reasoning = '';
  if (typeof refusal === 'string') said.refusal = refusal;
  else if (parts !== null && parts.refusal !== null) said.refusal = parts.refusal;
  if (parts !== null && parts.images.length + parts.annotations.length > 0) addParts(said, parts);
  return said;
}

function addParts(said: Loose, { images, annotations }: Parts): void {
  if (said.images === undefined && images.length > 0) said.images = images;
  if (said.annotations === undefined && annotations.length > 0) said.annotations = annotations;
  dropMisshapen(said);
}

/** The readable text of details: some servers send it nowhere else. */
function detailsText(details: unknown): string {
  let text = '';
  if (Array.isArray(details))
    for (const detail of details)
      if (isObject(detail)) {
        const said = detail.type === 'reasoning.summary' ? detail.summary : detail.text;
        if (typeof said === 'string') text += said;
      }
  return text;
}

const ofCalls: readonly string[] = ['index', 'id', 'type', 'function'];
const ofFunctions: readonly string[] = ['name', 'arguments'];

/**
 * Returns the fields that servers add to a call or a piece of one, such as the signature that Google wants back with
 * it.
 */
export function addedToCall(call: Loose): Loose {
  return withoutNulls(without(isObject(call.function) ? ofCalls : [...ofCalls, ...ofFunctions], call));
}

export function addedToFunction(called: Loose): Loose {
  return withoutNulls(without(ofFunctions, called));
}

function withoutNulls(fields: Loose): Loose {
  for (const key in fields) if (fields[key] === null) delete fields[key];
  return fields;
}

/** The function of a call or of a piece of one. Some servers leave out the object around its name and arguments. */
export function functionIn(call: Loose): Loose {
  const { function: called, name, arguments: args } = call;
  return isObject(called) ? called : { name, arguments: args };
}

/** The id of a call, as a text; null: it has none. */
export function idIn({ id }: Loose): string | null {
  if (typeof id === 'number') return String(id);
  return typeof id === 'string' && id !== '' ? id : null;
}
