import { fromBase64, toBase64 } from '../../base/base64.ts';

/**
 * Joins pieces of sound, each of which is base64 of its own. Clients put the texts together, which only fits where no
 * piece but the last is padded: bytes that do not fill three are kept for the next piece.
 * @param kept  bytes of the piece before
 * @returns null where the piece is not base64
 */
export function joinSound(kept: Uint8Array, data: string): { data: string; kept: Uint8Array } | null {
  if (kept.length === 0 && !data.endsWith('=')) return { data, kept };
  const piece = fromBase64(data);
  if (piece === null) return null;
  const bytes = new Uint8Array(kept.length + piece.length);
  bytes.set(kept);
  bytes.set(piece, kept.length);
  const end = bytes.length - (bytes.length % 3);
  return { data: toBase64(bytes.subarray(0, end)), kept: bytes.slice(end) };
}
