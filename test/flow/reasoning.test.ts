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

describe('reasoning that is not to be shown', () => {
  const exclude = { model: 'acme/fast', messages: hello, reasoning: { exclude: true } };
  const usage = {
    prompt_tokens: 5,
    completion_tokens: 20,
    total_tokens: 25,
    completion_tokens_details: { reasoning_tokens: 15 },
  };
  const encrypted = {
    type: 'reasoning.encrypted',
    data: 'b3BhcXVl',
    id: 'rs_1',
    format: 'openai-responses-v1',
    index: 2,
  };
  const hidden = { type: 'reasoning.text', text: '', signature: 'b25seS1hLXNpZ25hdHVyZQ', index: 3 };
  const details = [
    { type: 'reasoning.summary', summary: 'think: short', index: 0 },
    { type: 'reasoning.text', text: 'think: long', signature: 'c2lnbmVk', index: 1 },
    encrypted,
    hidden,
  ];

  it('is left out of the details of JSON, but for what nobody can read; usage counts all', async () => {
    const { post, upstream } = testGateway();
    upstream.answer({ body: completion({ usage }, { content: 'Hi', reasoning: 'think', reasoning_details: details }) });
    const { json, text } = await post(exclude);
    expect(text).not.toMatch(/think|c2lnbmVk/);
    expect(json.choices[0]?.message).toEqual({
      role: 'assistant',
      content: 'Hi',
      refusal: null,
      reasoning_details: [encrypted, hidden],
    });
    expect(json.usage).toMatchObject({ completion_tokens: 20, completion_tokens_details: { reasoning_tokens: 15 } });
  });
  it('is left out of the details of a stream, with the signature that follows a thought', async () => {
    const { post, upstream } = testGateway();
    const detail = (one: object) => chunk({ reasoning_details: [one] });
    upstream.answer({
      body: [
        sse(
          detail({ type: 'reasoning.text', text: 'think:', index: 1 }),
          detail({ type: 'reasoning.text', text: ' long', index: 1 }),
          detail({ type: 'reasoning.text', signature: 'c2lnbmVk', index: 1 }),
          detail(encrypted),
          detail(hidden),
          chunk({ content: 'Hi' }),
          chunk({}, 'stop'),
          usageChunk(),
          '[DONE]',
        ),
      ],
    });
    const { chunks, text } = await post({ ...exclude, stream: true });
    expect(text).not.toMatch(/think|long|c2lnbmVk/);
    const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }: { delta: object }) => delta));
    expect(deltas).toEqual([
      { reasoning_details: [encrypted] },
      { reasoning_details: [hidden] },
      { content: 'Hi' },
      {},
    ]);
  });
  it('is asked for all the same: `exclude` and `include_reasoning` are the gateway’s', async () => {
    const { post, upstream } = testGateway();
    upstream.always({ body: completion() });
    await post({ ...exclude, reasoning: { exclude: true, effort: 'high' } });
    await post({ ...exclude, reasoning: undefined, include_reasoning: false });
    await post({ ...exclude, reasoning: undefined, include_reasoning: true });
    await post({ ...exclude, reasoning: undefined, include_reasoning: true, reasoning_effort: 'low' });
    expect(upstream.sent.map(({ body }) => body)).toEqual(
      ['high', undefined, 'medium', 'low'].map((effort) => ({
        model: 'up-fast',
        messages: hello,
        ...(effort === undefined ? {} : { reasoning_effort: effort }),
      })),
    );
  });
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
