import { lazily } from '../lazily.ts';

/** The table of the reflected polynomial 0xEDB88320, as in gzip and PNG. */
const table = lazily(() => {
  const values = new Uint32Array(256);
  for (let byte = 0; byte < 256; byte++) {
    let value = byte;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
    values[byte] = value;
  }
  return values;
});

/** CRC-32 of a part of `bytes`: an unsigned integer of 32 bits. */
export function crc32(bytes: Uint8Array, from = 0, to = bytes.length): number {
  const values = table();
  let crc = 0xffffffff;
  for (let at = from; at < to; at++) crc = (crc >>> 8) ^ (values[(crc ^ (bytes[at] as number)) & 0xff] as number);
  return (crc ^ 0xffffffff) >>> 0;
}
