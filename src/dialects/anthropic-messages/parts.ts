import { fromBase64 } from '../../base/base64.ts';
import { type DataUrl, readDataUrl } from '../../base/data-url.ts';
import { isObject, type Loose } from '../../base/values.ts';
import type { ContentPart, FilePart, ImagePart } from '../../schema/chat/part.ts';
import { unsupported } from '../shared/unsupported.ts';
import { mark } from './cache.ts';
import type { Encoding } from './encoding.ts';

/** @see https://platform.claude.com/docs/en/build-with-claude/vision */
const imageTypes = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);
/** @see https://platform.claude.com/docs/en/build-with-claude/files */
const filesBeta = 'files-api-2025-04-14';

/**
 * Returns a text block; none for a text without a visible character, which Anthropic refuses.
 * @see https://platform.claude.com/docs/en/api/messages/create "text content blocks must be non-empty"
 */
export function textBlocks(text: string): Loose[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

/** Encodes the content of a user, system or tool message as blocks. */
export function encodeContent(content: string | readonly ContentPart[], path: string, encoding: Encoding): Loose[] {
  if (typeof content === 'string') return textBlocks(content);
  return content.flatMap((part, at) =>
    encodePart(part, `${path}[${at}]`, encoding).map((block) => mark(block, part, encoding)),
  );
}

const takenFields = new Set(['type', 'text', 'image_url', 'file', 'cache_control']);

/** @throws UpstreamError for a part that Claude cannot take */
function encodePart(part: ContentPart, path: string, encoding: Encoding): Loose[] {
  for (const key in part) {
    const isTaken = takenFields.has(key) || (key === 'citations' && part.type === 'file');
    if (!isTaken) encoding.dropped.add(`messages[].content[].${key}`);
  }
  switch (part.type) {
    case 'text':
      return textBlocks(part.text);
    case 'image_url':
      return [encodeImage(part, path, encoding)];
    case 'file':
      return [withCitations(encodeFile(part, path, encoding), part)];
    default:
      throw unsupported(path, 'text, an image or a file: this provider takes no sound and no video');
  }
}

function encodeImage({ image_url: { url, detail } }: ImagePart, path: string, encoding: Encoding): Loose {
  if (detail !== undefined && detail !== 'auto') encoding.dropped.add('messages[].content[].image_url.detail');
  const at = `${path}.image_url.url`;
  const data = readDataUrl(url);
  if (data === null) return { type: 'image', source: urlSource(url, at, encoding) };
  return { type: 'image', source: imageSource(data, at) };
}

function imageSource({ mediaType, base64 }: DataUrl, path: string): Loose {
  if (!imageTypes.has(mediaType)) throw unsupported(path, 'an image of type JPEG, PNG, GIF or WebP');
  return { type: 'base64', media_type: mediaType, data: base64 };
}

function urlSource(url: string, path: string, { quirks }: Encoding): Loose {
  if (quirks.host === 'vertex') throw unsupported(path, 'a data URL: this provider fetches nothing');
  if (!/^https?:/i.test(url)) throw unsupported(path, 'an http(s) URL or a base64 data URL');
  return { type: 'url', url };
}

/** @see https://platform.claude.com/docs/en/build-with-claude/pdf-support */
function encodeFile({ file }: FilePart, path: string, encoding: Encoding): Loose {
  const title = file.filename ? { title: file.filename } : {};
  if (file.file_data === undefined) {
    if (file.file_id === undefined) throw unsupported(`${path}.file`, 'file_data or file_id');
    if (encoding.quirks.host === 'vertex') throw unsupported(`${path}.file.file_id`, 'file_data in its place');
    encoding.betas.add(filesBeta);
    return { type: 'document', source: { type: 'file', file_id: file.file_id }, ...title };
  }
  const at = `${path}.file.file_data`;
  const data = readDataUrl(file.file_data);
  if (data === null) return { type: 'document', source: urlSource(file.file_data, at, encoding), ...title };
  if (data.mediaType.startsWith('image/')) return { type: 'image', source: imageSource(data, at) };
  return { type: 'document', source: documentSource(data, at), ...title };
}

/** Adds Anthropic's own field, by which a document is cited in the response. */
function withCitations(block: Loose, { citations }: FilePart): Loose {
  return isObject(citations) && block.type === 'document' ? { ...block, citations } : block;
}

function documentSource({ mediaType, base64 }: DataUrl, path: string): Loose {
  if (mediaType === 'application/pdf') return { type: 'base64', media_type: mediaType, data: base64 };
  const isText = mediaType.startsWith('text/') || mediaType === 'application/json';
  const bytes = isText ? fromBase64(base64) : null;
  if (bytes === null) throw unsupported(path, 'a PDF, a text or an image in base64');
  return { type: 'text', media_type: 'text/plain', data: new TextDecoder().decode(bytes) };
}
