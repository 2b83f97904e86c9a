import { toBase64 } from '../../base/base64.ts';
import { readDataUrl } from '../../base/data-url.ts';
import { wrongArgument } from '../../base/refusal.ts';
import { isObject, type Loose } from '../../base/values.ts';

/** The formats of sounds by their media types, where they are not the subtype. */
const soundFormats: ReadonlyMap<string, string> = new Map([
  ['mpeg', 'mp3'],
  ['x-wav', 'wav'],
  ['wave', 'wav'],
  ['vnd.wave', 'wav'],
  ['mp4', 'm4a'],
  ['x-m4a', 'm4a'],
  ['pcm', 'pcm16'],
  ['x-flac', 'flac'],
]);

/** The first letters of images in base64, for those whose subtype is not known. */
const imageStarts: readonly (readonly [string, string])[] = [
  ['iVBORw', 'png'],
  ['/9j/', 'jpeg'],
  ['R0lGOD', 'gif'],
  ['UklGR', 'webp'],
  ['Qk', 'bmp'],
];

/** A content part of a chat request that is no text. */
type WirePart = Loose & { type: string };

/**
 * Makes a content part of a file of a prompt.
 * @param path     its place in the prompt
 * @param ownNotes the options of the part that are the gateway's
 * @throws GatewayError invalid_request (400) for a file that a chat request has no place for
 */
export function wireFile(part: Loose, path: string, ownNotes: Loose): WirePart {
  const mediaType = typeof part.mediaType === 'string' ? part.mediaType.toLowerCase() : '';
  const { data } = part;
  if (!isObject(data)) throw wrongArgument(`${path}.data`, 'expected object');
  if (data.type === 'text') return { type: 'text', text: textOf(data.text, `${path}.data.text`) };
  const filename = typeof part.filename === 'string' ? part.filename : undefined;
  if (data.type === 'reference')
    return { type: 'file', file: { file_id: referenceOf(data.reference, path), ...(filename ? { filename } : {}) } };
  const [kind = '', subtype = ''] = mediaType.split('/');
  const content = data.type === 'url' ? addressOf(data, path) : contentOf(data, path);
  switch (kind) {
    case 'image': {
      const detail = ownNotes.imageDetail ?? ownNotes.image_detail;
      const url =
        'url' in content ? content.url : dataUrl(`image/${imageSubtype(subtype, content.base64)}`, content.base64);
      return { type: 'image_url', image_url: { url, ...(typeof detail === 'string' ? { detail } : {}) } };
    }
    case 'audio': {
      if ('url' in content)
        throw wrongArgument(`${path}.data`, 'expected the bytes of the sound: models take no address of one');
      return { type: 'input_audio', input_audio: { data: content.base64, format: soundFormat(subtype) } };
    }
    case 'video':
      return { type: 'video_url', video_url: { url: urlOf(content, kind, subtype || 'mp4') } };
    default: {
      const url = urlOf(content, kind || 'application', subtype || (kind === 'text' ? 'plain' : 'octet-stream'));
      return {
        type: 'file',
        file: { filename: filename ?? `file.${subtype === '' ? 'bin' : subtype}`, file_data: url },
      };
    }
  }
}

/** Returns the address of a file that the model made, or its content as a data URL. @returns null: it is neither */
export function outputUrl({ data, mediaType }: Loose, path: string): string | null {
  if (!isObject(data) || (data.type !== 'data' && data.type !== 'url')) return null;
  const content = data.type === 'url' ? addressOf(data, path) : contentOf(data, path);
  return 'url' in content
    ? content.url
    : dataUrl(typeof mediaType === 'string' ? mediaType : 'application/octet-stream', content.base64);
}

type Content = { base64: string; mediaType?: string } | { url: string };

function contentOf({ data }: Loose, path: string): Content {
  if (data instanceof Uint8Array) return { base64: toBase64(data) };
  if (typeof data === 'string') return fromDataUrl(data) ?? { base64: data };
  throw wrongArgument(`${path}.data.data`, 'expected bytes, or a string of base64');
}

function addressOf({ url, originalUrl }: Loose, path: string): Content {
  const address = typeof originalUrl === 'string' ? originalUrl : url instanceof URL ? url.href : url;
  if (typeof address !== 'string' || address === '') throw wrongArgument(`${path}.data.url`, 'expected a URL');
  return fromDataUrl(address) ?? { url: address };
}

function fromDataUrl(text: string): Content | null {
  const read = readDataUrl(text);
  return read === null ? null : { base64: read.base64, mediaType: read.mediaType };
}

function urlOf(content: Content, kind: string, subtype: string): string {
  if ('url' in content) return content.url;
  const mediaType = subtype === '*' && content.mediaType !== undefined ? content.mediaType : `${kind}/${subtype}`;
  return dataUrl(mediaType, content.base64);
}

function dataUrl(mediaType: string, base64: string): string {
  return `data:${mediaType};base64,${base64}`;
}

function imageSubtype(subtype: string, base64: string): string {
  if (subtype !== '' && subtype !== '*') return subtype;
  return imageStarts.find(([start]) => base64.startsWith(start))?.[1] ?? 'jpeg';
}

function soundFormat(subtype: string): string {
  if (subtype === '' || subtype === '*') return 'wav';
  return soundFormats.get(subtype) ?? subtype;
}

/** Returns the id of a file that a provider has: that for the gateway, or the only one. */
function referenceOf(reference: unknown, path: string): string {
  const ids = isObject(reference) ? Object.entries(reference) : [];
  const id = ids.find(([name]) => name === 'gateway')?.[1] ?? (ids.length === 1 ? ids[0]?.[1] : undefined);
  if (typeof id === 'string') return id;
  throw wrongArgument(`${path}.data.reference`, 'expected one id, or that of gateway');
}

function textOf(value: unknown, path: string): string {
  if (typeof value === 'string') return value;
  throw wrongArgument(path, 'expected string');
}
