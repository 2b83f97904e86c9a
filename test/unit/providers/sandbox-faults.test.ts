import { describe, expect, it } from 'vitest';
import { openAiChunk, openAiError } from '../../support/openai-wire.ts';
import { eventsOf, joinChunks, readText, sandboxCall, sandboxRequest } from '../../support/sandbox-call.ts';

/** How a failing model answers: the same whether a stream is asked for or not. */
const failures: [string, object, number, { code?: string | null; retryAfter?: string }][] = [
  ['rate-limited', {}, 429, { code: 'rate_limit_exceeded', retryAfter: '1' }],
  ['rate-limited', { sandbox: { retry_after: 2 } }, 429, { retryAfter: '2' }],
  ['overloaded', {}, 529, { code: 'overloaded' }],
  ['overloaded', { sandbox: { retry_after: 7 } }, 529, { retryAfter: '7' }],
  ['context-length', {}, 400, { code: 'context_length_exceeded' }],
  ['error-400', {}, 400, { code: null }],
  ['error-401', {}, 401, { code: 'invalid_api_key' }],
  ['error-402', {}, 402, { code: 'insufficient_quota' }],
  ['error-403', {}, 403, {}],
  ['error-404', {}, 404, { code: 'model_not_found' }],
  ['error-408', {}, 408, {}],
  ['error-413', {}, 413, {}],
  ['error-422', {}, 422, {}],
  ['error-500', {}, 500, {}],
  ['error-503', { sandbox: { retry_after: 0 } }, 503, { retryAfter: '0' }],
  ['error-in-200', {}, 200, {}],
  ['echo', { sandbox: { status: 418, retry_after: 5 } }, 418, { retryAfter: '5' }],
  ['timeout', { sandbox: { status: 500 } }, 500, {}],
];

describe.each(failures)('sandbox model %s %j', (model, fields, status, { code, retryAfter }) => {
  it.each([false, true])(`answers ${status} at once, with stream: %s`, async (stream) => {
    const answer = await sandboxCall().run(model, { stream, ...fields });
    expect([answer.status, answer.tookMs]).toEqual([status, 0]);
    expect(answer.headers).toEqual({
      'content-type': 'application/json',
      ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
    });
    const { error } = openAiError.parse(JSON.parse(answer.text));
    expect(error.message).toMatch(/^The sandbox responds .*(sandbox\/|sandbox\.status)/);
    if (code !== undefined) expect(error.code).toBe(code);
  });
});

