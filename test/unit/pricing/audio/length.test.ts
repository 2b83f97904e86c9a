import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { uploadedFile } from '../../../../src/base/http/uploaded-file.ts';
import { leastBytesPerSecond, mostSeconds } from '../../../../src/pricing/audio/length.ts';
import { aac, aacFragments, adts, flac, mp3, ogg, wav, webm } from '../../../support/audio.ts';

const secondsOf = (bytes: Uint8Array) => mostSeconds(uploadedFile('a', null, [bytes]));

/** A file of each form, and the seconds that it plays. */
const files: [string, Uint8Array, number][] = [
  ['WAV, 16 bit, 16 kHz', wav(3, { rate: 16_000 }), 3],
  ['WAV of a stream, whose head names no size', wav(3, { rate: 16_000, said: 0 }), 3],
  ['MP3 at 128 kbit/s', mp3(1000, { index: 9 }), (1000 * 1152) / 44_100],
  ['MP3 at a variable bitrate', mp3(1000, { index: (at) => 1 + (at % 14) }), (1000 * 1152) / 44_100],
  ['MP3 behind a tag with a picture', mp3(100, { index: 9, tag: 5_000 }), (100 * 1152) / 44_100],
  ['AAC in ADTS', adts(200), (200 * 1024) / 16_000],
  ['FLAC', flac(50), (50 * 4096) / 16_000],
  ['Opus in Ogg', ogg(500), 500 * 0.02],
  ['Opus in WebM, as browsers record it', webm(500), 500 * 0.02],
  ['AAC in MP4', aac(300), (300 * 1024) / 44_100],
  ['AAC in fragments of MP4', aacFragments(30, 10), (300 * 1024) / 44_100],
];

/** The bytes of a large file. */
const size = 25 * 1024 * 1024;

/** Files of many small parts, of which a reader may look at each, and each time at all others. */
const crowded: Record<string, Uint8Array> = {
  'tracks and blocks of WebM': Buffer.concat([
    Buffer.from([0x1a, 0x45, 0xdf, 0xa3, 0x80]),
    Buffer.alloc(200_000 * 2, Buffer.from([0xae, 0x80])),
    Buffer.alloc(200_000 * 6, Buffer.from([0xa3, 0x84, 0x81, 0, 0, 0])),
  ]),
  'tracks of sound in WebM': Buffer.concat([
    Buffer.from([0x1a, 0x45, 0xdf, 0xa3, 0x80]),
    Buffer.alloc(160_000 * 13, Buffer.from('\xae\x80\x83\x81\x02\x86\x86A_OPUS', 'latin1')),
  ]),
  'configurations without an end in MP4': Buffer.concat([
    box('ftyp'),
    box('hdlr', 8, 'soun'),
    Buffer.alloc(size / 2, box('stsd', 12, 'mp4a')),
    Buffer.alloc(size / 2),
  ]),
  'configurations of AAC in MP4': Buffer.concat([
    box('ftyp'),
    box('hdlr', 8, 'soun'),
    Buffer.alloc(size, box('stsd', 12, `mp4a${'e'.repeat(4000)}esds\0\0\0\0\x05\x02\x12\x10\0`)),
  ]),
  'tags before MP3': Buffer.alloc(size, Buffer.from('ID3\0\0\0\0\0\0\0')),
  'pages of Ogg without packets': Buffer.alloc(size, Buffer.concat([Buffer.from('OggS'), Buffer.alloc(23)])),
  'streams of Ogg': streams(),
};

describe('the length of audio', () => {
  it.each(files)('is counted by its frames: %s', (_, bytes, seconds) => {
    expect(secondsOf(bytes)).toBeCloseTo(seconds, 1);
  });

  it('is not believed where a head says less', () => {
    expect(secondsOf(flac(50, { said: 1 }))).toBeCloseTo((50 * 4096) / 16_000, 1);
    expect(secondsOf(ogg(500, { granule: 48 }))).toBeCloseTo(10, 1);
    expect(secondsOf(webm(500, { duration: 1 }))).toBeCloseTo(10, 1);
    expect(secondsOf(aac(300, { duration: 1 }))).toBeCloseTo((300 * 1024) / 44_100, 1);
    expect(secondsOf(wav(10, { rate: 16_000, said: 4 }))).toBeCloseTo(10, 1);
    expect(secondsOf(mp3(1000, { index: 9, xing: 1 }))).toBeCloseTo((1000 * 1152) / 44_100, 1);
  });

  it('is that of the size at the lowest bitrate where no frames can be counted', () => {
    const vorbis = ogg(500, { head: '\x01vorbis ' });
    for (const bytes of [vorbis, new Uint8Array(10_000), aac(300, { codec: 'alac' }), webm(10, { codec: 'A_VORBIS' })])
      expect(secondsOf(bytes)).toBe(bytes.length / leastBytesPerSecond);
  });

  it('of any bytes is a number, and found within little time', () => {
    const starts = files.map(([, bytes]) => bytes.subarray(0, 200));
    const any = fc.tuple(fc.constantFrom(...starts, new Uint8Array()), fc.uint8Array({ maxLength: 400 }), fc.nat(199));
    fc.assert(
      fc.property(any, ([start, more, cut]) => {
        const seconds = secondsOf(Buffer.concat([start.subarray(0, cut), more]));
        expect(seconds).toBeGreaterThanOrEqual(0);
        expect(Number.isFinite(seconds)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each(files)(
    'is found in some milliseconds for the worst that 25 MB can hold behind the beginning of %s',
    (_, bytes) => {
      for (const pattern of [
        [0xff],
        [0xff, 0xf8],
        [0x4f],
        [0],
        [0, 0, 0, 8, 0x6d, 0x6f, 0x6f, 0x76],
        [0xa3, 0x80],
        [0xff, 0xf9, 0x69, 0x08, 0],
      ]) {
        const worst = new Uint8Array(25 * 1024 * 1024);
        for (let at = 0; at < worst.length; at++) worst[at] = pattern[at % pattern.length] as number;
        worst.set(bytes.subarray(0, 120));
        expect(msOf(worst)).toBeLessThan(200);
      }
    },
  );

  it.each(Object.entries(crowded))('is found in some milliseconds where the file is full of %s', (_, bytes) => {
    expect(msOf(bytes)).toBeLessThan(200);
  });
});

function box(name: string, zeros = 0, text = ''): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(8 + zeros + text.length);
  return Buffer.concat([length, Buffer.from(name), Buffer.alloc(zeros), Buffer.from(text, 'latin1')]);
}

function streams(): Buffer {
  const bytes = Buffer.alloc(size, Buffer.concat([Buffer.from('OggS'), Buffer.alloc(23)]));
  for (let at = 0; at + 27 < size; at += 27) bytes.writeUInt32LE(at, at + 14);
  return bytes;
}

/** The time of the processor that the length of a file takes: the best of three, since a busy machine is slower. */
function msOf(bytes: Uint8Array): number {
  const times = Array.from({ length: 3 }, () => {
    const before = process.threadCpuUsage();
    secondsOf(bytes);
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...times);
}
