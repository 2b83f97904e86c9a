import { textAt, viewOf } from './bytes.ts';

/** Format tags whose samples have one size: PCM, floating point, A-law, µ-law. */
const plainTags = [1, 3, 6, 7];
/** More chunks before the samples are no audio. */
const mostChunks = 10_000;
/** The tag of a format that is named further on. */
const extensible = 0xfffe;

/**
 * The length of WAV audio with samples of one size: all bytes after the head of the first `data` chunk count, since its
 * size may be too small, and decoders of streams read on.
 * @returns null: it is in another form
 * @see https://www.mmsp.ece.mcgill.ca/Documents/AudioFormats/WAVE/WAVE.html
 */
export function wavSeconds(bytes: Uint8Array): number | null {
  const view = viewOf(bytes);
  let bytesPerSecond: number | null = null;
  for (let at = 12, chunks = 0; at + 8 <= bytes.length && chunks < mostChunks; chunks++) {
    const name = textAt(bytes, at, at + 4);
    const size = view.getUint32(at + 4, true);
    if (name === 'data') return bytesPerSecond === null ? null : (bytes.length - at - 8) / bytesPerSecond;
    if (name === 'fmt ') bytesPerSecond = rateOf(view, at + 8);
    at += 8 + size + (size % 2);
  }
  return null;
}

/** @returns bytes of a second; null: the samples are compressed, or the head is damaged */
function rateOf(view: DataView, at: number): number | null {
  if (at + 16 > view.byteLength) return null;
  const tag = view.getUint16(at, true);
  const format = tag === extensible && at + 26 <= view.byteLength ? view.getUint16(at + 24, true) : tag;
  const channels = view.getUint16(at + 2, true);
  const rate = view.getUint32(at + 4, true);
  const bits = view.getUint16(at + 14, true);
  const isPlain = plainTags.includes(format) && channels > 0 && rate > 0 && [8, 16, 24, 32, 64].includes(bits);
  return isPlain ? (rate * channels * bits) / 8 : null;
}
