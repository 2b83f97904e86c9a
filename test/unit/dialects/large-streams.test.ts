import { expect, it } from 'vitest';
import { toolCallIds } from '../../../src/dialects/shared/values.ts';
import { cpuMs } from '../../support/cpu-time.ts';
import { dialects } from '../../support/dialects.ts';

const events = 20_000;

/**
 * Expects that a task takes time in proportion to its size. The times are compared within one run, as a busy machine
 * takes longer for both: four times the size takes four times as long, and sixteen times where the time is quadratic.
 */
function expectLinear(task: (size: number) => void): void {
  const tookMs = (size: number) => {
    const startMs = cpuMs();
    task(size);
    return cpuMs() - startMs;
  };
  const quarterMs = Math.min(tookMs(events / 4), tookMs(events / 4));
  // The milliseconds are for a collection of garbage, or a turn of another process, in the larger task alone.
  expect(Math.min(tookMs(events), tookMs(events))).toBeLessThan(8 * quarterMs + 50);
}

const cohereCall = (index: number, text: string, type = 'tool-call-start') => ({
  type,
  index,
  delta: { message: { tool_calls: { id: `c${index}`, function: { name: 'f', arguments: text } } } },
});

it.each<[string, keyof typeof dialects, (at: number, size: number) => object]>([
  [
    'white space in place of arguments',
    'cohere-chat',
    (at) => (at === 0 ? cohereCall(0, '') : cohereCall(0, ' '.repeat(10), 'tool-call-delta')),
  ],
  [
    'many ends behind many calls',
    'cohere-chat',
    (at, size) => (at < size / 2 ? cohereCall(at, '') : { type: 'message-end', delta: {} }),
  ],
  [
    'many ends behind many calls',
    'ai-sdk',
    (at, size) => (at < size / 2 ? { type: 'tool-input-start', id: at, toolName: 'f' } : { type: 'finish' }),
  ],
  [
    'many ends behind many sources',
    'ai-sdk',
    (at, size) =>
      at < size / 2
        ? { type: 'source', id: `${at}`, sourceType: 'url', url: `https://x.test/${at}` }
        : { type: 'finish' },
  ],
  [
    'notes in each event',
    'ai-sdk',
    (at) => ({ type: 'text-delta', id: 'a', delta: 'a', providerMetadata: { [`k${at}`]: { a: 1 } } }),
  ],
])('a stream takes time in proportion to its length: %s, %s', (_, name, event) => {
  const texts = (size: number) => Array.from({ length: size }, (_unused, at) => JSON.stringify(event(at, size)));
  const bySize = new Map([events / 4, events].map((size) => [size, texts(size)]));
  expectLinear((size) => {
    const decoder = dialects[name].streamDecoder({});
    for (const text of bySize.get(size) ?? []) decoder.decode(text, '');
  });
});

it('ids for calls without one are found in time in proportion to their number, whatever ids the others have', () => {
  expectLinear((size) => {
    const ids = toolCallIds();
    for (let at = 0; at < size; at++) ids.take(`call_${size + at}`);
    const made = new Set(Array.from({ length: size }, (_, at) => ids.make(size + at)));
    expect([made.size, [...made][0]]).toEqual([size, `call_${2 * size}`]);
  });
});
