import { isIndex, isObject, type Loose } from '../../base/values.ts';
import type { ImageOutput, Logprobs } from '../../schema/chat/chat.ts';
import { decodeLogprobs } from '../openai-chat/shapes.ts';

/**
 * Returns a citation in our wire shape; null: it is none that clients could read. They know citations of pages and of
 * files.
 * @param offset  the place where the cited text starts in the content
 */
export function annotationOf(raw: unknown, offset: number): (Loose & { type: string }) | null {
  if (!isObject(raw)) return null;
  const { type, ...fields } = raw;
  for (const key of ['start_index', 'end_index']) {
    const at = fields[key];
    if (isIndex(at)) fields[key] = at + offset;
    else delete fields[key];
  }
  if (type === 'url_citation') {
    if (typeof fields.title !== 'string') delete fields.title;
    return typeof fields.url === 'string' ? { type, url_citation: fields } : null;
  }
  const { file_id: id, filename } = fields;
  if (typeof id !== 'string') return null;
  return {
    type: 'file',
    file: { ...fields, hash: id, name: typeof filename === 'string' ? filename : id, content: [] },
  };
}

/** The form of names of media types in `output_format`. */
const imageFormat = /^[a-z]{2,8}$/;

/** Returns an image that the provider's tool has made, as a data URL; null: none. */
export function imageOf({ result, output_format: format }: Loose): ImageOutput | null {
  if (typeof result !== 'string' || result === '') return null;
  const type = typeof format === 'string' && imageFormat.test(format) ? format : 'png';
  return { type: 'image_url', image_url: { url: `data:image/${type};base64,${result}` } };
}

/** Returns probabilities of tokens; null where there are none, which is the usual case. */
export function logprobsOf(raw: unknown): NonNullable<Logprobs['content']> | null {
  if (!Array.isArray(raw) || raw.length === 0) return null;
  const content = decodeLogprobs({ content: raw })?.content ?? [];
  return content.length === 0 ? null : content;
}