describe('a faulty sandbox stream', () => {
  const five = 'This is the sandbox:';

  it('cut-stream ends after five tokens without a finish_reason or [DONE]', async () => {
    const events = eventsOf((await sandboxCall().run('cut-stream', { stream: true })).text);
    expect(joinChunks(events.map((event) => openAiChunk.parse(JSON.parse(event))))).toMatchObject({
      content: five,
      finishReasons: [],
    });
  });
  it('cut-stream as JSON is half a body', async () => {
    const { status, text } = await sandboxCall().run('cut-stream');
    expect(status).toBe(200);
    expect(text).toMatch(/^\{"id":"chatcmpl-/);
    expect(() => JSON.parse(text)).toThrow(SyntaxError);
  });
  it('error-mid-stream sends an error event after five tokens, and as JSON a 500', async () => {
    const call = sandboxCall();
    const events = eventsOf((await call.run('error-mid-stream', { stream: true })).text);
    openAiError.parse(JSON.parse(events.pop() ?? ''));
    expect(joinChunks(events.map((event) => openAiChunk.parse(JSON.parse(event))))).toMatchObject({
      content: five,
      finishReasons: [],
    });
    const whole = await call.run('error-mid-stream');
    expect(whole.status).toBe(500);
    openAiError.parse(JSON.parse(whole.text));
  });
  it.each([0, 1, 3, 200])('breaks after %i tokens when asked', async (tokens) => {
    const { text } = await sandboxCall().run('error-mid-stream', { stream: true, sandbox: { tokens } });
    const events = eventsOf(text);
    expect(JSON.parse(events.pop() ?? '')).toHaveProperty('error');
    // With none at all there is no opening chunk either, so that the failure is the first event.
    expect(events).toHaveLength(tokens === 0 ? 0 : tokens + 1);
  });
  it.each(['cut-stream', 'error-mid-stream'])('%s breaks where max_tokens ends the text before', async (model) => {
    const { text } = await sandboxCall().run(model, {
      stream: true,
      max_tokens: 2,
      stream_options: { include_usage: true },
    });
    expect(text).toContain('"This"');
    expect(text).not.toMatch(/DONE|"finish_reason":"|prompt_tokens/);
  });
  it.each([false, true])('reset fails with a network error after some bytes, with stream: %s', async (stream) => {
    const { clock, send } = sandboxCall();
    const { status, body } = await clock.until(send('reset', { stream }));
    expect(status).toBe(200);
    expect((await clock.until(body.read()))?.length).toBeGreaterThan(0);
    await expect(clock.until(readText(body))).rejects.toMatchObject({
      name: 'UpstreamError',
      reason: 'network',
      status: 502,
      fault: 'transient',
    });
    expect(await body.read()).toBeNull();
  });
  it('unreachable fails with a network error', async () => {
    const { clock, send } = sandboxCall();
    await expect(clock.until(send('unreachable'))).rejects.toMatchObject({
      name: 'UpstreamError',
      reason: 'network',
      status: 502,
    });
  });
  it.each([false, true])('bad-json is not JSON, with stream: %s', async (stream) => {
    const { status, text } = await sandboxCall().run('bad-json', { stream });
    expect(status).toBe(200);
    expect(() => JSON.parse(stream ? (eventsOf(text)[0] ?? '') : text)).toThrow(SyntaxError);
    expect(text.startsWith('data: ')).toBe(stream);
  });
  it.each([false, true])('html is a page with status 200, with stream: %s', async (stream) => {
    const { status, headers, text } = await sandboxCall().run('html', { stream });
    expect([status, headers['content-type']]).toEqual([200, 'text/html']);
    expect(text).toMatch(/^<!doctype html>/);
  });
  it.each([
    [false, 'application/json'],
    [true, 'text/event-stream'],
  ])('empty has no body, with stream: %s', async (stream, type) => {
    const { status, headers, text } = await sandboxCall().run('empty', { stream });
    expect([status, headers['content-type'], text]).toEqual([200, type, '']);
  });
});

describe('flaky', () => {
  it('fails every first request and answers every second', async () => {
    const call = sandboxCall();
    const statuses: number[] = [];
    for (let turn = 0; turn < 4; turn += 1) statuses.push((await call.run('flaky')).status);
    expect(statuses).toEqual([503, 200, 503, 200]);
  });
  it('fails as often as asked, counted apart', async () => {
    const call = sandboxCall();
    const status = async (failures: number) =>
      (await call.run('flaky', { sandbox: { failures, retry_after: 1 } })).status;
    expect(await status(2)).toBe(503);
    expect(await status(1)).toBe(503);
    expect(await status(2)).toBe(503);
    expect(await status(1)).toBe(200);
    expect(await status(2)).toBe(200);
    expect(await status(2)).toBe(503);
  });
});

describe('a request the sandbox refuses', () => {
  const hello = [{ role: 'user', content: 'Hello' }];
  it.each<[string, object, number, RegExp, string | null]>([
    ['an unknown model', { model: 'gpt-9' }, 404, /no model "gpt-9".*echo, lorem/, 'model'],
    ['a wrong option', { sandbox: { token_ms: -1 } }, 400, /^sandbox\.token_ms: /, 'sandbox.token_ms'],
    ['an unknown option', { sandbox: { speed: 3 } }, 400, /^sandbox: .*speed/, 'sandbox'],
    ['an option of another type', { sandbox: { status: '503' } }, 400, /^sandbox\.status: .*number/, 'sandbox.status'],
    ['no messages', { messages: [] }, 400, /^messages: /, 'messages'],
    ['no room for a token', { max_tokens: 0 }, 400, /^max_tokens: /, 'max_tokens'],
    ['too many choices', { n: 17 }, 400, /^n: /, 'n'],
    [
      'a schema nothing fits',
      { model: 'json', response_format: { type: 'json_schema', json_schema: { schema: false } } },
      400,
      /cannot make a value.*no value fits/,
      'response_format.json_schema.schema',
    ],
    [
      'a forced tool that is not offered',
      {
        model: 'tool-call',
        tools: [{ type: 'function', function: { name: 'a' } }],
        tool_choice: { type: 'function', function: { name: 'b' } },
      },
      400,
      /^tool_choice: /,
      'tool_choice',
    ],
  ])('for %s', async (_, fields, status, message, param) => {
    const answer = await sandboxCall().run('echo', { messages: hello, ...fields });
    const { error } = openAiError.parse(JSON.parse(answer.text));
    expect([answer.status, error.param]).toEqual([status, param]);
    expect(error.message).toMatch(message);
  });
  it.each([
    ['in tokens', 'word '.repeat(140_000), /tokens; the sandbox takes 131072/],
    ['in characters, which are then not counted', ' '.repeat(20_000_000), /characters; the sandbox takes 1048576/],
  ])('because the prompt is too long %s', async (_, content, message) => {
    const answer = await sandboxCall().run('echo', { messages: [{ role: 'user', content }] });
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text).error).toMatchObject({
      code: 'context_length_exceeded',
      message: expect.stringMatching(message),
    });
  });
  it.each(['', '{', '[]', '"x"', 'null'])('because the body is %j', async (body) => {
    const { clock, transport } = sandboxCall();
    const request = { ...sandboxRequest({}, new AbortController().signal), body };
    const answer = await clock.until(transport.send(request));
    expect(answer.status).toBe(400);
    openAiError.parse(JSON.parse(await clock.until(readText(answer.body))));
  });
  it('because it asks for something else', async () => {
    const { transport } = sandboxCall();
    const request = sandboxRequest({}, new AbortController().signal);
    expect((await transport.send({ ...request, method: 'GET' })).status).toBe(404);
    expect((await transport.send({ ...request, url: 'http://sandbox.invalid/v1/models' })).status).toBe(404);
  });
});
