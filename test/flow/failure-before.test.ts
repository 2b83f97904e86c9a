import { describe, expect, it } from 'vitest';
import { hello, joined, testGateway } from '../support/gateway.ts';
import { chunk, completion, errorBody, type ScriptedAnswer, sse, textStream, usageChunk } from '../support/upstream.ts';

const start = sse(chunk({ role: 'assistant', content: '' }));

/** What goes wrong before anything of an answer is there, and the status of the attempt. */
const failures: [string, ScriptedAnswer, number][] = [
  ['an error status', { status: 500, body: errorBody('Oops') }, 500],
  ['an overload', { status: 529, body: errorBody('Busy') }, 529],
  ['a redirect', { status: 302, headers: { location: 'https://elsewhere.test/' } }, 302],
  ['a refused connection', { instead: 'refuse' }, 502],
  ['no headers in time', { instead: 'hang' }, 524],
  ['no body in time', { body: [{ hangs: true }] }, 524],
  ['an error in a success', { body: { error: { message: 'It broke', code: 'broken' } } }, 502],
  ['an error in a success that names a status', { body: { error: { message: 'It broke', code: 500 } } }, 500],
  ['a page of HTML', { headers: { 'content-type': 'text/html' }, body: '<!doctype html><title>Hi</title>' }, 502],
  ['nothing', { body: '' }, 502],
  ['white space', { body: ' \n\n ' }, 502],
  ['invalid JSON', { body: '{"id": "x", "choices": [' }, 502],
  ['JSON that is no completion', { body: { hello: 'world' } }, 502],
  ['a list', { body: [1, 2] as unknown as object }, 502],
  ['no choices', { body: completion({ choices: [] }) }, 502],
  ['a choice without a message', { body: completion({ choices: [{ index: 0 }] }) }, 502],
  ['a connection that breaks', { body: ['{"id":', { breaks: true }] }, 502],
];

/** The same for streams only. */
const streamFailures: typeof failures = [
  ['an error event', { body: [sse({ error: { message: 'Broken', code: 'server_error' } }), '[DONE]'] }, 502],
  ['an error event after the role', { body: [start, sse({ error: { message: 'Broken' } })] }, 502],
  ['an error event with a name', { body: [`event: error\ndata: {"message":"Broken"}\n\n`] }, 502],
  ['a bare error object', { body: [start, '{"error":{"message":"Broken"}}\n\n'] }, 502],
  ['a finish_reason that says error, after the role', { body: [start, sse(chunk({}, 'error'), '[DONE]')] }, 502],
  ['the sentinel alone', { body: [sse('[DONE]')] }, 502],
  ['the role, then the sentinel', { body: [start, sse('[DONE]')] }, 502],
  ['the role, then the end', { body: [start] }, 502],
  ['the role, then a broken connection', { body: [start, { breaks: true }] }, 502],
  ['the role, then silence', { body: [start, { hangs: true }] }, 524],
  ['comments, then silence', { body: [': PROCESSING\n\n', { hangs: true }] }, 524],
  ['an event that is not JSON', { body: [sse('{"choices":')] }, 502],
  ['usage without an answer', { body: [sse(usageChunk(), '[DONE]')] }, 502],
];

describe.each([false, true])('before the first of an answer (stream: %s)', (stream) => {
  it.each(stream ? [...failures.filter(([name]) => name !== 'a list'), ...streamFailures] : failures)(
    '%s falls over to the next endpoint',
    async (_, failure, status) => {
      const { post, upstream, records } = testGateway({
        retry: { attemptsPerEndpoint: 1 },
        timeouts: { jsonHeadersMs: 60_000, firstEventMs: 60_000 },
      });
      const isList = Array.isArray(failure.body) && typeof failure.body[0] === 'number';
      upstream.answer(isList ? { body: JSON.stringify(failure.body) } : failure, {
        body: stream ? textStream('Hi') : completion(),
      });
      const answer = await post({ model: 'acme/pair', messages: hello, stream });
      expect([answer.status, answer.text.slice(0, 300)]).toEqual([200, expect.any(String)]);
      expect(upstream.sent.map(({ body }) => body.model)).toEqual(['up-pair', 'alt-pair']);
      if (stream) expect(joined(answer.chunks)).toMatchObject({ content: 'Hi', finish: 'stop' });
      else expect(answer.json).toMatchObject({ provider: 'Alt', model: 'acme/pair' });
      expect(records).toHaveLength(1);
      expect(records[0]).toMatchObject({
        outcome: 'ok',
        provider: 'Alt',
        attempts: [
          { provider: 'Up', status },
          { provider: 'Alt', status: 200 },
        ],
      });
    },
  );
  it.each(stream ? streamFailures : failures.filter(([, { body }]) => body !== undefined && !Array.isArray(body)))(
    '%s is an ordinary error where nobody else is left',
    async (_, failure, status) => {
      const { post, upstream, records } = testGateway({
        retry: { attemptsPerEndpoint: 1 },
        keepAlive: { firstMs: 1_000_000 },
      });
      upstream.answer(failure);
      const answer = await post({ model: 'acme/fast', messages: hello, stream });
      expect(answer.headers.get('content-type')).toBe('application/json');
      expect(answer.status).toBe(status === 500 || status === 302 ? 502 : status);
      expect(answer.json.error.metadata).toMatchObject({ provider_name: 'Up' });
      // What the provider said that it used; nothing where it refused; else its prompt of eight tokens, which it may
      // charge.
      const isReported = JSON.stringify(failure.body ?? '').includes('prompt_tokens');
      const isRefused = failure.status !== undefined || status === 500;
      const costNanoUsd = isReported ? 36_000 : isRefused ? 0 : 16_000;
      expect(records).toMatchObject([
        { outcome: 'failed', status: answer.status, provider: null, costNanoUsd, usage: null },
      ]);
    },
  );
});

