import { readDataUrl } from '../../../base/data-url.ts';
import type { Loose } from '../../../base/values.ts';
import type { ContentPart } from '../../../schema/chat/chat.ts';
import { unsupported } from '../../shared/unsupported.ts';
import type { GoogleQuirks } from '../quirks.ts';
import { type Drop, dropOthers } from './generation-config.ts';

const partFields: ReadonlySet<string> = new Set(['type', 'text', 'image_url', 'input_audio', 'video_url', 'file']);

const types: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  gif: 'image/gif',
  heic: 'image/heic',
  heif: 'image/heif',
  mp4: 'video/mp4',
  mpeg: 'video/mpeg',
  mpg: 'video/mpeg',
  mov: 'video/quicktime',
  webm: 'video/webm',
  wmv: 'video/wmv',
  '3gp': 'video/3gpp',
  mp3: 'audio/mp3',
  wav: 'audio/wav',
  flac: 'audio/flac',
  ogg: 'audio/ogg',
  aac: 'audio/aac',
  m4a: 'audio/m4a',
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  html: 'text/html',
  csv: 'text/csv',
  json: 'application/json',
};

/**
 * Encodes one part of a message's content.
 * @throws UpstreamError `unsupported` for a part that Google cannot be given
 * @see https://ai.google.dev/api/caching#Part
 */
export function encodePart(part: ContentPart, path: string, quirks: GoogleQuirks, drop: Drop): Loose {
  dropOthers(part, partFields, 'messages[].content[]', drop);
  switch (part.type) {
    case 'text':
      return { text: part.text };
    case 'image_url': {
      const { url, detail } = part.image_url;
      // Google has only one setting for all media of a request.
      if (detail !== undefined && detail !== 'auto') drop('messages[].content[].image_url.detail');
      return encodeUrl(url, 'image/jpeg', `${path}.image_url.url`, quirks);
    }
    case 'input_audio': {
      const { data, format } = part.input_audio;
      if (!/^[\w.+-]{1,40}$/.test(format)) throw unsupported(`${path}.input_audio.format`, 'a format such as wav');
      return { inlineData: { mimeType: typeOf(format.toLowerCase()) ?? `audio/${format.toLowerCase()}`, data } };
    }
    case 'video_url':
    case 'input_video':
      return encodeUrl(part.video_url.url, 'video/mp4', `${path}.video_url.url`, quirks);
    case 'file': {
      const { file_data: url, filename } = part.file;
      if (url === undefined) throw unsupported(`${path}.file`, 'file_data: files of a provider cannot be referred to');
      if (filename) drop('messages[].content[].file.filename');
      const named = typeOf(extensionOf(filename ?? ''));
      return encodeUrl(url, named ?? 'application/pdf', `${path}.file.file_data`, quirks);
    }
  }
}

/** @param usual  the media type where neither the address nor the data names it */
function encodeUrl(url: string, usual: string, path: string, { cloudStorage }: GoogleQuirks): Loose {
  const data = readDataUrl(url);
  if (data !== null) return { inlineData: { mimeType: data.mediaType, data: data.base64 } };
  if (!/^https?:\/\//i.test(url) && !(cloudStorage === true && url.startsWith('gs://')))
    throw unsupported(path, 'a base64 data URL or an address that begins with https://');
  return { fileData: { fileUri: url, mimeType: typeOf(extensionOf(url)) ?? usual } };
}

/** Returns the media type of a file at an address: Google wants to be told. */
function typeOf(extension: string): string | undefined {
  return Object.hasOwn(types, extension) ? types[extension] : undefined;
}

function extensionOf(address: string): string {
  const path = address.split(/[?#]/, 1)[0] ?? '';
  return /\.(\w{1,5})$/.exec(path)?.[1]?.toLowerCase() ?? '';
}
