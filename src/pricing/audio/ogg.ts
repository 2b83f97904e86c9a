import { isTextAt, viewOf } from './bytes.ts';
import { longestPacketMs, packetMs } from './opus.ts';

/** The most places that look like pages and are none. */
const mostMisses = 100_000;
/** The most packets that are counted, and the most pages. Each further packet has at least a byte. */
const mostPackets = 1_000_000;
const mostPages = 500_000;
/** The most streams. A file has one; more are music and its video. */
const mostStreams = 100;
/** `OggS`, the beginning of a page. */
const pageMark = 0x4f676753;

/** A stream within a file, as far as it was read. */
interface OggStream {
  isOpus: boolean;
  /** Packets so far; the first two are heads. */
  packets: number;
  ms: number;
  /** The first two bytes of a packet that goes on in the next page. */
  begun: number[];
}

/**
 * Adds up the packets of the streams of Opus in Ogg. The place that a page names is not read.
 * @returns null: a stream is in another form, such as Vorbis
 * @see https://www.rfc-editor.org/rfc/rfc7845
 */
export function oggSeconds(bytes: Uint8Array): number | null {
  const view = viewOf(bytes);
  const streams = new Map<number, OggStream>();
  let misses = 0;
  let packets = 0;
  let pages = 0;
  for (let at = 0; at + 27 <= bytes.length; ) {
    if (view.getUint32(at) !== pageMark) {
      at = bytes.indexOf(0x4f, at + 1);
      if (at < 0) break;
      if (++misses > mostMisses) return null;
      continue;
    }
    const segments = bytes[at + 26] as number;
    let from = at + 27 + segments;
    const serial = view.getUint32(at + 14, true);
    let stream = streams.get(serial);
    if (stream === undefined) {
      stream = { isOpus: isTextAt(bytes, from, 'OpusHead'), packets: 0, ms: 0, begun: [] };
      streams.set(serial, stream);
    }
    for (let segment = 0; segment < segments; segment++) {
      const size = bytes[at + 27 + segment] as number;
      for (let one = 0; stream.begun.length < 2 && one < size; one++) stream.begun.push(bytes[from + one] ?? 0);
      from += size;
      if (size < 255) takePacket(stream);
    }
    packets += segments;
    if (packets > mostPackets || ++pages > mostPages || streams.size > mostStreams)
      return (bytes.length * longestPacketMs) / 1000;
    at = from;
  }
  const found = [...streams.values()];
  if (found.length === 0 || found.some(({ isOpus }) => !isOpus)) return null;
  return found.reduce((sum, { ms }) => sum + ms, 0) / 1000;
}

function takePacket(stream: OggStream): void {
  const [first, second = 0] = stream.begun;
  if (stream.packets >= 2 && first !== undefined) stream.ms += packetMs(first, second);
  stream.packets++;
  stream.begun = [];
}
