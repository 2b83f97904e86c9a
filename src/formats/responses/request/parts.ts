import type { Loose } from '../../../base/values.ts';
import type { ContentPart } from '../../../schema/chat/chat.ts';
import type { InputPart } from '../../../schema/responses/responses.ts';

/** Fields of a part that have another name in a chat request, or another place. */
const moved: ReadonlySet<string> = new Set([
  'type',
  'text',
  'image_url',
  'detail',
  'file_data',
  'file_url',
  'file_id',
  'filename',
  'input_audio',
  'video_url',
  // JSON can make such a key, and an assignment would take it for the prototype.
  '__proto__',
]);

/** Returns the content of a chat message: one text where there is only text, which every server takes. */
export function contentOf(content: string | readonly InputPart[]): string | ContentPart[] {
  if (typeof content === 'string') return content;
  const [first] = content;
  if (first === undefined) return '';
  if (content.length === 1 && isPlainText(first)) return first.text;
  return content.map(partOf);
}

/** Returns the content of a tool's message: texts as one text. */
export function outputOf(output: string | readonly InputPart[]): string | ContentPart[] {
  if (typeof output === 'string') return output;
  return output.every(isPlainText) ? output.map(({ text }) => text).join('') : output.map(partOf);
}

function isPlainText(part: InputPart): part is InputPart & { text: string } {
  if (part.type !== 'input_text') return false;
  for (const key in part) if (key !== 'type' && key !== 'text' && part[key] !== null) return false;
  return true;
}

function partOf(part: InputPart): ContentPart {
  const further = othersOf(part);
  switch (part.type) {
    case 'input_text':
      return Object.assign(further, { type: 'text' as const, text: part.text });
    case 'input_image': {
      const { image_url: url, detail } = part;
      return Object.assign(further, { type: 'image_url' as const, image_url: detail ? { url, detail } : { url } });
    }
    case 'input_file': {
      const { file_data: data, file_url: address, file_id: id, filename } = part;
      const file: { file_data?: string; file_id?: string; filename?: string } = {};
      const content = data ?? address;
      if (content) file.file_data = content;
      if (id) file.file_id = id;
      if (filename) file.filename = filename;
      return Object.assign(further, { type: 'file' as const, file });
    }
    case 'input_audio':
      return Object.assign(further, { type: 'input_audio' as const, input_audio: part.input_audio });
    case 'input_video':
      return Object.assign(further, { type: 'video_url' as const, video_url: { url: part.video_url } });
  }
}

/** Returns the fields that a part may have beside those of its type, such as `cache_control`. */
function othersOf(part: InputPart): Loose {
  const others: Loose = {};
  for (const key in part) if (!moved.has(key) && part[key] !== null) others[key] = part[key];
  return others;
}

const modalities = { input_image: 'image', input_file: 'file', input_audio: 'audio', input_video: 'video' } as const;

/** Returns the modality that a model must be able to read; null: text. */
export function modalityOf({ type }: InputPart): string | null {
  return type === 'input_text' ? null : modalities[type];
}
