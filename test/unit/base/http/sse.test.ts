import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventTooLarge } from '../../../../src/base/framing/framing.ts';
import { EventFramer, encodeEvent, readEvent } from '../../../../src/base/http/sse.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The events that a framer cuts out of these pieces, as text. */
function frames(pieces: readonly Uint8Array[], maxEventBytes = 1_000_000): string[] {
  const framer = new EventFramer(maxEventBytes);
  const found: string[] = [];
  const take = () => found.push(decoder.decode(framer.buffer.subarray(framer.start, framer.end)));
  for (const piece of pieces) {
    // A network may reuse its memory, so what was pushed is not relied on once it has been read past.
    framer.push(piece);
    while (framer.next()) take();
  }
  if (framer.last()) take();
  return found;
}

function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const at = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...at].map((from, i) => bytes.slice(from, at[i] ?? bytes.length)).filter((piece) => piece.length > 0);
}

const line = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => `data: ${text.replace(/[\r\n]/g, ' ')}`),
  fc.constantFrom(': comment', 'event: named', 'id: 1', 'data:', 'data', 'retry: 3'),
);
const event = fc.array(line, { minLength: 1, maxLength: 4 });
const stream = fc.record({
  events: fc.array(event, { minLength: 1, maxLength: 6 }),
  newline: fc.constantFrom('\n', '\r\n', '\r'),
  places: fc.array(fc.nat({ max: 2000 }), { maxLength: 12 }),
});

describe('an event framer', () => {
  it('finds the same events wherever the bytes are cut and however lines end', () => {
    fc.assert(
      fc.property(stream, ({ events, newline, places }) => {
        const wire = events.map((lines) => lines.join(newline) + newline + newline);
        const bytes = encoder.encode(wire.join(''));
        expect(frames(cut(bytes, places))).toEqual(wire);
        expect(frames([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(wire);
      }),
      { numRuns: 300 },
    );
  });
  it('gives the last event where its blank line is missing', () => {
    expect(frames([encoder.encode('data: a\n\ndata: b')])).toEqual(['data: a\n\n', 'data: b']);
    expect(frames([encoder.encode('data: a\n\n')])).toEqual(['data: a\n\n']);
    expect(frames([])).toEqual([]);
  });
  it('holds no more than an event may have', () => {
    const framer = new EventFramer(10);
    framer.push(encoder.encode('data: 1\n\n'));
    expect(framer.next()).toBe(true);
    for (let pushed = 0; pushed < 10; pushed++) {
      framer.push(encoder.encode('x'));
      expect(framer.next()).toBe(false);
      expect(framer.heldBytes).toBe(pushed + 1);
    }
    framer.push(encoder.encode('x'));
    expect(() => framer.next()).toThrow(EventTooLarge);
  });
  it('takes an event as large as the limit, and none that is larger, wherever it is cut', () => {
    const bytes = encoder.encode(`data: ${'x'.repeat(92)}\n\n`);
    for (let size = 1; size <= bytes.length; size++) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
        bytes.slice(i * size, (i + 1) * size),
      );
      expect(frames(pieces, 100)).toHaveLength(1);
      expect(() => frames(pieces, 99)).toThrow(EventTooLarge);
    }
  });
});

describe('a framed event', () => {
  it.each<[string, string | null, string?]>([
    ['data: a', 'a'],
    ['data:a', 'a'],
    ['data:  a ', ' a '],
    ['data: a\ndata: b', 'a\nb'],
    ['data: a\r\ndata: b\r\n', 'a\nb'],
    ['data: a\rdata: b\r', 'a\nb'],
    ['event: error\ndata: a', 'a', 'error'],
    ['id: 1\nretry: 2\ndata: a', 'a'],
    [': comment', null],
    ['', null],
    ['event: named', null],
    ['data:', null],
    ['data:  ', null],
    ['{"error":1}', '{"error":1}'],
    ['\ufeffdata: a', 'a'],
  ])('%j means %j', (text, data, name = '') => {
    expect(readEvent(encoder.encode(text))).toEqual(data === null ? null : { data, name });
  });
  it('is what was encoded', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = JSON.stringify(value);
        const [frame] = frames([encoder.encode(encodeEvent(json))]);
        expect(readEvent(encoder.encode(frame))?.data).toBe(json);
      }),
    );
  });
});
