import process from 'node:process';
import { describe, expect, it } from 'vitest';
import type { ChunkDelta } from '../../../../src/schema/chat/chunk.ts';
import { checkResponsesStream } from '../../../support/check-responses.ts';
import { callDeltas, end, head, newEncoder, resultOf, streamOf } from '../../../support/responses-encoding.ts';

const forms = {
  patch: { kind: 'custom', name: 'patch' },
  shell: { kind: 'local_shell', name: 'local_shell' },
} as const;
const many = (count: number, make: (at: number) => ChunkDelta) => Array.from({ length: count }, (_, at) => make(at));
const length = 20_000;
/** Of CPU, which other processes do not change. What is linear takes some 100 ms, what is quadratic many seconds. */
const mostMs = 3000;

/** Streams of the given length, each of another kind. */
const kinds: Record<string, (count: number) => ChunkDelta[]> = {
  'tiny texts': (count) => many(count, () => ({ content: 'a' })),
  'tiny thoughts': (count) => many(count, () => ({ reasoning: 'a' })),
  'thoughts and texts in turns': (count) => many(count, (at) => (at % 2 ? { reasoning: 'a' } : { content: 'a' })),
  'parts of reasoning': (count) =>
    many(count, (index) => ({ reasoning_details: [{ type: 'reasoning.summary', summary: 'a', index }] })),
  'tiny arguments': (count) => callDeltas(0, 'f', Array<string>(count).fill('a')),
  'tiny inputs': (count) => callDeltas(0, 'patch', ['{"input":"', ...Array<string>(count).fill('\\')]),
  'blanks before an input': (count) => callDeltas(0, 'patch', Array<string>(count).fill(' ')),
  'arguments that are no command': (count) => callDeltas(0, 'shell', Array<string>(count).fill('[')),
  calls: (count) => many(count, (index) => callDeltas(index, 'f', [])[0] as ChunkDelta),
  'calls without names': (count) => many(count, (index) => ({ tool_calls: [{ index: index * 7 }] })),
  'calls with one id': (count) =>
    many(count, (index) => ({ tool_calls: [{ index, id: 'c', function: { name: 'f', arguments: '{}' } }] })),
  'calls of shells and texts in turns': (count) =>
    many(count, (at) => (at % 2 ? { content: 'a' } : (callDeltas(at, 'shell', [])[0] as ChunkDelta))),
  annotations: (count) =>
    many(count, (at) => ({ content: 'a', annotations: [{ type: 'url_citation', url: `https://a.example/${at}` }] })),
  'annotations without a text': (count) => many(count, () => ({ annotations: [{ type: 'url_citation', url: 'x' }] })),
  images: (count) => many(count, () => ({ images: [{ image_url: { url: 'data:image/png;base64,AA' } }] })),
};

describe('a hostile stream', () => {
  it.each(Object.keys(kinds))('takes time in proportion to its length: %s', (kind) => {
    const deltas = (kinds[kind] as (count: number) => ChunkDelta[])(length);
    const before = process.cpuUsage();
    streamOf(deltas, 'stop', newEncoder({}, forms));
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(mostMs);
  });
  it('of ten thousand calls is complete', () => {
    const { final } = checkResponsesStream(streamOf((kinds.calls as (count: number) => ChunkDelta[])(10_000)), {
      schemas: false,
    });
    expect(final.output).toHaveLength(10_000);
  });
  it('may name its ids and fields like those of every object', () => {
    const called = JSON.parse('{"command":["ls"],"env":{"__proto__":"x","constructor":"y"}}');
    const output = checkResponsesStream(
      streamOf(callDeltas(0, 'shell', [JSON.stringify(called)]), 'stop', newEncoder({}, forms)),
    ).final.output;
    expect(output).toHaveLength(1);
    const odd = callDeltas(0, 'toString', ['{}']).concat(callDeltas(1, '__proto__', ['{}']));
    expect(checkResponsesStream(streamOf(odd)).final.output).toMatchObject([
      { name: 'toString' },
      { name: '__proto__' },
    ]);
  });
  it('cannot speak in the gateway’s name', () => {
    const result = {
      ...resultOf({ content: 'Hi', service_metadata: 1 }),
      service_metadata: { forged: true },
      error: 'x',
    };
    expect(JSON.stringify(newEncoder().result(head, result as never, end))).not.toMatch(/forged|service_metadata/);
  });
});
