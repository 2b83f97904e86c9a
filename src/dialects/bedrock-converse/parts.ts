import { readDataUrl } from '../../base/data-url.ts';
import { isObject, type Loose } from '../../base/values.ts';
import type { ContentPart } from '../../schema/chat/part.ts';
import { unsupported } from '../shared/unsupported.ts';

/** The formats by media type, and by the ending of a file's name where it lies in a bucket. */
const imageFormats = new Map([
  ['image/png', 'png'],
  ['image/jpeg', 'jpeg'],
  ['image/gif', 'gif'],
  ['image/webp', 'webp'],
  ['jpg', 'jpeg'],
]);
const videoFormats = new Map([
  ['video/x-matroska', 'mkv'],
  ['video/quicktime', 'mov'],
  ['video/mp4', 'mp4'],
  ['video/webm', 'webm'],
  ['video/x-flv', 'flv'],
  ['video/mpeg', 'mpeg'],
  ['video/mpg', 'mpg'],
  ['video/wmv', 'wmv'],
  ['video/x-ms-wmv', 'wmv'],
  ['video/3gpp', 'three_gp'],
  ['3gp', 'three_gp'],
]);
const documentFormats = new Map([
  ['application/pdf', 'pdf'],
  ['text/csv', 'csv'],
  ['application/msword', 'doc'],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
  ['application/vnd.ms-excel', 'xls'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
  ['text/html', 'html'],
  ['text/plain', 'txt'],
  ['text/markdown', 'md'],
]);
/** @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_AudioBlock.html */
const audioFormats = new Set('mp3 opus wav aac flac mp4 ogg mkv mka x-aac m4a mpeg mpga pcm webm'.split(' '));

const kinds = { image: imageFormats, video: videoFormats, document: documentFormats } as const;
type Kind = keyof typeof kinds;

const expected: Readonly<Record<Kind, string>> = {
  image: 'a PNG, JPEG, GIF or WebP image as a data URL',
  video: 'an MP4, MOV, MKV, WebM, FLV, MPEG, WMV or 3GP video as a data URL',
  document: 'a PDF, CSV, Word, Excel, HTML, Markdown or plain text document as a data URL',
};

/** The number behind each name of a document that was given last: each document must have another name. */
export type DocumentNames = Map<string, number>;

/** The context in which parts are encoded. */
export interface PartContext {
  names: DocumentNames;
  /** true: addresses in S3 pass. */
  takesS3: boolean;
}

/**
 * Makes a block of a content part; null: an empty text, which the provider refuses.
 * @param path  the path of the part in the request
 * @throws UpstreamError for a part that the provider cannot take
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ContentBlock.html
 */
export function blockOfPart(part: ContentPart, path: string, { names, takesS3 }: PartContext): Loose | null {
  switch (part.type) {
    case 'text':
      return part.text.trim() === '' ? null : { text: part.text };
    case 'image_url':
      return mediaBlock('image', part.image_url.url, `${path}.image_url.url`, takesS3);
    case 'video_url':
    case 'input_video':
      return mediaBlock('video', part.video_url.url, `${path}.video_url.url`, takesS3);
    case 'input_audio': {
      const { data, format } = part.input_audio;
      const word = format === 'pcm16' ? 'pcm' : format.toLowerCase();
      if (!audioFormats.has(word)) throw unsupported(`${path}.input_audio.format`, [...audioFormats].join(', '));
      return { audio: { format: word, source: { bytes: data } } };
    }
    case 'file':
      return fileBlock(part, path, { names, takesS3 });
    default:
      throw unsupported(path, 'text, an image, a sound, a video or a file');
  }
}

function mediaBlock(kind: Kind, url: string, path: string, takesS3: boolean): Loose {
  const source = sourceOf(url, takesS3);
  const format = source && formatOf(kind, source.type);
  if (!source || format === undefined) throw unsupported(path, expected[kind]);
  return { [kind]: { format, source: source.value } };
}

function fileBlock(part: Extract<ContentPart, { type: 'file' }>, path: string, { names, takesS3 }: PartContext): Loose {
  const { file_data: data, filename } = part.file;
  const source = data === undefined || data === null ? null : sourceOf(data, takesS3);
  if (source === null) throw unsupported(`${path}.file.file_data`, expected.document);
  for (const kind of ['image', 'video'] as const) {
    const format = formatOf(kind, source.type);
    if (format !== undefined) return { [kind]: { format, source: source.value } };
  }
  const format = formatOf('document', source.type);
  if (format === undefined) throw unsupported(`${path}.file.file_data`, expected.document);
  // The field is that of Anthropic's documents: with it, the response cites the places that it rests on.
  const citations = isObject(part.citations) && part.citations.enabled === true ? { citations: { enabled: true } } : {};
  return { document: { format, name: documentName(filename ?? '', names), source: source.value, ...citations } };
}

interface Source {
  value: Loose;
  /** The media type or the ending. */
  type: string;
}

function sourceOf(url: string, takesS3: boolean): Source | null {
  const data = readDataUrl(url);
  if (data !== null) return { value: { bytes: data.base64 }, type: data.mediaType };
  if (!takesS3 || !/^s3:\/\//i.test(url)) return null;
  return { value: { s3Location: { uri: url } }, type: url.slice(url.lastIndexOf('.') + 1).toLowerCase() };
}

/** Returns the format of a type. An ending is mostly the format itself. */
function formatOf(kind: Kind, type: string): string | undefined {
  const formats = kinds[kind];
  const known = formats.get(type);
  if (known !== undefined) return known;
  return [...formats.values()].find((format) => format === type);
}

/**
 * Makes a name of a document: letters, digits, single spaces, hyphens, parentheses and brackets; without the ending,
 * which `format` holds.
 */
function documentName(filename: string, names: DocumentNames): string {
  const plain = filename
    .slice(0, 500)
    .replace(/\.[A-Za-z0-9]{1,5}$/, '')
    .replace(/[^A-Za-z0-9()[\]-]+/g, ' ')
    .trim()
    .slice(0, 180)
    .trim();
  const base = plain === '' ? 'document' : plain;
  let name = base;
  while (names.has(name)) {
    const number = (names.get(base) ?? 1) + 1;
    names.set(base, number);
    name = `${base} (${number})`;
  }
  names.set(name, 1);
  return name;
}
