import { describe, expect, it } from 'vitest';
import { hello, joined, testGateway } from '../support/gateway.ts';
import { chunk, completion, sse, usageChunk } from '../support/upstream.ts';

const thinking = sse(
  chunk({ role: 'assistant', content: '' }),
  chunk({ reasoning_content: 'Let me' }),
  chunk({ reasoning_content: ' think' }),
  chunk({ content: 'Forty' }),
  chunk({ content: '-two' }),
  chunk({}, 'stop'),
  usageChunk(),
  '[DONE]',
);

describe('reasoning', () => {
  it.each<[string, object, unknown]>([
    ['an effort', { reasoning: { effort: 'high' } }, 'high'],
    ['the shorthand', { reasoning_effort: 'low' }, 'low'],
    ['enabled alone', { reasoning: { enabled: true } }, 'medium'],
    ['switched off', { reasoning: { enabled: false } }, 'none'],
    ['nothing', { reasoning: { exclude: true } }, undefined],
  ])('is asked for in the provider’s words: %s', async (_, fields, effort) => {
    const { post, upstream } = testGateway();
    upstream.answer({ body: completion() });
    await post({ model: 'acme/fast', messages: hello, ...fields });
    expect(upstream.sent[0]?.body.reasoning_effort).toBe(effort);
    expect(upstream.sent[0]?.body).not.toHaveProperty('reasoning');
  });

  it('is shown in a stream, whatever field the provider puts it in', async () => {
    const { post, upstream } = testGateway();
    upstream.answer({ body: [thinking] });
    const { chunks } = await post({ model: 'acme/fast', messages: hello, stream: true });
    expect(joined(chunks)).toMatchObject({ content: 'Forty-two', reasoning: 'Let me think' });
  });

  it.each<object>([{ reasoning: { exclude: true } }, { include_reasoning: false }])(
    'is left out of a stream and of JSON for a caller who does not want to read it: %j',
    async (fields) => {
      const { post, upstream } = testGateway();
      upstream.answer({ body: [thinking] });
      const streamed = await post({ model: 'acme/fast', messages: hello, stream: true, ...fields });
      expect(streamed.text).not.toContain('think');
      expect(joined(streamed.chunks)).toMatchObject({ content: 'Forty-two', finish: 'stop' });
      upstream.answer({ body: completion({}, { content: 'Forty-two', reasoning: 'Let me think' }) });
      const whole = await post({ model: 'acme/fast', messages: hello, ...fields });
      expect(whole.text).not.toContain('think');
      expect(whole.text).toContain('Forty-two');
    },
  );
});

describe('a request that is refused before it is routed', () => {
  it('leaves a record', async () => {
    const { post, records } = testGateway();
    const answer = await post({ model: 'acme/fast', messages: hello, plugins: [{ id: 'web' }] });
    expect(answer.status).toBe(400);
    expect(records).toMatchObject([
      { requested: 'acme/fast', outcome: 'failed', status: 400, model: null, attempts: [] },
    ]);
  });
});
