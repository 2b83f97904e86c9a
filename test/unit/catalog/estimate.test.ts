import { describe, expect, it } from 'vitest';
import { estimateUsage } from '../../../src/catalog/estimate.ts';
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
});
