import { describe, expect, it } from 'vitest';
import { testGateway } from '../support/gateway.ts';
import { completion, sse } from '../support/upstream.ts';

const history = [
  { role: 'user', content: 'Hi' },
  { role: 'assistant', content: 'Hello.', reasoning: 'A greeting.' },
  { role: 'user', content: 'More' },
];
const ask = { model: 'acme/free', messages: history };

type Test = ReturnType<typeof testGateway>;
/** What of the earlier thought reaches the provider with the next request. */
async function sentBack(test: Test, body: object = ask): Promise<unknown> {
  test.upstream.answer({ body: completion() });
  await test.post(body);
  const [, earlier] = (test.upstream.sent.at(-1)?.body.messages ?? []) as Record<string, unknown>[];
  const { role: _role, content: _content, ...rest } = earlier ?? {};
  return rest;
}

const fields = ['reasoning_content', 'reasoning', 'reasoning_text', 'thinking'];

describe('earlier reasoning, for a provider that no quirk describes', () => {
  it.each(fields)('goes back in the field in which it came: %s', async (field) => {
    const test = testGateway({ retry: { maxAttempts: 1 } });
    expect(await sentBack(test)).toEqual({});
    test.upstream.answer({ body: completion({}, { [field]: 'Hm.' }) });
    await test.post({ ...ask, messages: [history[0]] });
    expect(await sentBack(test)).toEqual({ [field]: 'A greeting.' });
    // Another model of the same server may be another.
    expect(await sentBack(test, { ...ask, model: 'acme/fast' })).toEqual({});
  });
  it.each(fields)('goes back in the field in which a stream had it: %s', async (field) => {
    const test = testGateway({ retry: { maxAttempts: 1 } });
    const chunk = (delta: object, finish_reason: string | null = null) => ({
      choices: [{ index: 0, delta, finish_reason }],
    });
    test.upstream.answer({
      body: [sse(chunk({ role: 'assistant', [field]: '' }), chunk({ [field]: 'Hm.' }), chunk({}, 'stop'), '[DONE]')],
    });
    await test.post({ ...ask, messages: [history[0]], stream: true });
    expect(await sentBack(test)).toEqual({ [field]: 'A greeting.' });
  });
  it.each([false, true])('goes back as a part of the content where it came as one (streamed: %s)', async (stream) => {
    const test = testGateway({ retry: { maxAttempts: 1 } });
    const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] };
    const chunk = (delta: object, finish_reason: string | null = null) => ({
      choices: [{ index: 0, delta, finish_reason }],
    });
    test.upstream.answer(
      stream
        ? { body: [sse(chunk({ content: [thinking] }), chunk({ content: 'Hi' }), chunk({}, 'stop'), '[DONE]')] }
        : { body: completion({}, { content: [thinking, { type: 'text', text: 'Hi' }] }) },
    );
    await test.post({ ...ask, messages: [history[0]], stream });
    expect(await sentBack(test)).toEqual({});
    const [, earlier] = (test.upstream.sent.at(-1)?.body.messages ?? []) as { content: unknown }[];
    expect(earlier?.content).toEqual([
      { type: 'thinking', thinking: [{ type: 'text', text: 'A greeting.' }] },
      { type: 'text', text: 'Hello.' },
    ]);
  });
  it('goes back as details where these came', async () => {
    const test = testGateway({ retry: { maxAttempts: 1 } });
    const details = [{ type: 'reasoning.text', text: 'Hm.', index: 0 }];
    test.upstream.answer({ body: completion({}, { reasoning: 'Hm.', reasoning_details: details }) });
    await test.post({ ...ask, messages: [history[0]] });
    expect(await sentBack(test)).toEqual({
      reasoning_details: [{ type: 'reasoning.text', text: 'A greeting.', index: 0 }],
    });
  });
  it.each([{ reasoningField: 'reasoning' as const }, { reasoningField: null }])(
    'goes where a quirk says: %j',
    async (quirks) => {
      const test = testGateway({
        retry: { maxAttempts: 1 },
        providers: {
          up: { baseUrl: 'https://up.test/v1', apiKey: 'sk-up-0123456789', quirks },
          alt: { baseUrl: 'https://alt.test/v1' },
        },
      });
      test.upstream.answer({ body: completion({}, { reasoning_content: 'Hm.' }) });
      await test.post({ ...ask, messages: [history[0]] });
      expect(await sentBack(test)).toEqual(quirks.reasoningField === null ? {} : { reasoning: 'A greeting.' });
    },
  );
  it('goes along at once where the provider refuses a request without it', async () => {
    const test = testGateway({ retry: { maxAttempts: 1 } });
    const message = 'The `reasoning_content` in the thinking mode must be passed back to the API.';
    test.upstream.answer({ status: 400, body: { error: { message, type: 'invalid_request_error' } } });
    expect(await sentBack(test)).toEqual({ reasoning_content: 'A greeting.' });
    expect(test.upstream.sent.length).toBe(2);
    expect(await sentBack(test)).toEqual({ reasoning_content: 'A greeting.' });
    expect(test.upstream.sent.length).toBe(3);
  });
  it('is left out at once, and from then on, where the provider refuses what it sends itself', async () => {
    const test = testGateway({ retry: { maxAttempts: 1 } });
    test.upstream.answer({ body: completion({}, { reasoning: 'Hm.' }) });
    await test.post({ ...ask, messages: [history[0]] });
    const message =
      "'messages.1' : for 'role:assistant' the following must be satisfied: property 'reasoning' is unsupported";
    test.upstream.answer({ status: 400, body: { error: { message } } });
    expect(await sentBack(test)).toEqual({});
    test.upstream.answer({ body: completion({}, { reasoning: 'Hm.' }) });
    await test.post({ ...ask, messages: [history[0]] });
    expect(await sentBack(test)).toEqual({});
    expect(test.upstream.sent.length).toBe(5);
  });
  it('is asked for once alone: a provider that refuses all the same is believed', async () => {
    const test = testGateway({ retry: { maxAttempts: 1 } });
    const error = { status: 400, body: { error: { message: 'messages[1].reasoning_content is missing' } } };
    test.upstream.answer(error, error);
    expect((await test.post(ask)).status).toBe(400);
    expect(test.upstream.sent.length).toBe(2);
    // Nothing goes back: there is nothing to learn.
    test.upstream.answer(error);
    expect((await test.post({ ...ask, messages: [history[0]] })).status).toBe(400);
    expect(test.upstream.sent.length).toBe(3);
  });
});
