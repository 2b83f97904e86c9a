import { fromBase64 } from '../base/base64.ts';

const headerBytes = 44;
/** The base64 characters of the header, 45 bytes. */
const headerCharacters = 60;
/** The beginning of "RIFF" in base64. */
const riff = 'UklGR';

/**
 * The length of uncompressed WAV audio. A header may lie. So only the one plain form is read whose numbers agree with
 * each other and with the size of the data, and whose second has at least 8,000 bytes: decoders cannot read it in two
 * ways.
 * @param base64  the complete file
 * @returns null: the audio is in any other form
 */
export function wavSeconds(base64: string): number | null {
  if (!base64.startsWith(riff)) return null;
  const header = fromBase64(base64.slice(0, headerCharacters));
  if (header === null || header.length < headerBytes || base64.length % 4 !== 0) return null;
  const bytes = (base64.length / 4) * 3 - (base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0);
  const view = new DataView(header.buffer);
  const textAt = (at: number) => String.fromCharCode(...header.subarray(at, at + 4));
  const channels = view.getUint16(22, true);
  const rate = view.getUint32(24, true);
  const bytesPerSecond = view.getUint32(28, true);
  const frameBytes = view.getUint16(32, true);
  const bits = view.getUint16(34, true);
  const dataBytes = view.getUint32(40, true);
  const isPlain =
    textAt(0) === 'RIFF' &&
    view.getUint32(4, true) === bytes - 8 &&
    textAt(8) === 'WAVE' &&
    textAt(12) === 'fmt ' &&
    view.getUint32(16, true) === 16 &&
    view.getUint16(20, true) === 1 &&
    channels >= 1 &&
    channels <= 2 &&
    rate >= 8_000 &&
    rate <= 192_000 &&
    [8, 16, 24, 32].includes(bits) &&
    frameBytes === (channels * bits) / 8 &&
    bytesPerSecond === rate * frameBytes &&
    textAt(36) === 'data' &&
    dataBytes === bytes - headerBytes;
  return isPlain ? dataBytes / bytesPerSecond : null;
}
