import { isTextAt } from './bytes.ts';

/** kbit/s by the index of a frame's header; 0: any. */
const bitratesOfMpeg1 = [
  [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
] as const;
const bitratesOfMpeg2 = [
  [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
] as const;
const rates = [44_100, 48_000, 32_000] as const;

/**
 * The most places that look like frames and are none, and the most frames: some three hours of them. A file with more of
 * either is made to be counted for long, and its length is taken from its size.
 */
const mostMisses = 100_000;
const mostFrames = 500_000;

/** The most tags before the frames. A file has one or two. */
const mostTags = 100;

/** A frame: its bytes, and the seconds that it plays. */
interface Frame {
  size: number;
  seconds: number;
}

/**
 * Counts the frames of MP1, MP2 and MP3, at a constant or a variable bitrate. The count of a Xing header is not read.
 * @returns null: there are none, or some tell no size
 * @see http://www.mp3-tech.org/programmer/frame_header.html
 */
export function mpegSeconds(bytes: Uint8Array): number | null {
  return countFrames(bytes, afterTags(bytes), mpegFrame);
}

/** Counts the frames of AAC in ADTS. @returns null: there are none */
export function adtsSeconds(bytes: Uint8Array): number | null {
  return countFrames(bytes, afterTags(bytes), adtsFrame);
}

/** @param frameAt  reads a frame; null: there is none; 'any': it tells no size */
function countFrames(
  bytes: Uint8Array,
  from: number,
  frameAt: (bytes: Uint8Array, at: number) => Frame | 'any' | null,
): number | null {
  let seconds = 0;
  let isInStep = false;
  let misses = 0;
  let frames = 0;
  for (let at = bytes.indexOf(0xff, from); at >= 0 && at + 4 <= bytes.length; ) {
    const frame = frameAt(bytes, at);
    if (frame === 'any') return null;
    const next = frame === null ? 0 : at + frame.size;
    // Two bytes may look like a frame in any data. One that no other follows is none.
    if (frame !== null && (isInStep || next + 4 > bytes.length || frameAt(bytes, next) !== null)) {
      if (++frames > mostFrames) return null;
      seconds += frame.seconds;
      isInStep = true;
      if (bytes[next] === 0xff) at = next;
      else at = bytes.indexOf(0xff, next);
      continue;
    }
    isInStep = false;
    if (++misses > mostMisses) return null;
    at = bytes.indexOf(0xff, at + 1);
  }
  return seconds > 0 ? seconds : null;
}

function mpegFrame(bytes: Uint8Array, at: number): Frame | 'any' | null {
  const second = bytes[at + 1] ?? 0;
  const third = bytes[at + 2] ?? 0;
  if (bytes[at] !== 0xff || (second & 0xe0) !== 0xe0) return null;
  const version = (second >> 3) & 3;
  const layer = 3 - ((second >> 1) & 3);
  const rate = rates[(third >> 2) & 3];
  const index = third >> 4;
  if (version === 1 || layer === 3 || rate === undefined || index === 15) return null;
  if (index === 0) return 'any';
  const isMpeg1 = version === 3;
  const kbit = (isMpeg1 ? bitratesOfMpeg1 : bitratesOfMpeg2)[layer]?.[index] as number;
  const hertz = rate / (isMpeg1 ? 1 : version === 2 ? 2 : 4);
  const samples = layer === 0 ? 384 : layer === 2 && !isMpeg1 ? 576 : 1152;
  const padding = ((third >> 1) & 1) * (layer === 0 ? 4 : 1);
  const size = Math.floor((samples / 8) * ((kbit * 1000) / hertz)) + padding;
  return { size: layer === 0 ? Math.floor(size / 4) * 4 : size, seconds: samples / hertz };
}

/** Hertz by the index of a header of AAC. */
export const aacRates = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
] as const;

function adtsFrame(bytes: Uint8Array, at: number): Frame | null {
  if (at + 7 > bytes.length || bytes[at] !== 0xff || ((bytes[at + 1] as number) & 0xf6) !== 0xf0) return null;
  const rate = aacRates[((bytes[at + 2] as number) >> 2) & 15];
  const size =
    (((bytes[at + 3] as number) & 3) << 11) | ((bytes[at + 4] as number) << 3) | ((bytes[at + 5] as number) >> 5);
  if (rate === undefined || size < 7) return null;
  const blocks = ((bytes[at + 6] as number) & 3) + 1;
  return { size, seconds: (blocks * 1024) / rate };
}

/** Returns the place behind the tags of ID3v2 at the beginning: their pictures hold bytes that look like frames. */
function afterTags(bytes: Uint8Array): number {
  let at = 0;
  for (let tags = 0; tags < mostTags && isTextAt(bytes, at, 'ID3') && at + 10 <= bytes.length; tags++) {
    const [a = 0, b = 0, c = 0, d = 0] = bytes.subarray(at + 6, at + 10);
    const size = ((a & 127) << 21) | ((b & 127) << 14) | ((c & 127) << 7) | (d & 127);
    // A tag that is longer than its file is none.
    if (at + 10 + size >= bytes.length) return at;
    at += 10 + size;
  }
  return at;
}
