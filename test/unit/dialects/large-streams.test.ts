import { expect, it } from 'vitest';
import { dialects } from '../../../src/dialects/index.ts';
import { toolCallIds } from '../../../src/dialects/shared/values.ts';

const events = 20_000;
/** Each took seconds; what is linear takes some 50 ms. */
const mostMs = 600;

const cohereCall = (index: number, text: string, type = 'tool-call-start') => ({
  type,
  index,
  delta: { message: { tool_calls: { id: `c${index}`, function: { name: 'f', arguments: text } } } },
});

it.each<[string, keyof typeof dialects, (at: number) => object]>([
  [
    'white space in place of arguments',
    'cohere-chat',
    (at) => (at === 0 ? cohereCall(0, '') : cohereCall(0, ' '.repeat(10), 'tool-call-delta')),
  ],
  [
    'many ends behind many calls',
    'cohere-chat',
    (at) => (at < events / 2 ? cohereCall(at, '') : { type: 'message-end', delta: {} }),
  ],
  [
    'many ends behind many calls',
    'ai-sdk',
    (at) => (at < events / 2 ? { type: 'tool-input-start', id: at, toolName: 'f' } : { type: 'finish' }),
  ],
  [
    'many ends behind many sources',
    'ai-sdk',
    (at) =>
      at < events / 2
        ? { type: 'source', id: `${at}`, sourceType: 'url', url: `https://x.test/${at}` }
        : { type: 'finish' },
  ],
  [
    'notes in each event',
    'ai-sdk',
    (at) => ({ type: 'text-delta', id: 'a', delta: 'a', providerMetadata: { [`k${at}`]: { a: 1 } } }),
  ],
])('a stream takes time in proportion to its length: %s, %s', (_, name, event) => {
  const decoder = dialects[name].streamDecoder({});
  const texts = Array.from({ length: events }, (_unused, at) => JSON.stringify(event(at)));
  const startMs = performance.now();
  for (const text of texts) decoder.decode(text, '');
  expect(performance.now() - startMs).toBeLessThan(mostMs);
});

it('ids for calls without one are found in time in proportion to their number, whatever ids the others have', () => {
  const ids = toolCallIds();
  const startMs = performance.now();
  for (let at = 0; at < events; at++) ids.take(`call_${events + at}`);
  const made = new Set(Array.from({ length: events }, (_, at) => ids.make(events + at)));
  expect(performance.now() - startMs).toBeLessThan(mostMs);
  expect([made.size, [...made][0]]).toEqual([events, `call_${2 * events}`]);
});
