import { describe, expect, it } from 'vitest';
import { awsEventStream } from '../../../../src/base/framing/aws-event-stream.ts';
import { crc32 } from '../../../../src/base/framing/crc32.ts';
import { EventTooLarge, type FrameEvent, type Framing, FramingError } from '../../../../src/base/framing/framing.ts';
import { jsonArray } from '../../../../src/base/framing/json-array.ts';
import { peek } from '../../../../src/base/framing/peek.ts';
import { serverSentEvents } from '../../../../src/base/framing/sse.ts';

const encoder = new TextEncoder();

/** A frame of AWS with headers of type text. */
function awsFrame(headers: Record<string, string>, payload: string, further: readonly number[] = []): Uint8Array {
  const lines = Object.entries(headers).flatMap(([name, value]) => {
    const [nameBytes, valueBytes] = [encoder.encode(name), encoder.encode(value)];
    return [nameBytes.length, ...nameBytes, 7, valueBytes.length >> 8, valueBytes.length & 255, ...valueBytes];
  });
  const headerBytes = Uint8Array.from([...further, ...lines]);
  const body = encoder.encode(payload);
  const frame = new Uint8Array(16 + headerBytes.length + body.length);
  const view = new DataView(frame.buffer);
  view.setUint32(0, frame.length);
  view.setUint32(4, headerBytes.length);
  view.setUint32(8, crc32(frame, 0, 8));
  frame.set(headerBytes, 12);
  frame.set(body, 12 + headerBytes.length);
  view.setUint32(frame.length - 4, crc32(frame, 0, frame.length - 4));
  return frame;
}

function awsEvent(name: string, payload: string): Uint8Array {
  return awsFrame({ ':message-type': 'event', ':event-type': name, ':content-type': 'application/json' }, payload);
}

function joined(frames: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(frames.flatMap((frame) => [...frame]));
}

const texts = ['{"text":"Grüße"}', '{"a":[1,{"b":"}]\\"{"}]}', '{}'];

const wires: [Framing, Uint8Array, FrameEvent[]][] = [
  [
    serverSentEvents,
    encoder.encode(`: hello\n\n${texts.map((text) => `event: delta\ndata: ${text}\n\n`).join('')}`),
    texts.map((data) => ({ name: 'delta', data })),
  ],
  [
    awsEventStream,
    joined(texts.map((text) => awsEvent('contentBlockDelta', text))),
    texts.map((data) => ({ name: 'contentBlockDelta', data })),
  ],
  [jsonArray, encoder.encode(` [${texts.join('\r\n,\n')}\n]\n`), texts.map((data) => ({ name: '', data }))],
];

/** What a framing reads from bytes that arrive in these lots. */
function read(framing: Framing, lots: readonly Uint8Array[], maxEventBytes = 10_000): FrameEvent[] {
  const framer = framing.framer(maxEventBytes);
  const found: FrameEvent[] = [];
  const take = () => {
    const event = framer.read();
    if (event) found.push(event);
  };
  for (const lot of lots) {
    framer.push(lot.slice());
    while (framer.next()) take();
    framer.release();
  }
  if (framer.last()) take();
  return found;
}

