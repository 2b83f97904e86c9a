/** Files of sound, made by hand: the frames hold no sound, but have the form of one. */

const ascii = (text: string) => Buffer.from(text, 'latin1');
const u32 = (value: number) => Buffer.from([value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255]);
const le32 = (value: number) => u32(value).reverse();
const le16 = (value: number) => Buffer.from([value & 255, value >> 8]);

/** @param said  the bytes of sound that the head names */
export function wav(seconds: number, { rate = 16_000, said }: { rate?: number; said?: number } = {}): Buffer {
  const bytes = Math.round(seconds * rate) * 2;
  const size = said ?? bytes;
  const fmt = [le16(1), le16(1), le32(rate), le32(rate * 2), le16(2), le16(16)];
  return Buffer.concat([
    ascii('RIFF'),
    le32(size + 36),
    ascii('WAVEfmt '),
    le32(16),
    ...fmt,
    ascii('data'),
    le32(size),
    Buffer.alloc(bytes),
  ]);
}

const kbit = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];

/** @param xing  the number of frames that a Xing header names */
export function mp3(
  frames: number,
  { index, tag = 0, xing }: { index: number | ((at: number) => number); tag?: number; xing?: number },
): Buffer {
  const parts: Buffer[] = [];
  if (tag > 0) {
    const size = [(tag >> 21) & 127, (tag >> 14) & 127, (tag >> 7) & 127, tag & 127];
    // A picture whose bytes look like frames.
    parts.push(ascii('ID3\x03\0\0'), Buffer.from(size), Buffer.alloc(tag, Buffer.from([0xff, 0xfb, 0x90, 0])));
  }
  for (let at = 0; at < frames; at++) {
    const of = typeof index === 'number' ? index : index(at);
    const frame = Buffer.alloc(Math.floor((144 * (kbit[of] as number) * 1000) / 44_100), 0);
    frame.set([0xff, 0xfb, of << 4, 0]);
    if (at === 0 && xing !== undefined) frame.set([...ascii('Xing'), 0, 0, 0, 1, ...u32(xing)], 36);
    parts.push(frame);
  }
  return Buffer.concat(parts);
}

/** At 16 kHz. */
export function adts(frames: number): Buffer {
  const size = 100;
  const frame = Buffer.alloc(size);
  frame.set([0xff, 0xf1, (1 << 6) | (8 << 2), 0x40 | (size >> 11), (size >> 3) & 255, ((size & 7) << 5) | 31, 0xfc]);
  return Buffer.concat(Array.from({ length: frames }, () => frame));
}

function crc8(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 128 ? ((crc << 1) ^ 7) & 255 : crc << 1;
  }
  return crc;
}

/** Blocks of 4,096 samples at 16 kHz. @param said  the samples that the head names */
export function flac(frames: number, { said = frames * 4096 }: { said?: number } = {}): Buffer {
  const info = Buffer.alloc(34);
  info.set([16, 0, 16, 0], 0);
  const rate = 16_000;
  info.set([rate >> 12, (rate >> 4) & 255, ((rate & 15) << 4) | 0, 0xf0], 10);
  info.writeUInt32BE(said, 14);
  const parts: Buffer[] = [ascii('fLaC'), Buffer.from([0x80, 0, 0, 34]), info];
  for (let at = 0; at < frames; at++) {
    const head = Buffer.from([0xff, 0xf8, (12 << 4) | 5, 8, at & 127]);
    parts.push(head, Buffer.from([crc8(head)]), Buffer.alloc(100, 3));
  }
  return Buffer.concat(parts);
}

function page(packets: readonly Buffer[], granule: number, number: number): Buffer {
  const head = Buffer.alloc(27);
  head.write('OggS', 'latin1');
  head.writeUInt32LE(granule, 6);
  head.writeUInt32LE(7, 14);
  head.writeUInt32LE(number, 18);
  head[26] = packets.length;
  return Buffer.concat([head, Buffer.from(packets.map(({ length }) => length)), ...packets]);
}

