import { toBase64 } from '../../../base/base64.ts';
import { isObject, type Loose } from '../../../base/values.ts';
import type { CacheControl, ContentPart, TextPart } from '../../../schema/chat/part.ts';
import type { MessagesBlock } from '../../../schema/messages/request.ts';
import type { Leftover } from '../../leftover.ts';

/** Returns the texts of a content that holds nothing else, such as instructions. */
export function textParts(content: unknown, leftover: Leftover): string | TextPart[] {
  if (typeof content === 'string') return content;
  return partsOf(content, leftover).filter((part) => part.type === 'text');
}

/** Converts the blocks that a user, or the result of a tool, may hold. */
export function partsOf(content: unknown, leftover: Leftover): ContentPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (!Array.isArray(content)) return [];
  return (content as MessagesBlock[]).flatMap((block) => withMark(partOf(block, leftover), block));
}

/** A mark on a block is a mark on the last part that was made of it. */
function withMark(parts: ContentPart[], { cache_control: mark }: Loose): ContentPart[] {
  const last = parts.at(-1);
  if (!isObject(mark) || last === undefined) return parts;
  return [...parts.slice(0, -1), { ...last, cache_control: mark as CacheControl }];
}

function partOf(block: MessagesBlock, leftover: Leftover): ContentPart[] {
  switch (block.type) {
    case 'text':
      return textPart(block.text as string);
    case 'image':
      return imageOf(block, leftover);
    case 'document':
      return documentOf(block, leftover);
    case 'search_result':
      return [...textPart(headOf(block.title, block.source)), ...partsOf(block.content, leftover)];
    case 'tool_reference':
      return textPart(typeof block.tool_name === 'string' ? block.tool_name : '');
    case 'browser_state':
      return textPart(JSON.stringify(block.tabs ?? []));
    default:
      leftover.note('messages[].content[].', block.type);
      return [];
  }
}

function textPart(text: string): TextPart[] {
  return text === '' ? [] : [{ type: 'text', text }];
}

function headOf(...texts: unknown[]): string {
  return texts.filter((one) => typeof one === 'string' && one !== '').join('\n');
}

function imageOf({ source }: Loose, leftover: Leftover): ContentPart[] {
  const { type, media_type: mediaType, data, url, file_id: id } = source as Loose;
  if (type === 'base64') return [{ type: 'image_url', image_url: { url: `data:${mediaType};base64,${data}` } }];
  if (type === 'url') return [{ type: 'image_url', image_url: { url: url as string } }];
  if (type === 'file') return [{ type: 'file', file: { file_id: id as string } }];
  leftover.note('messages[].content[].source.', String(type));
  return [];
}

function documentOf(block: Loose, leftover: Leftover): ContentPart[] {
  const { source, title, context, citations } = block;
  const { type, media_type: mediaType, data, url, file_id: id, content } = source as Loose;
  const about = textPart(headOf(context));
  const name = typeof title === 'string' && title !== '' ? { filename: title } : {};
  // Upstreams of this wire cite a document where the request says so.
  const cited = isObject(citations) ? { citations } : {};
  const file = (fields: Loose): ContentPart[] => [
    ...about,
    { type: 'file', file: { ...fields, ...name }, ...cited } as ContentPart,
  ];
  if (type === 'base64') return file({ file_data: `data:${mediaType};base64,${data}`, filename: 'document.pdf' });
  if (type === 'url') return file({ file_data: url });
  if (type === 'file') return file({ file_id: id });
  if (type === 'text' && isObject(citations) && citations.enabled === true)
    return file({ file_data: `data:text/plain;base64,${toBase64(new TextEncoder().encode(data as string))}` });
  if (type === 'text') return [...about, ...textPart(headOf(title, data))];
  if (type === 'content') return [...textPart(headOf(title, context)), ...partsOf(content, leftover)];
  leftover.note('messages[].content[].source.', String(type));
  return [];
}
