import { isTextAt } from './bytes.ts';
import { longestPacketMs, packetMs } from './opus.ts';

const ids = {
  segment: 0x18538067,
  cluster: 0x1f43b675,
  tracks: 0x1654ae6b,
  track: 0xae,
  number: 0xd7,
  type: 0x83,
  codec: 0x86,
  group: 0xa0,
  block: 0xa1,
  simpleBlock: 0xa3,
} as const;
const holders: ReadonlySet<number> = new Set([ids.segment, ids.cluster, ids.tracks, ids.track, ids.group]);
const sound = 2;
const isLaced = 0x06;

/** The most elements that are read. A further block has at least six bytes. */
const mostElements = 500_000;
const leastBlockBytes = 6;
/** The most tracks. Each block is looked for among them. */
const mostTracks = 100;

/** A track, as its entry names it. */
interface Track {
  number: number;
  isSound: boolean;
  isOpus: boolean;
  ms: number;
}

/**
 * Adds up the packets of the tracks of Opus in WebM and Matroska. Durations and times in its heads are not read: recorders
 * of browsers leave them out.
 * @returns null: a track of sound is in another form, or there is none
 * @see https://www.rfc-editor.org/rfc/rfc9559
 */
export function webmSeconds(bytes: Uint8Array): number | null {
  const tracks: Track[] = [];
  let elements = 0;
  for (let at = 0; at < bytes.length; ) {
    if (++elements > mostElements || tracks.length > mostTracks)
      return ((bytes.length / leastBlockBytes) * longestPacketMs) / 1000;
    const id = numberAt(bytes, at, true);
    const size = id === null ? null : numberAt(bytes, id.next, false);
    if (id === null || size === null) break;
    const latest = tracks.at(-1);
    const { next: start } = size;
    if (id.value === ids.track) tracks.push({ number: -1, isSound: false, isOpus: false, ms: 0 });
    else if (id.value === ids.number && latest !== undefined) latest.number = bytes[start + size.value - 1] ?? -1;
    else if (id.value === ids.type && latest !== undefined) latest.isSound = bytes[start + size.value - 1] === sound;
    else if (id.value === ids.codec && latest !== undefined) latest.isOpus = isTextAt(bytes, start, 'A_OPUS');
    else if (id.value === ids.block || id.value === ids.simpleBlock) takeBlock(tracks, bytes, start);
    // The size of what holds others may be unknown: it is walked through.
    at = holders.has(id.value) ? start : start + size.value;
  }
  const heard = tracks.filter(({ isSound }) => isSound);
  if (heard.length === 0 || heard.some(({ isOpus }) => !isOpus)) return null;
  return Math.max(...heard.map(({ ms }) => ms)) / 1000;
}

function takeBlock(tracks: readonly Track[], bytes: Uint8Array, at: number): void {
  const number = numberAt(bytes, at, false);
  const track = tracks.find((one) => one.number === number?.value);
  if (number === null || track === undefined) return;
  // Behind the number stand a time of two bytes, and flags.
  const flags = bytes[number.next + 2] ?? 0;
  const first = bytes[number.next + 3] ?? 0;
  const second = bytes[number.next + 4] ?? 0;
  track.ms += flags & isLaced ? (first + 1) * longestPacketMs : packetMs(first, second);
}

/** Reads a number of EBML. @param isId  true: its mark stays in it. @returns null: there is none */
function numberAt(bytes: Uint8Array, at: number, isId: boolean): { value: number; next: number } | null {
  const first = bytes[at];
  if (first === undefined || first === 0) return null;
  const length = Math.clz32(first) - 23;
  if (at + length > bytes.length || (isId && length > 4)) return null;
  let value = isId ? first : first & (0xff >> length);
  for (let one = 1; one < length; one++) value = value * 256 + (bytes[at + one] as number);
  return { value, next: at + length };
}
