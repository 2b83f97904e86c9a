import { standardBase64 } from '../../../base/base64.ts';
import type { Loose } from '../../../base/values.ts';
import type { ContentPart } from '../../../schema/chat/part.ts';
import { objectOf, textOf } from '../../../schema/gemini/fields.ts';
import type { Leftover } from '../../leftover.ts';

/** Returns a part that a person or a tool has written, as chat has it; null: chat has no place for it. */
export function contentPart(part: Loose, leftover: Leftover): ContentPart | null {
  const text = textOf(part, 'text');
  // Some upstreams refuse an empty text.
  if (text !== null) return text === '' ? null : { type: 'text', text };
  const inline = objectOf(part, 'inlineData');
  if (inline !== null) {
    const type = textOf(inline, 'mimeType') ?? '';
    return mediaPart(
      type,
      `data:${type};base64,${standardBase64(textOf(inline, 'data') ?? '')}`,
      textOf(inline, 'displayName'),
    );
  }
  const file = objectOf(part, 'fileData');
  if (file !== null)
    return mediaPart(textOf(file, 'mimeType') ?? '', textOf(file, 'fileUri') ?? '', textOf(file, 'displayName'));
  const code = objectOf(part, 'executableCode') ?? objectOf(part, 'codeExecutionResult');
  const written = textOf(code, 'code') ?? textOf(code, 'output');
  if (written !== null) return { type: 'text', text: `\`\`\`\n${written}\n\`\`\`` };
  noteUnknown(part, leftover);
  return null;
}

/** A part without any data is nothing, and is not named. */
function noteUnknown(part: Loose, leftover: Leftover): void {
  for (const name in part) if (!/^thought/.test(name) && part[name] != null) leftover.note('contents[].parts[].', name);
}

function mediaPart(type: string, url: string, name: string | null): ContentPart {
  const isData = url.startsWith('data:');
  if (type.startsWith('image/')) return { type: 'image_url', image_url: { url } };
  if (type.startsWith('video/') || (!isData && /^https:\/\/(?:www\.)?(?:youtube\.com|youtu\.be)\//.test(url)))
    return { type: 'video_url', video_url: { url } };
  if (type.startsWith('audio/') && isData)
    return { type: 'input_audio', input_audio: { data: url.slice(url.indexOf(',') + 1), format: soundFormat(type) } };
  return { type: 'file', file: { file_data: url, ...(name === null ? {} : { filename: name }) } };
}

function soundFormat(type: string): string {
  const format = type.slice('audio/'.length).replace(/^x-/, '');
  if (format === 'mpeg') return 'mp3';
  return format === 'wave' ? 'wav' : format;
}
