import { isTextAt, textAt, viewOf } from './bytes.ts';
import { aacRates } from './mpeg.ts';

/** Boxes that hold the boxes that are read. */
const holders = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl', 'moof', 'traf']);
/** The samples of a frame of AAC. */
const samplesPerFrame = 1024;
/** A file with more boxes is no audio. */
const mostBoxes = 100_000;
/** Boxes within boxes. */
const mostLevels = 10;
/** Tracks of sound, whose configurations are searched. */
const mostTracks = 100;
/** The bytes of the configuration of a decoder. */
const mostConfiguration = 4_096;

/**
 * Counts the frames of AAC of the tracks of sound in an MP4, whole or in fragments. The durations in its heads are not
 * read.
 * @returns null: a track of sound is in another form, or there is none
 * @see https://developer.apple.com/documentation/quicktime-file-format
 */
export function mp4Seconds(bytes: Uint8Array): number | null {
  const view = viewOf(bytes);
  let rate: number | null = null;
  let isSound = false;
  let hasOther = false;
  let frames = 0;
  let boxes = 0;
  let tracks = 0;
  const walk = (from: number, to: number, level: number): void => {
    for (let at = from; at + 8 <= to && boxes < mostBoxes && !hasOther; boxes++) {
      const name = textAt(bytes, at + 4, at + 8);
      const { head, size } = sizeAt(view, at, to);
      const [start, end] = [at + head, Math.min(at + size, to)];
      if (size < head) return;
      if (name === 'trak') isSound = false;
      if (holders.has(name) && level < mostLevels) walk(start, end, level + 1);
      else if (name === 'hdlr') isSound = isTextAt(bytes, start + 8, 'soun');
      else if (name === 'stsd' && isSound) {
        const found = ++tracks > mostTracks ? null : aacRate(bytes, start, Math.min(end, start + mostConfiguration));
        if (found === null) hasOther = true;
        else rate = Math.min(rate ?? found, found);
      } else if (name === 'stsz' && isSound && start + 12 <= end) frames += view.getUint32(start + 8);
      else if (name === 'stz2' && isSound && start + 12 <= end) frames += view.getUint32(start + 8);
      // Which track a fragment is of does not matter: more frames only make it longer.
      else if (name === 'trun' && start + 8 <= end) frames += view.getUint32(start + 4);
      at = end;
    }
  };
  walk(0, bytes.length, 0);
  if (rate === null || hasOther || frames === 0 || boxes >= mostBoxes) return null;
  // A frame has at least a byte: a count that is larger than the file says nothing.
  return (Math.min(frames, bytes.length) * samplesPerFrame) / rate;
}

function sizeAt(view: DataView, at: number, to: number): { head: number; size: number } {
  const size = view.getUint32(at);
  if (size === 1 && at + 16 <= to) return { head: 16, size: Number(view.getBigUint64(at + 8)) };
  return { head: 8, size: size === 0 ? to - at : size };
}

/** Finds the rate in the configuration of a decoder of AAC. @returns null: it is another decoder */
function aacRate(bytes: Uint8Array, from: number, to: number): number | null {
  // Behind version, count, and the size of the entry.
  if (!isTextAt(bytes, from + 12, 'mp4a')) return null;
  const at = placeOf(bytes, 'esds', from + 16, to);
  if (at === null) return null;
  // The descriptor 5 holds the configuration. Lengths have up to four bytes.
  for (let place = at + 8; place + 3 < to; place++) {
    if (bytes[place] !== 5) continue;
    let next = place + 1;
    while (next < place + 4 && ((bytes[next] as number) & 0x80) !== 0) next++;
    const first = bytes[next + 1] ?? 0;
    const second = bytes[next + 2] ?? 0;
    const type = first >> 3;
    const rate = aacRates[((first & 7) << 1) | (second >> 7)];
    // AAC LC, with or without its extensions.
    if ((type === 2 || type === 5 || type === 29) && rate !== undefined) return rate;
  }
  return null;
}

/** @returns null: the name does not stand there */
function placeOf(bytes: Uint8Array, name: string, from: number, to: number): number | null {
  for (let at = from; at + name.length <= to; at++) if (isTextAt(bytes, at, name)) return at;
  return null;
}
