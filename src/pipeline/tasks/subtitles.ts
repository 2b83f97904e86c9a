import { isObject } from '../../base/values.ts';

/** A part of a transcript with its times, in seconds. */
export interface Timed {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Reads the parts of a transcript. @returns null: it has none with times */
export function timedIn(segments: unknown): readonly (Timed & { readonly [field: string]: unknown })[] | null {
  if (!Array.isArray(segments)) return null;
  const isTimed = (one: unknown): one is Timed =>
    isObject(one) && typeof one.text === 'string' && typeof one.start === 'number' && typeof one.end === 'number';
  return segments.every(isTimed) ? (segments as Timed[] as never) : null;
}

/** Writes subtitles as SubRip has them. */
export function srt(parts: readonly Timed[]): string {
  return parts
    .map(({ start, end, text }, at) => `${at + 1}\n${time(start, ',')} --> ${time(end, ',')}\n${lines(text)}\n\n`)
    .join('');
}

/** Writes subtitles as WebVTT has them. */
export function vtt(parts: readonly Timed[]): string {
  const cues = parts.map(({ start, end, text }) => `${time(start, '.')} --> ${time(end, '.')}\n${lines(text)}\n\n`);
  return `WEBVTT\n\n${cues.join('')}`;
}

/** An arrow or an empty line would end a part. */
function lines(text: string): string {
  return text
    .trim()
    .replaceAll('-->', '->')
    .replace(/\n\s*\n/g, '\n');
}

function time(seconds: number, mark: ',' | '.'): string {
  const ms = Math.max(Math.round(seconds * 1000), 0);
  const two = (value: number) => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60];
  return `${two(hours)}:${two(minutes)}:${two(Math.floor(ms / 1000) % 60)}${mark}${String(ms % 1000).padStart(3, '0')}`;
}
