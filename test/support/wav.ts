/** What the header of a WAV file says; by default the truth about 16 bits of mono at 16 kHz. */
export interface WavHeader {
  seconds: number;
  rate: number;
  bits: number;
  channels: number;
  /** Default: as the other fields say. */
  bytesPerSecond: number;
  dataBytes: number;
  riffBytes: number;
  format: number;
}

/** A WAV file of silence, in base64. The header may lie. */
export function wav(header: Partial<WavHeader> = {}): string {
  const { seconds = 1, rate = 16_000, bits = 16, channels = 1, format = 1 } = header;
  const frameBytes = (channels * bits) / 8;
  const sound = Buffer.alloc(Math.round(seconds * rate * frameBytes));
  const bytes = Buffer.alloc(44);
  bytes.write('RIFF', 0);
  bytes.writeUInt32LE(header.riffBytes ?? 36 + sound.length, 4);
  bytes.write('WAVEfmt ', 8);
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(format, 20);
  bytes.writeUInt16LE(channels, 22);
  bytes.writeUInt32LE(rate, 24);
  bytes.writeUInt32LE(header.bytesPerSecond ?? rate * frameBytes, 28);
  bytes.writeUInt16LE(frameBytes, 32);
  bytes.writeUInt16LE(bits, 34);
  bytes.write('data', 36);
  bytes.writeUInt32LE(header.dataBytes ?? sound.length, 40);
  return Buffer.concat([bytes, sound]).toString('base64');
}
