const frameMagic = 0xfd2fb528;
/** Of frames that hold no data; the last four bits vary. */
const skippableMagic = 0x184d2a50;

/**
 * Where the frames of zstd data are. Some runtimes take a frame that is cut for a complete one, and some read the first
 * frame only.
 * @param maxFrames  more of them are refused: each costs a decoder
 * @returns the frames that hold data, in order; null: the last one is cut, or something else follows the frames
 * @see RFC 8878, 3.1
 */
export function zstdFrames(bytes: Uint8Array, maxFrames: number): Uint8Array[] | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const frames: Uint8Array[] = [];
  let at = 0;
  try {
    while (at < bytes.length) {
      const magic = view.getUint32(at, true);
      const end = magic === frameMagic ? endOfFrame(view, at + 4) : endOfSkippable(view, at, magic);
      if (end === null || end > bytes.length || frames.length === maxFrames) return null;
      if (magic === frameMagic) frames.push(bytes.subarray(at, end));
      at = end;
    }
    return frames;
  } catch (error) {
    // Read past the end.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function endOfSkippable(view: DataView, at: number, magic: number): number | null {
  return (magic & ~0xf) >>> 0 === skippableMagic ? at + 8 + view.getUint32(at + 4, true) : null;
}

/** @param start  after the magic number */
function endOfFrame(view: DataView, start: number): number | null {
  const descriptor = view.getUint8(start);
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const sizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >> 6] as number;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3] as number;
  let at = start + 1 + (isSingleSegment ? 0 : 1) + dictionaryBytes + sizeBytes;
  for (;;) {
    const header = view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
    const type = (header >> 1) & 3;
    if (type === 3) return null;
    // A block of a repeated byte says how often, and holds it once.
    at += 3 + (type === 1 ? 1 : header >> 3);
    if ((header & 1) === 1) break;
  }
  const hasChecksum = (descriptor & 0x04) !== 0;
  return at + (hasChecksum ? 4 : 0);
}
