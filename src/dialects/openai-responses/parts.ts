import { readDataUrl } from '../../base/data-url.ts';
import { isObject, type Loose } from '../../base/values.ts';
import type { ContentPart, FilePart } from '../../schema/chat/chat.ts';
import { unsupported } from '../shared/unsupported.ts';
import type { Dropped } from './dropped.ts';
import type { ResponsesQuirks } from './quirks.ts';

/** The fields in which the caller marks parts to cache, in its own words or in the provider's. */
const markFields = ['cache_control', 'prompt_cache_breakpoint'];

/** Encodes the parts of a message to the model. @throws UpstreamError for a part that the provider cannot take */
export function encodeParts(
  parts: readonly ContentPart[],
  path: string,
  quirks: ResponsesQuirks,
  dropped: Dropped,
): Loose[] {
  return parts.map((part, at) => {
    const inner = partField(part.type);
    dropped.noteOthers('messages[].content[].', part, ['type', inner, ...markFields]);
    return { ...encodePart(part, `${path}.content[${at}]`, dropped), ...markOf(part, quirks, dropped) };
  });
}

/** Encodes the result of a tool: one text, or parts where it is more than that. */
export function encodeOutputParts(
  parts: readonly ContentPart[],
  path: string,
  quirks: ResponsesQuirks,
  dropped: Dropped,
): string | Loose[] {
  const sound = parts.findIndex(({ type }) => type === 'input_audio');
  if (sound >= 0) throw unsupported(`${path}.content[${sound}]`, 'text, an image or a file as the result of a tool');
  const encoded = encodeParts(parts, path, quirks, dropped);
  const isText = encoded.every(({ type, prompt_cache_breakpoint: mark }) => type === 'input_text' && !mark);
  return isText ? encoded.map(({ text }) => text).join('') : encoded;
}

/** Encodes the parts of a message of the model, which are text. */
export function encodeOwnParts(parts: readonly ContentPart[], path: string, dropped: Dropped): Loose[] {
  return parts.map((part, at) => {
    if (part.type !== 'text') throw unsupported(`${path}.content[${at}]`, 'text in a message of the assistant');
    dropped.noteOthers('messages[].content[].', part, ['type', 'text']);
    return { type: 'output_text', text: part.text };
  });
}

/** Returns the name of the field of a part that holds its content. */
function partField(type: ContentPart['type']): string {
  return type === 'input_video' ? 'video_url' : type;
}

function encodePart(part: ContentPart, path: string, dropped: Dropped): Loose {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text };
    case 'image_url': {
      const { url, detail } = part.image_url;
      return { type: 'input_image', image_url: url, detail: detail ?? 'auto' };
    }
    case 'input_audio': {
      const { data, format } = part.input_audio;
      return { type: 'input_audio', input_audio: { data, format } };
    }
    case 'file':
      return encodeFile(part, path, dropped);
    default:
      throw unsupported(path, 'text, an image, a file or sound: this provider takes no video');
  }
}

/** Encodes a file: one that the provider has, one at an address, or the content itself. */
function encodeFile({ file }: FilePart, path: string, dropped: Dropped): Loose {
  const { file_data: data, file_id: id, filename } = file;
  if (id) return { type: 'input_file', file_id: id };
  if (data && /^https?:/i.test(data)) {
    // The provider takes the name from the address.
    if (filename) dropped.note('messages[].content[].file.filename');
    return { type: 'input_file', file_url: data };
  }
  if (data && readDataUrl(data) !== null) return { type: 'input_file', filename: filename ?? 'file', file_data: data };
  throw unsupported(`${path}.file`, 'file_data as a data URL or an address, or a file_id');
}

/**
 * Encodes the mark of a part. Before GPT-5.6, OpenAI refuses marks: it caches by itself.
 * @see https://platform.openai.com/docs/guides/prompt-caching
 */
function markOf(part: ContentPart, { cacheBreakpoints }: ResponsesQuirks, dropped: Dropped): Loose {
  const { cache_control: mark, prompt_cache_breakpoint: own } = part as Loose;
  if (isObject(own)) return { prompt_cache_breakpoint: own };
  if (!isObject(mark)) return {};
  if (cacheBreakpoints === true) return { prompt_cache_breakpoint: { mode: 'explicit' } };
  dropped.note('messages[].content[].cache_control');
  return {};
}
