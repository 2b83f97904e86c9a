/** An own reader and writer of the frames of AWS, and an own reader of what Converse says: tests judge ours by them. */

type Json = Record<string, unknown>;

/** One frame of an event stream. */
export interface AwsFrame {
  headers: Record<string, string>;
  payload: string;
}

const polynomial = 0xedb88320;

/** Bit by bit: slow and plain. */
function checksum(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ polynomial : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}

/** Length, length of the headers, their checksum, headers, payload, checksum of it all. */
export function writeFrame({ headers, payload }: AwsFrame): Uint8Array {
  const head = Buffer.concat(
    Object.entries(headers).map(([name, value]) => {
      const [nameBytes, valueBytes] = [Buffer.from(name), Buffer.from(value)];
      const length = Buffer.alloc(2);
      length.writeUInt16BE(valueBytes.length);
      return Buffer.concat([Buffer.from([nameBytes.length]), nameBytes, Buffer.from([7]), length, valueBytes]);
    }),
  );
  const body = Buffer.from(payload);
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(16 + head.length + body.length, 0);
  prelude.writeUInt32BE(head.length, 4);
  prelude.writeUInt32BE(checksum(prelude.subarray(0, 8)), 8);
  const start = Buffer.concat([prelude, head, body]);
  const end = Buffer.alloc(4);
  end.writeUInt32BE(checksum(start));
  return new Uint8Array(Buffer.concat([start, end]));
}

/** A frame of an event, or of an exception. */
export function eventFrame(name: string, payload: unknown, kind: 'event' | 'exception' = 'event'): Uint8Array {
  return writeFrame({
    headers: {
      [`:${kind}-type`]: name,
      ':content-type': 'application/json',
      ':message-type': kind,
    },
    payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
  });
}

/** The frames of a stream, and where each ends. */
export function readFrames(bytes: Uint8Array): (AwsFrame & { end: number })[] {
  const buffer = Buffer.from(bytes);
  const frames: (AwsFrame & { end: number })[] = [];
  for (let at = 0; at < buffer.length; ) {
    const size = buffer.readUInt32BE(at);
    const payloadAt = at + 12 + buffer.readUInt32BE(at + 4);
    if (checksum(buffer.subarray(at, at + size - 4)) !== buffer.readUInt32BE(at + size - 4))
      throw new Error('The recording has a wrong checksum');
    const headers: Record<string, string> = {};
    for (let place = at + 12; place < payloadAt; ) {
      const nameEnd = place + 1 + buffer.readUInt8(place);
      const valueEnd = nameEnd + 3 + buffer.readUInt16BE(nameEnd + 1);
      headers[buffer.toString('utf8', place + 1, nameEnd)] = buffer.toString('utf8', nameEnd + 3, valueEnd);
      place = valueEnd;
    }
    frames.push({ headers, payload: buffer.toString('utf8', payloadAt, at + size - 4), end: at + size });
    at += size;
  }
  return frames;
}

/** What Converse says, in whichever way it came. */
export interface ConverseSaid {
  /** Its blocks, as a client would send them back. */
  blocks: Json[];
  stopReason: string | null;
  usage: Json | null;
}

export function readConverse(body: Json): ConverseSaid {
  const { message } = body.output as { message: { content: Json[] } };
  return { blocks: message.content, stopReason: body.stopReason as string, usage: body.usage as Json };
}

/** Folds a stream of events, given by name and payload. */
export function foldConverse(events: readonly (readonly [name: string, payload: Json])[]): ConverseSaid {
  const said: ConverseSaid = { blocks: [], stopReason: null, usage: null };
  for (const [name, payload] of events) {
    if (name === 'messageStop') said.stopReason = payload.stopReason as string;
    if (name === 'metadata') said.usage = payload.usage as Json;
    const index = payload.contentBlockIndex as number;
    if (name === 'contentBlockStart') said.blocks[index] = { ...(payload.start as Json), input: '' };
    if (name === 'contentBlockDelta') said.blocks[index] = added(said.blocks[index] ?? {}, payload.delta as Json);
  }
  said.blocks = said.blocks.map(({ input, ...block }) => {
    const toolUse = block.toolUse as Json | undefined;
    return toolUse ? { toolUse: { ...toolUse, input: JSON.parse((input as string) || '{}') } } : block;
  });
  return said;
}

function added(block: Json, delta: Json): Json {
  if ('text' in delta) return { ...block, text: `${block.text ?? ''}${delta.text}` };
  if ('toolUse' in delta) return { ...block, input: `${block.input}${(delta.toolUse as Json).input}` };
  const thought = delta.reasoningContent as Json;
  if ('redactedContent' in thought) return { reasoningContent: thought };
  const before = ((block.reasoningContent as Json | undefined)?.reasoningText ?? { text: '' }) as Json;
  const text = `${before.text}${thought.text ?? ''}`;
  const signature = thought.signature ?? before.signature;
  return { reasoningContent: { reasoningText: { text, ...(signature === undefined ? {} : { signature }) } } };
}

/** Events of a recorded stream by name, each name as the frame has it. */
export function eventsOf(bytes: Uint8Array): (readonly [string, Json])[] {
  return readFrames(bytes).map(({ headers, payload }) => [headers[':event-type'] ?? '', JSON.parse(payload) as Json]);
}
