import { describe, expect, it } from 'vitest';
import { estimateUsage } from '../../../src/pricing/estimate.ts';
import type { ChatRequest } from '../../../src/schema/chat/chat.ts';
import { cpuMs } from '../../support/cpu-time.ts';

const promptOf = (messages: ChatRequest['messages'], more: Partial<ChatRequest> = {}) =>
  estimateUsage({ messages, ...more } as ChatRequest, 0).prompt_tokens;

describe('an estimate', () => {
  it('adds up, and grows with the text', () => {
    const usage = estimateUsage({ messages: [{ role: 'user', content: 'Hello there' }] } as ChatRequest, 16);
    expect(usage.total_tokens).toBe(usage.prompt_tokens + usage.completion_tokens);
    const lengths = [1, 10, 100].map((times) => promptOf([{ role: 'user', content: 'some words '.repeat(times) }]));
    expect(lengths).toEqual([...lengths].sort((a, b) => a - b));
    expect(new Set(lengths).size).toBe(3);
  });
  it('counts parts, pictures, tool calls and tools', () => {
    const plain = promptOf([{ role: 'user', content: 'x' }]);
    expect(promptOf([{ role: 'user', content: [{ type: 'text', text: 'x' }] }])).toBe(plain);
    expect(
      promptOf([{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://x.test' } }] }]),
    ).toBeGreaterThan(500);
    const called = { id: 'c', type: 'function' as const, function: { name: 'f', arguments: '{"a":1}' } };
    expect(
      promptOf([
        { role: 'user', content: 'x' },
        { role: 'assistant', content: null, tool_calls: [called] },
      ]),
    ).toBeGreaterThan(plain + 4);
    expect(
      promptOf([{ role: 'user', content: 'x' }], {
        tools: [{ type: 'function', function: { name: 'f', description: 'does something' } }],
      }),
    ).toBeGreaterThan(plain);
  });
  it('counts received bytes where the text is gone, rather too many than too few', () => {
    const request = { messages: [{ role: 'user', content: 'x' }] } as ChatRequest;
    expect(estimateUsage(request, 0).completion_tokens).toBe(0);
    expect(estimateUsage(request, 1).completion_tokens).toBe(1);
    expect(estimateUsage(request, 300).completion_tokens).toBe(100);
  });
  it.each<[string, object, number, number]>([
    ['a picture', { type: 'image_url', image_url: { url: 'https://x.test' } }, 500, 1_500],
    ['a small picture', { type: 'image_url', image_url: { url: 'https://x.test', detail: 'low' } }, 50, 300],
    // 480,000 bytes: half a minute of mp3.
    ['sound', { type: 'input_audio', input_audio: { data: 'A'.repeat(640_000), format: 'mp3' } }, 300, 1_000],
    ['a film', { type: 'video_url', video_url: { url: 'https://x.test' } }, 1_000, 100_000],
    ['a file', { type: 'file', file: { file_id: 'f' } }, 1_000, 100_000],
  ])('takes %s for a usual one', (_, part, least, most) => {
    const tokens = promptOf([{ role: 'user', content: [part] }] as unknown as ChatRequest['messages']);
    expect(tokens).toBeGreaterThan(least);
    expect(tokens).toBeLessThan(most);
  });
  it('counts names, the shape of the answer, and fields that nobody knows', () => {
    const plain = promptOf([{ role: 'user', content: 'x' }]);
    expect(promptOf([{ role: 'user', content: 'x', name: 'somebody with a name' }])).toBeGreaterThan(plain);
    const schema = { type: 'object', properties: { answer: { type: 'string' } } };
    expect(
      promptOf([{ role: 'user', content: 'x' }], {
        response_format: { type: 'json_schema', json_schema: { name: 'a', schema } },
      }),
    ).toBeGreaterThan(plain + 10);
    expect(promptOf([{ role: 'user', content: 'x' }], { documents: [{ text: 'some more words' }] })).toBeGreaterThan(
      plain,
    );
    expect(promptOf([{ role: 'user', content: 'x' }], { user: 'somebody', metadata: { a: 'b' }, n: 3 })).toBe(plain);
  });
});

describe('an estimate of a request of many megabytes', () => {
  const long = 'some words, and more of them. '.repeat(35_000);
  const asked = (content: unknown, more: object = {}) =>
    ({ messages: Array.from({ length: 30 }, () => ({ role: 'user', content })), ...more }) as unknown as ChatRequest;

  it.each<[string, ChatRequest]>([
    ['in texts', asked(long.slice(0, 250_000))],
    ['in parts', asked(Array.from({ length: 10 }, () => ({ type: 'text', text: long.slice(0, 100_000) })))],
    ['in a field that nobody knows', asked('x', { documents: Array.from({ length: 30 }, () => ({ text: long })) })],
    [
      'in tools',
      asked('x', { tools: Array.from({ length: 30 }, () => ({ type: 'function', function: { a: long } })) }),
    ],
  ])('counts no more than a part of it: %s', (_, request) => {
    const start = cpuMs();
    const { prompt_tokens } = estimateUsage(request, 0);
    // Some 15 ms; counting all of it takes one to two seconds.
    expect(cpuMs() - start).toBeLessThan(500);
    const units = JSON.stringify(request).length;
    expect(prompt_tokens).toBeGreaterThan(units / 5);
    expect(prompt_tokens).toBeLessThan(units / 2);
  });

  it('takes what it does not count to be like what it counted', () => {
    const chinese = promptOf(
      Array.from({ length: 20 }, () => ({ role: 'user', content: '网关把请求发送给模型。'.repeat(5_000) })),
    );
    expect(chinese / (20 * 55_000)).toBeGreaterThan(0.6);
  });
});
