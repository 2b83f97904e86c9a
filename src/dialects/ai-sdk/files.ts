import { readDataUrl } from '../../base/data-url.ts';
import type { Loose } from '../../base/values.ts';
import type { ContentPart } from '../../schema/chat/chat.ts';
import type { Dropped } from '../shared/left-out.ts';
import { unsupported } from '../shared/unsupported.ts';

/** Media types by the ends of names, for files whose address alone is known. */
const mediaTypes: ReadonlyMap<string, string> = new Map(
  Object.entries({
    pdf: 'application/pdf',
    txt: 'text/plain',
    md: 'text/markdown',
    csv: 'text/csv',
    html: 'text/html',
    json: 'application/json',
    docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    png: 'image/png',
    jpg: 'image/jpeg',
    jpeg: 'image/jpeg',
    gif: 'image/gif',
    webp: 'image/webp',
    mp3: 'audio/mpeg',
    wav: 'audio/wav',
    mp4: 'video/mp4',
    webm: 'video/webm',
  }),
);

const audioTypes: ReadonlyMap<string, string> = new Map(
  Object.entries({ mp3: 'audio/mpeg', m4a: 'audio/mp4', pcm16: 'audio/pcm' }),
);

/**
 * Makes a file part of the AI SDK of a part that is no text.
 * @param path  the path of the part in the request
 */
export function encodeFile(part: Exclude<ContentPart, { type: 'text' }>, path: string, dropped: Dropped): Loose {
  switch (part.type) {
    case 'image_url':
      dropped.addSet('messages[].content[].image_url', part.image_url, ['detail']);
      return urlPart(part.image_url.url, 'image/*', `${path}.image_url.url`);
    case 'input_audio': {
      const { data, format } = part.input_audio;
      return dataPart(data, audioTypes.get(format) ?? `audio/${format}`);
    }
    case 'video_url':
    case 'input_video':
      return urlPart(part.video_url.url, 'video/*', `${path}.video_url.url`);
    case 'file':
      return namedFile(part.file, `${path}.file`);
  }
}

function namedFile(file: { file_data?: string | undefined; filename?: string | undefined }, path: string): Loose {
  const { file_data: url, filename } = file;
  if (url === undefined) throw unsupported(path, 'file_data: the model knows no files by an id');
  const named = typed(filename);
  const part = urlPart(url, named ?? null, `${path}.file_data`);
  return filename === undefined ? part : { ...part, filename };
}

/** @param fallback  the media type where the address does not tell it; null: the address must tell it */
function urlPart(url: string, fallback: string | null, path: string): Loose {
  const data = readDataUrl(url);
  if (data !== null) return dataPart(data.base64, data.mediaType);
  if (!URL.canParse(url) || !/^https?:/i.test(url)) throw unsupported(path, 'a base64 data URL or an https address');
  const mediaType = typed(new URL(url).pathname) ?? fallback;
  if (mediaType === null) throw unsupported(path, 'a data URL, or a file name that tells the media type');
  return { type: 'file', mediaType, data: { type: 'url', url } };
}

function dataPart(base64: string, mediaType: string): Loose {
  return { type: 'file', mediaType, data: { type: 'data', data: base64 } };
}

function typed(name: string | undefined): string | undefined {
  return mediaTypes.get(/\.(\w{2,5})$/.exec(name ?? '')?.[1]?.toLowerCase() ?? '');
}
