import { joinBytes } from '../../base/bytes.ts';
import type { UploadedFile } from '../../base/http/uploaded-file.ts';
import { isTextAt, textAt } from './bytes.ts';
import { flacSeconds } from './flac.ts';
import { mp4Seconds } from './mp4.ts';
import { adtsSeconds, mpegSeconds } from './mpeg.ts';
import { oggSeconds } from './ogg.ts';
import { wavSeconds } from './wav.ts';
import { webmSeconds } from './webm.ts';

/**
 * The bytes of a second at the lowest bitrate of speech that providers take: 6 kbit/s, which is Opus's. A file whose length
 * cannot be measured is no longer than its size at this rate.
 */
export const leastBytesPerSecond = 750;

/**
 * Returns the most seconds that a file of audio plays. The frames themselves are counted, as a decoder does: what a header
 * says of the whole is not believed, since a client may write it. A form whose frames cannot be counted, and a damaged
 * file, has the length of its size at the lowest bitrate.
 */
export function mostSeconds(file: UploadedFile): number {
  const bytes = joinBytes(file.chunks);
  const longest = bytes.length / leastBytesPerSecond;
  return measured(bytes) ?? longest;
}

/** @returns null: the frames cannot be counted */
function measured(bytes: Uint8Array): number | null {
  const marks = textAt(bytes, 0, 4);
  if (marks === 'RIFF' || marks === 'RF64') return wavSeconds(bytes);
  if (marks === 'fLaC') return flacSeconds(bytes);
  if (marks === 'OggS') return oggSeconds(bytes);
  if (isTextAt(bytes, 4, 'ftyp')) return mp4Seconds(bytes);
  if (bytes[0] === 0x1a && bytes[1] === 0x45 && bytes[2] === 0xdf && bytes[3] === 0xa3) return webmSeconds(bytes);
  return mpegSeconds(bytes) ?? adtsSeconds(bytes);
}

/** The beginnings of files of sound, and the ends of their names. */
const beginnings: readonly (readonly [at: number, text: string, name: string])[] = [
  [0, 'RIFF', 'wav'],
  [0, 'fLaC', 'flac'],
  [0, 'OggS', 'ogg'],
  [4, 'ftyp', 'm4a'],
  [0, '\x1a\x45\xdf\xa3', 'webm'],
];

/** Returns the usual end of the name of a file of sound by its first bytes, such as `wav`. */
export function audioNameEnd({ chunks: [first = new Uint8Array(0)] }: UploadedFile): string {
  return beginnings.find(([at, text]) => isTextAt(first, at, text))?.[2] ?? 'mp3';
}
