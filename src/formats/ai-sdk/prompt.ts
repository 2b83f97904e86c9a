import { wrongArgument } from '../../base/refusal.ts';
import { isObject, type Loose } from '../../base/values.ts';
import { outputUrl, wireFile } from './input-files.ts';
import { ownNotes } from './notes.ts';
import { shown, type Warnings } from './warnings.ts';

/**
 * Makes the messages of a chat request of a prompt of the AI SDK. It gives back what responses have noted on their
 * parts: thoughts with their signatures, annotations, sounds.
 * @throws GatewayError invalid_request (400) naming the place
 * @see https://github.com/vercel/ai/blob/main/packages/provider/src/language-model/v4/language-model-v4-prompt.ts
 */
export function wireMessages(prompt: unknown, warnings: Warnings): Loose[] {
  if (!Array.isArray(prompt)) throw wrongArgument('prompt', 'expected array');
  return prompt.flatMap((message, at) => {
    const path = `prompt[${at}]`;
    if (!isObject(message)) throw wrongArgument(path, 'expected object');
    const { content } = message;
    if (message.role === 'system') return [systemMessage(message, path)];
    if (!Array.isArray(content)) throw wrongArgument(`${path}.content`, 'expected array');
    const parts = content.map((part, index): Loose => {
      if (isObject(part)) return part;
      throw wrongArgument(`${path}.content[${index}]`, 'expected object');
    });
    switch (message.role) {
      case 'user':
        return [{ role: 'user', content: userContent(parts, cacheMark(message), `${path}.content`, warnings) }];
      case 'assistant':
        return assistantMessage(parts, cacheMark(message), `${path}.content`, warnings);
      case 'tool':
        return toolMessages(parts, cacheMark(message), `${path}.content`, warnings);
      default:
        throw wrongArgument(`${path}.role`, 'expected one of "system", "user", "assistant", "tool"');
    }
  });
}

function systemMessage(message: Loose, path: string): Loose {
  const { content: text } = message;
  if (typeof text !== 'string') throw wrongArgument(`${path}.content`, 'expected string');
  const mark = cacheMark(message);
  return { role: 'system', content: mark === null ? text : [{ type: 'text', text, cache_control: mark }] };
}

/** A text alone is sent as a text, which every provider takes. @param mark  of the message, for its last part */
function userContent(parts: Loose[], mark: object | null, path: string, warnings: Warnings): unknown {
  const [only] = parts;
  if (parts.length === 1 && only?.type === 'text' && (mark ?? cacheMark(only)) === null)
    return textOf(only, `${path}[0]`);
  const content = parts.flatMap((part, at) => contentPart(part, `${path}[${at}]`, warnings));
  const last = content.at(-1);
  if (mark !== null && last !== undefined) last.cache_control ??= mark;
  return content;
}

/** @returns none: the part has no place in a chat request */
function contentPart(part: Loose, path: string, warnings: Warnings): Loose[] {
  const mark = cacheMark(part);
  const marked = mark === null ? {} : { cache_control: mark };
  if (part.type === 'text') return [{ type: 'text', text: textOf(part, path), ...marked }];
  if (part.type === 'file') return [{ ...wireFile(part, path, ownNotes(part)), ...marked }];
  warnings.unsupported(`prompt part ${shown(part.type)}`);
  return [];
}

