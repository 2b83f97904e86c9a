import { uploadedFile } from '../../base/http/uploaded-file.ts';
import type { SoundForm } from '../../dialects/tasks/contract.ts';
import { mostSeconds } from '../../pricing/audio/length.ts';

/** Bytes of a second of `pcm`: 24 kHz, 16 bit, mono. */
const pcmBytesPerSecond = 48_000;

/**
 * Returns the seconds that sound plays of which its beginning is known, and its size: the beginning tells the bytes of a
 * second.
 * @returns null: it does not
 */
export function soundSeconds(form: SoundForm, head: Uint8Array, bytes: number): number | null {
  if (form === 'pcm') return bytes / pcmBytesPerSecond;
  if (form !== 'mp3' && form !== 'wav' && form !== 'aac') return null;
  const seconds = mostSeconds(uploadedFile(null, null, [head]));
  return seconds === 0 ? null : (bytes / head.length) * seconds;
}