it("shows the provider's own words of a failure, clean and bounded", async () => {
  const { post, upstream } = testGateway({ retry: { attemptsPerEndpoint: 1 } });
  upstream.answer({ status: 500, body: errorBody(`Line 1\r\nLine 2\u001b[31m ${'x'.repeat(5000)}`) });
  const { json } = await post({ model: 'acme/fast', messages: hello });
  expect(json.error.message).toMatch(/^Line 1 Line 2 x+…$/);
  expect(json.error.message.length).toBeLessThanOrEqual(500);
});

it('never shows a key that the provider echoes', async () => {
  const { post, upstream } = testGateway({ retry: { attemptsPerEndpoint: 1 } });
  const key = 'sk-upstream-up-0123456789';
  upstream.answer(
    { status: 401, body: errorBody(`Incorrect API key provided: ${key}`, key) },
    { status: 500, body: errorBody(`Key ${key} is broken`, key) },
    { body: completion({}, { content: `Your key is ${key}` }) },
    { body: [sse({ error: { message: `Bad ${key}`, code: key } })] },
    { body: [...textStream('Your key is', ` ${key}`, ' indeed')] },
  );
  for (const stream of [false, false, false, true, true]) {
    const answer = await post({ model: 'acme/fast', messages: hello, stream });
    expect(answer.text).not.toContain(key);
    expect(JSON.stringify([...answer.headers])).not.toContain(key);
  }
});

describe.each([false, true])('an error in a success that names a status (stream: %s)', (stream) => {
  const failing = (code: unknown): ScriptedAnswer => {
    const error = { error: { message: 'Refused', code } };
    return stream ? { body: [sse(error)] } : { body: error };
  };
  it.each<[unknown, number, string]>([
    [429, 429, 'rate_limit_exceeded'],
    ['429', 429, 'rate_limit_exceeded'],
    [400, 400, 'invalid_request'],
    [401, 502, 'provider_credentials'],
    [402, 502, 'provider_credentials'],
    [403, 502, 'provider_credentials'],
    ['upset', 502, 'provider_unavailable'],
  ])('is reported as that status: %j', async (code, status, errorType) => {
    const { post, upstream, records } = testGateway({ retry: { attemptsPerEndpoint: 1 } });
    upstream.answer(failing(code));
    const answer = await post({ model: 'acme/fast', messages: hello, stream });
    expect([answer.status, answer.json.error.metadata?.error_type]).toEqual([status, errorType]);
    expect(records[0]?.attempts).toMatchObject([{ status: Number(code) || 502 }]);
  });
  it('is tried again at the same endpoint where the status allows it', async () => {
    const { post, upstream } = testGateway();
    upstream.answer(failing(429), { body: stream ? textStream('Hi') : completion() });
    expect((await post({ model: 'acme/fast', messages: hello, stream })).status).toBe(200);
    expect(upstream.sent).toHaveLength(2);
  });
  it('cools the endpoint down where the operator’s key is refused', async () => {
    const { post, upstream } = testGateway();
    const good = { body: stream ? textStream('Hi') : completion() };
    upstream.answer(failing(401), good, good);
    for (let turn = 0; turn < 2; turn++) await post({ model: 'acme/pair', messages: hello, stream });
    expect(upstream.sent.map(({ body }) => body.model)).toEqual(['up-pair', 'alt-pair', 'alt-pair']);
  });
});

describe('a redirect', () => {
  const secret = 'https://user:pass@elsewhere.test/v1?token=secret-target';
  it.each([300, 301, 302, 303, 304, 307, 308])(
    'with %i names what happened and what to set, and not the target',
    async (status) => {
      const { post, upstream, records } = testGateway();
      const body =
        status === 304 ? '' : `<a href="${secret}">Moved</a> ${JSON.stringify({ error: { message: secret } })}`;
      upstream.answer(...Array.from({ length: 5 }, () => ({ status, headers: { location: secret }, body })));
      const { status: shown, json } = await post({ model: 'acme/fast', messages: hello });
      expect([shown, json.error?.message]).toEqual([
        502,
        expect.stringMatching(new RegExp(`redirect \\(${status}\\).*follows none.*baseUrl`)),
      ]);
      expect(JSON.stringify(json)).not.toContain('elsewhere');
      expect(JSON.stringify([json, records])).not.toMatch(/secret-target|pass@/);
    },
  );
});
