/** Samples of a block by its code; 0: named behind the header. */
const blockSizes = [0, 192, 576, 1152, 2304, 4608, 0, 0, 256, 512, 1024, 2048, 4096, 8192, 16_384, 32_768] as const;
/** Hertz by the code of a frame; 0: named elsewhere. */
const rates = [0, 88_200, 176_400, 192_000, 8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000] as const;

/** The most places that are looked at. Music of a request has some 50,000 frames. */
const mostLooks = 100_000;
/** The most bytes that begin like a frame. In sound, one in 256 does. */
const mostHits = 1_000_000;
/** The fewest bytes of a frame, and the most samples. */
const leastFrameBytes = 10;
const mostSamples = 65_536;

/**
 * Adds up the frames of FLAC. The count of samples in the head is not read: encoders of streams leave it out, and silence
 * takes next to no bytes.
 * @returns null: there are none
 * @see https://www.rfc-editor.org/rfc/rfc9639
 */
export function flacSeconds(bytes: Uint8Array): number | null {
  const ofStream = rateOfStream(bytes);
  if (ofStream === 0) return null;
  let seconds = 0;
  let looks = 0;
  let hits = 0;
  for (let at = bytes.indexOf(0xff, 42); at >= 0; at = bytes.indexOf(0xff, at + 1)) {
    const isFrame = ((bytes[at + 1] as number) & 0xfe) === 0xf8;
    if (++hits > mostHits || (isFrame && ++looks > mostLooks))
      return ((bytes.length / leastFrameBytes) * mostSamples) / ofStream;
    const frame = isFrame ? frameAt(bytes, at) : null;
    if (frame !== null) seconds += frame.samples / (frame.rate || ofStream);
  }
  return seconds > 0 ? seconds : null;
}

function rateOfStream(bytes: Uint8Array): number {
  // The first block of metadata is STREAMINFO: a head of 4 bytes, and 10 bytes before the rate.
  const [high = 0, middle = 0, low = 0] = bytes.subarray(18, 21);
  return (high << 12) | (middle << 4) | (low >> 4);
}

/** Reads the head of a frame. Its checksum tells it from other bytes. */
function frameAt(bytes: Uint8Array, at: number): { samples: number; rate: number } | null {
  const third = bytes[at + 2] ?? 0;
  const fourth = bytes[at + 3] ?? 0;
  const fifth = bytes[at + 4] ?? 0;
  if ((third & 15) === 15 || third >> 4 === 0 || fourth >> 4 > 10 || (fourth & 1) === 1) return null;
  let next = at + 4 + codedLength(fifth);
  const block = third >> 4;
  let samples = blockSizes[block] as number;
  if (block === 6) samples = (bytes[next++] ?? 0) + 1;
  else if (block === 7) {
    samples = ((bytes[next] ?? 0) << 8) + (bytes[next + 1] ?? 0) + 1;
    next += 2;
  }
  const code = third & 15;
  let rate: number = rates[code] ?? 0;
  if (code === 12) rate = (bytes[next++] ?? 0) * 1000;
  else if (code > 12) {
    rate = ((bytes[next] ?? 0) << 8) + (bytes[next + 1] ?? 0);
    if (code === 14) rate *= 10;
    next += 2;
  }
  return next < bytes.length && bytes[next] === crc8(bytes, at, next) ? { samples, rate } : null;
}

/** Bytes of the number of a frame, which is written like a character of UTF-8. */
function codedLength(first: number): number {
  if (first < 0xc0) return 1;
  return first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf8 ? 4 : first < 0xfc ? 5 : first < 0xfe ? 6 : 7;
}

function crc8(bytes: Uint8Array, from: number, to: number): number {
  let crc = 0;
  for (let at = from; at < to; at++) {
    crc ^= bytes[at] as number;
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x80 ? ((crc << 1) ^ 0x07) & 0xff : crc << 1;
  }
  return crc;
}