/** A packet of Opus with one frame of 20 ms. */
const packet = Buffer.alloc(40, 1).fill(1 << 3, 0, 1);

/** @param granule  the place that the last page names */
export function ogg(
  packets: number,
  { granule = packets * 960, head = 'OpusHead' }: { granule?: number; head?: string } = {},
): Buffer {
  const pages = [page([ascii(`${head}\x01\x01`)], 0, 0), page([ascii('OpusTags')], 0, 1)];
  for (let at = 0; at < packets; at += 50) {
    const list = Array.from({ length: Math.min(50, packets - at) }, () => packet);
    pages.push(page(list, granule, pages.length));
  }
  return Buffer.concat(pages);
}

function element(id: readonly number[], content: Buffer, isOpen = false): Buffer {
  const size = isOpen ? Buffer.from([0x01, 255, 255, 255, 255, 255, 255, 255]) : Buffer.from([0x10, 0, 0, 0]);
  if (!isOpen) size.writeUInt32BE(0x10000000 + content.length);
  return Buffer.concat([Buffer.from(id), size, content]);
}

/** As a browser records: clusters without a size. */
export function webm(
  packets: number,
  { codec = 'A_OPUS', duration }: { codec?: string; duration?: number } = {},
): Buffer {
  const entry = Buffer.concat([
    element([0xd7], Buffer.from([1])),
    element([0x83], Buffer.from([2])),
    element([0x86], ascii(codec)),
  ]);
  const info =
    duration === undefined ? Buffer.alloc(0) : element([0x15, 0x49, 0xa9, 0x66], element([0x44, 0x89], u32(duration)));
  const block = element([0xa3], Buffer.concat([Buffer.from([0x81, 0, 0, 0x80]), packet]));
  const cluster = Buffer.concat([element([0xe7], Buffer.from([0])), ...Array.from({ length: packets }, () => block)]);
  const tracks = element([0x16, 0x54, 0xae, 0x6b], element([0xae], entry));
  const segment = Buffer.concat([info, tracks, element([0x1f, 0x43, 0xb6, 0x75], cluster, true)]);
  return Buffer.concat([
    element([0x1a, 0x45, 0xdf, 0xa3], element([0x42, 0x82], ascii('webm'))),
    element([0x18, 0x53, 0x80, 0x67], segment, true),
  ]);
}

function box(name: string, ...content: readonly Buffer[]): Buffer {
  const inside = Buffer.concat(content);
  return Buffer.concat([u32(inside.length + 8), ascii(name), inside]);
}

function track(frames: number, duration: number, codec: string): Buffer {
  const configuration = Buffer.from([
    3, 25, 0, 0, 0, 4, 17, 0x40, 0x15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 2, 0x12, 0x10,
  ]);
  const esds = box('esds', u32(0), configuration);
  const entry = box(codec, Buffer.alloc(28), esds);
  const stbl = box('stbl', box('stsd', u32(0), u32(1), entry), box('stsz', u32(0), u32(100), u32(frames)));
  const mdhd = box('mdhd', u32(0), u32(0), u32(0), u32(44_100), u32(duration), u32(0));
  const hdlr = box('hdlr', u32(0), u32(0), ascii('soun'), Buffer.alloc(12));
  return box('trak', box('mdia', mdhd, hdlr, box('minf', stbl)));
}

const ftyp = box('ftyp', ascii('M4A '), u32(0));

/** At 44.1 kHz. */
export function aac(
  frames: number,
  { duration = frames * 1024, codec = 'mp4a' }: { duration?: number; codec?: string } = {},
): Buffer {
  return Buffer.concat([ftyp, box('moov', track(frames, duration, codec)), box('mdat', Buffer.alloc(frames * 100))]);
}

export function aacFragments(fragments: number, frames: number): Buffer {
  const one = box('moof', box('traf', box('trun', u32(0), u32(frames))));
  const parts = Array.from({ length: fragments }, () => [one, box('mdat', Buffer.alloc(frames * 100))]).flat();
  return Buffer.concat([ftyp, box('moov', track(0, 0, 'mp4a')), ...parts]);
}