describe.each(wires)('the framing $name', (framing, wire, events) => {
  it('finds the same events wherever the bytes are cut', () => {
    for (let at = 0; at <= wire.length; at++)
      expect(read(framing, [wire.subarray(0, at), wire.subarray(at)])).toEqual(events);
    expect(
      read(
        framing,
        [...wire].map((byte) => Uint8Array.of(byte)),
      ),
    ).toEqual(events);
  });
  it('gives only what has come in full where the stream is cut', () => {
    const cut = wire.subarray(0, wire.length - 8);
    expect(read(framing, [cut]).length).toBeLessThanOrEqual(events.length);
    expect(read(framing, [cut])[0]).toEqual(events[0]);
  });
  it('bounds the size of an event, also of one that does not end', () => {
    expect(() => read(framing, [wire], 12)).toThrow(EventTooLarge);
    expect(() => read(framing, [wire.subarray(0, 40)], 12)).toThrow(EventTooLarge);
  });
  it('is recognised by its first bytes, however they arrive, and what is none is not', async () => {
    const looked = async (bytes: Uint8Array, size: number) => {
      let at = 0;
      const source = {
        async read() {
          const lot = bytes.subarray(at, at + size);
          at += size;
          return lot.length === 0 ? null : lot;
        },
        cancel: () => undefined,
      };
      const peeked = await peek(source, framing);
      const all: number[] = [];
      for (let lot = await peeked.read(); lot !== null; lot = await peeked.read()) all.push(...lot);
      return { isStream: peeked.isStream, left: all.length };
    };
    for (const size of [1, 2, 1000]) {
      const whiteSpace = framing === jsonArray ? 1 : 0;
      expect(await looked(wire, size)).toEqual({ isStream: true, left: wire.length - whiteSpace });
      for (const other of ['{"choices":[]}', '<html></html>', '', 'no such thing'])
        expect(await looked(encoder.encode(other), size)).toEqual({ isStream: false, left: other.length });
    }
  });
});

describe('server-sent events', () => {
  it('are over with their sentinel, wherever it is cut; JSON that holds it is not', () => {
    const wire = encoder.encode('data: {}\r\n\r\ndata: [DONE]');
    for (let at = 0; at < wire.length; at++) {
      const isOver = serverSentEvents.endWatch();
      expect([isOver(wire.subarray(0, at)), isOver(wire.subarray(at))]).toEqual([false, true]);
    }
    const isOver = serverSentEvents.endWatch();
    expect(isOver(encoder.encode(' {"a":"\ndata: [DONE]\n"}'))).toBe(false);
  });
});

describe('the event stream of AWS', () => {
  it('is refused where a checksum is wrong, of the start or of the frame', () => {
    const frame = awsEvent('a', '{"text":"x"}');
    for (const at of [0, 5, 9, 20, frame.length - 6, frame.length - 1]) {
      const bad = frame.slice();
      bad[at] = (bad[at] as number) ^ 1;
      expect(() => read(awsEventStream, [bad]), `byte ${at}`).toThrow(FramingError);
    }
  });
  it('names an exception by its type, and reads an error that has headers alone', () => {
    const thrown = awsFrame(
      { ':message-type': 'exception', ':exception-type': 'throttlingException' },
      '{"message":"Slow"}',
    );
    const failed = awsFrame({ ':message-type': 'error', ':error-code': '500', ':error-message': 'No' }, '');
    expect(read(awsEventStream, [thrown, failed])).toEqual([
      { name: 'throttlingException', data: '{"message":"Slow"}' },
      { name: '500', data: '{"message":"No"}' },
    ]);
  });
  it('may hold headers of other types, and none that reach beyond their frame', () => {
    const flag = [1, 97, 0];
    const number = [1, 98, 4, 0, 0, 0, 1];
    const event = awsFrame({ ':message-type': 'event', ':event-type': 'x' }, '{}', [...flag, ...number]);
    expect(read(awsEventStream, [event])).toEqual([{ name: 'x', data: '{}' }]);
    for (const broken of [
      [200, 97],
      [1, 97, 7, 255, 255],
      [1, 97, 99],
    ])
      expect(() => read(awsEventStream, [awsFrame({}, '{}', broken)])).toThrow(FramingError);
  });
  it('has the checksum that the standard gives for its test text', () => {
    expect(crc32(encoder.encode('123456789'))).toBe(0xcbf43926);
  });
});

describe('a JSON list', () => {
  it.each(['[1]', '["a"]', '[{}] {}', '{}', '[[]]'])('%s holds what is no event', (wire) => {
    expect(() => read(jsonArray, [encoder.encode(wire)])).toThrow(FramingError);
  });
  it('may be empty', () => {
    expect(read(jsonArray, [encoder.encode(' [ ] ')])).toEqual([]);
  });
});
