import { describe, expect, it } from 'vitest';
import { estimateUsage } from '../../../src/pricing/estimate.ts';
import type { ChatRequest } from '../../../src/schema/chat.ts';

const promptOf = (messages: ChatRequest['messages'], more: Partial<ChatRequest> = {}) =>
  estimateUsage({ messages, ...more } as ChatRequest, '').prompt_tokens;

describe('an estimate', () => {
  it('adds up, and grows with the text', () => {
    const usage = estimateUsage(
      { messages: [{ role: 'user', content: 'Hello there' }] } as ChatRequest,
      'Hi, how are you?',
    );
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
