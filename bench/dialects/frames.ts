import { crc32 } from 'node:zlib';

/** Frames of streams, as providers write them. */

/** A server-sent event. */
export function sse(data: object | string, name?: string, lineEnd = '\n'): Buffer {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  const first = name === undefined ? '' : `event: ${name}${lineEnd}`;
  return Buffer.from(`${first}data: ${text}${lineEnd}${lineEnd}`);
}

/** A frame of an AWS event stream: lengths, their checksum, headers, payload, checksum of everything. */
export function awsFrame(name: string, payload: object): Buffer {
  const headers = Buffer.concat([
    header(':event-type', name),
    header(':content-type', 'application/json'),
    header(':message-type', 'event'),
  ]);
  const body = Buffer.from(JSON.stringify(payload));
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(16 + headers.length + body.length, 0);
  prelude.writeUInt32BE(headers.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const frame = Buffer.concat([prelude, headers, body]);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(frame));
  return Buffer.concat([frame, checksum]);
}

/** A header whose value is text, which is type 7. */
function header(name: string, value: string): Buffer {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(Buffer.byteLength(value));
  return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([7]), length, Buffer.from(value)]);
}