/** @returns none: the message says nothing */
function assistantMessage(parts: Loose[], mark: object | null, path: string, warnings: Warnings): Loose[] {
  const said: Loose[] = [];
  let reasoning = '';
  let refusal = '';
  const details: unknown[] = [];
  const annotations: unknown[] = [];
  const images: Loose[] = [];
  const calls: Loose[] = [];
  let audio: unknown;
  for (const [at, part] of parts.entries()) {
    const place = `${path}[${at}]`;
    const notes = ownNotes(part);
    if (Array.isArray(notes.reasoning_details)) for (const detail of notes.reasoning_details) details.push(detail);
    if (Array.isArray(notes.annotations)) for (const one of notes.annotations) annotations.push(one);
    if (part.type === 'text' && notes.refusal === true) refusal += textOf(part, place);
    else if (part.type === 'text') said.push(...contentPart(part, place, warnings).filter(({ text }) => text !== ''));
    else if (part.type === 'reasoning') reasoning += textOf(part, place);
    else if (part.type === 'tool-call' && part.providerExecuted !== true) calls.push(toolCall(part, place));
    else if (part.type === 'file' && isObject(notes.audio)) audio = { id: notes.audio.id };
    else if (part.type === 'file' && typeof part.mediaType === 'string' && part.mediaType.startsWith('image')) {
      const url = outputUrl(part, place);
      if (url !== null) images.push({ type: 'image_url', image_url: { url } });
    } else warnings.unsupported(leftOutPart(part), 'It is left out of an earlier response');
  }
  if (mark !== null && said.length > 0) (said.at(-1) as Loose).cache_control ??= mark;
  const message: Loose = {
    ...(said.length === 0 ? {} : { content: contentOf(said) }),
    ...(refusal === '' ? {} : { refusal }),
    ...(reasoning === '' ? {} : { reasoning }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
    ...(annotations.length === 0 ? {} : { annotations }),
    ...(images.length === 0 ? {} : { images }),
    ...(audio === undefined ? {} : { audio }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  if (Object.keys(message).length === 0) return [];
  return [{ role: 'assistant', ...(said.length === 0 ? { content: null } : {}), ...message }];
}

function leftOutPart({ type, providerExecuted }: Loose): string {
  return `prompt part ${shown(type)}${providerExecuted === true ? ' of a tool that the provider ran' : ''}`;
}

/** The texts of a message were one text, unless a part is marked. */
function contentOf(said: Loose[]): unknown {
  return said.some((part) => 'cache_control' in part) ? said : said.map(({ text }) => text).join('');
}

function toolCall({ toolCallId, toolName, input }: Loose, path: string): Loose {
  if (typeof toolCallId !== 'string') throw wrongArgument(`${path}.toolCallId`, 'expected string');
  if (typeof toolName !== 'string') throw wrongArgument(`${path}.toolName`, 'expected string');
  // Arguments that were no JSON are the model's own text.
  const text = typeof input === 'string' ? input : jsonOf(input ?? {}, `${path}.input`);
  return { id: toolCallId, type: 'function', function: { name: toolName, arguments: text } };
}

function toolMessages(parts: Loose[], mark: object | null, path: string, warnings: Warnings): Loose[] {
  return parts.flatMap((part, at) => {
    const place = `${path}[${at}]`;
    if (part.type !== 'tool-result') {
      warnings.unsupported(leftOutPart(part), 'The gateway has no tools that wait for an approval');
      return [];
    }
    if (typeof part.toolCallId !== 'string') throw wrongArgument(`${place}.toolCallId`, 'expected string');
    const own = cacheMark(part) ?? (at === parts.length - 1 ? mark : null);
    const content = resultContent(part.output, `${place}.output`, warnings);
    return [{ role: 'tool', tool_call_id: part.toolCallId, content: own === null ? content : marked(content, own) }];
  });
}

function marked(content: string | Loose[], mark: object): Loose[] {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content } as Loose] : content;
  const last = parts.at(-1);
  if (last !== undefined) last.cache_control ??= mark;
  return parts;
}

/** Returns the content of a tool's message. Chat requests have no mark for errors: the words say so. */
function resultContent(output: unknown, path: string, warnings: Warnings): string | Loose[] {
  if (!isObject(output)) throw wrongArgument(path, 'expected object');
  const { type, value, reason } = output;
  switch (type) {
    case 'text':
    case 'error-text':
      if (typeof value !== 'string') throw wrongArgument(`${path}.value`, 'expected string');
      return value;
    case 'json':
    case 'error-json':
      return jsonOf(value ?? null, `${path}.value`);
    case 'execution-denied':
      return typeof reason === 'string' && reason !== '' ? reason : 'Tool execution denied.';
    case 'content': {
      if (!Array.isArray(value)) throw wrongArgument(`${path}.value`, 'expected array');
      return value.flatMap((part, at) => {
        const place = `${path}.value[${at}]`;
        if (!isObject(part)) throw wrongArgument(place, 'expected object');
        return contentPart(part, place, warnings);
      });
    }
    default:
      throw wrongArgument(`${path}.type`, 'expected a kind of output of a tool');
  }
}

function textOf({ text }: Loose, path: string): string {
  if (typeof text === 'string') return text;
  throw wrongArgument(`${path}.text`, 'expected string');
}

function jsonOf(value: unknown, path: string): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch {
    throw wrongArgument(path, 'expected a value that JSON can hold');
  }
}

/**
 * Returns the mark of a part to cache, as the gateway or any other provider of the AI SDK names it: code that was written
 * for another provider goes on working. null: there is none.
 */
export function cacheMark({ providerOptions }: Loose): object | null {
  if (!isObject(providerOptions)) return null;
  for (const notes of Object.values(providerOptions)) {
    const mark = isObject(notes) ? (notes.cache_control ?? notes.cacheControl) : null;
    if (isObject(mark)) return mark;
  }
  return null;
}
