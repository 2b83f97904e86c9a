import { describe, expect, it } from 'vitest';
import { wavSeconds } from '../../../src/pricing/wav.ts';
import { type WavHeader, wav } from '../../support/wav.ts';

describe('the length of WAV audio', () => {
  it.each<[string, Partial<WavHeader>, number]>([
    ['of mono', { seconds: 5 }, 5],
    ['of stereo', { seconds: 2, channels: 2, rate: 48_000, bits: 24 }, 2],
    ['of a telephone', { seconds: 3, rate: 8_000, bits: 8 }, 3],
    ['of a part of a second', { seconds: 0.25 }, 0.25],
    ['of nothing', { seconds: 0 }, 0],
  ])('is read %s', (_, header, seconds) => {
    expect(wavSeconds(wav(header))).toBe(seconds);
  });
  it.each<[string, Partial<WavHeader>]>([
    ['gives a rate at which few bytes last for hours', { seconds: 1_000, rate: 1, bits: 8 }],
    ['gives another number of bytes per second', { bytesPerSecond: 1_000_000 }],
    ['gives less data than there is', { seconds: 100, dataBytes: 10 }],
    ['gives more data than there is', { dataBytes: 1_000_000 }],
    ['gives another size of the file', { riffBytes: 100 }],
    ['gives a compressed format', { format: 0x55 }],
    ['gives a size of samples that nobody uses', { bits: 64 }],
    ['gives many channels', { channels: 100 }],
  ])('is not believed where the header %s', (_, header) => {
    expect(wavSeconds(wav(header))).toBe(null);
  });
  it.each([
    '',
    'A',
    'UklG',
    '!'.repeat(100),
    'A'.repeat(100),
    `${wav()}AAAA`,
    wav().slice(0, -4),
    ` ${wav().slice(1)}`,
  ])('is not known of what is no such file', (base64) => {
    expect(wavSeconds(base64)).toBe(null);
  });
  it('is not known where white space hides how much data there is', () => {
    const base64 = wav({ seconds: 1 });
    expect(wavSeconds(`${base64.slice(0, 200)}\n\n\n\n${base64.slice(200)}`)).toBe(null);
  });
});
