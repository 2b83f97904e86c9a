import { describe, expect, it } from 'vitest';
import { testGateway, testKey } from '../support/gateway.ts';
import { chunk, completion, errorBody, sse, textStream } from '../support/upstream.ts';

// biome-ignore lint/suspicious/noExplicitAny: of any response, for a test to look into
type Json = any;

const path = '/v1beta/models/acme/fast';

function gemini(options: Parameters<typeof testGateway>[0] = {}) {
  const made = testGateway(options);
  const ask = async (form: string, more: object = {}, headers: Record<string, string> = {}) => {
    const request = new Request(`http://gateway.test${path}${form}`, {
      method: 'POST',
      headers: { 'x-goog-api-key': testKey, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ contents: [{ parts: [{ text: 'Hello' }] }], ...more }),
    });
    const response = await made.run(made.gateway.fetch(request));
    return { status: response.status, headers: response.headers, text: await made.run(response.text()) };
  };
  return { ...made, ask };
}

describe('the parameters of a request of the Gemini wire', () => {
  it.each(['?alt=sse', '?%24alt=sse'])('asks for events: %s', async (query) => {
    const { ask, upstream } = gemini();
    upstream.answer({ body: completion() });
    const one = await ask(`:generateContent${query}`);
    expect([one.status, one.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    expect(one.text).toMatch(/^data: \{.*\}\r\n\r\n$/);
    expect(JSON.parse(one.text.slice('data: '.length)).candidates).toHaveLength(1);
    upstream.answer({ body: textStream('Hello') });
    expect((await ask(`:streamGenerateContent${query}`)).text).toMatch(/^data: /);
  });
  it.each(['', '?alt=json', '?alt=', '?%24alt=json%3Benum-encoding%3Dint', '?prettyPrint=false&%24prettyPrint=1'])(
    'gets JSON: %s',
    async (query) => {
      const { ask, upstream } = gemini();
      upstream.answer({ body: completion() });
      expect(JSON.parse((await ask(`:generateContent${query}`)).text).candidates).toHaveLength(1);
      upstream.answer({ body: textStream('Hello') });
      expect(JSON.parse((await ask(`:streamGenerateContent${query}`)).text)).toBeInstanceOf(Array);
    },
  );
  it.each([
    ['alt=media', 'alt: expected "json" or "sse"'],
    ['%24alt=proto', '$alt: expected "json" or "sse"'],
    ['fields=candidates', 'fields: expected none'],
    ['%24fields=candidates', '$fields: expected none'],
  ])('is refused where it would have no effect: %s', async (query, message) => {
    for (const form of [':generateContent', ':streamGenerateContent', ':countTokens', ':explain']) {
      const { ask, upstream } = gemini();
      const { status, text } = await ask(`${form}?${query}`);
      expect([status, JSON.parse(text).error.message, upstream.sent]).toEqual([
        400,
        expect.stringContaining(message),
        [],
      ]);
    }
  });
  it.each(['?alt=json', '?%24alt=json%3Benum-encoding%3Dint&prettyPrint=false', '/acme/fast?alt=json'])(
    'lists models: %s',
    async (query) => {
      const { gateway, run } = testGateway();
      const request = new Request(`http://gateway.test/v1beta/models${query}`, {
        headers: { 'x-goog-api-key': testKey },
      });
      expect((await run(gateway.fetch(request))).status).toBe(200);
    },
  );
  it('names the methods that a model has, for one that it has not', async () => {
    const { ask } = gemini();
    const { status, text } = await ask(':predict');
    expect([status, JSON.parse(text).error]).toMatchObject([
      404,
      {
        code: 404,
        status: 'NOT_FOUND',
        message: expect.stringMatching(/does not serve predict.*generateContent/),
      },
    ]);
  });
});

describe('POST /v1beta/models/{model}:explain', () => {
  it('explains without a call of a provider, and without money', async () => {
    const { ask, upstream, records } = gemini();
    const { status, text } = await ask(':explain', { generationConfig: { maxOutputTokens: 10 } });
    const { data }: Json = JSON.parse(text);
    expect(status, text).toBe(200);
    expect(data).toMatchObject({ requested: 'acme/fast', error: null, candidates: [{ model: 'acme/fast' }] });
    expect([upstream.sent, records]).toEqual([[], []]);
  });
  it('agrees with the request, in its routing metadata too', async () => {
    const { ask, upstream } = gemini();
    const { data } = JSON.parse((await ask(':explain')).text);
    upstream.answer({ body: completion() });
    const { text } = await ask(':generateContent', {}, { 'x-service-metadata': 'enabled' });
    expect(JSON.parse(text).service_metadata.attempt ?? JSON.parse(text).service_metadata).toBeDefined();
    expect(JSON.parse(text).modelVersion).toBe(data.candidates[0].model);
  });
  it('tells in the words of the client what no endpoint can serve', async () => {
    const { ask } = gemini();
    const { status, text } = await ask(':explain', { contents: [] });
    expect([status, JSON.parse(text).error.status]).toEqual([400, 'INVALID_ARGUMENT']);
  });
});

describe('the time to wait', () => {
  const retryInfo = ({ details }: Json) => details.find((one: Json) => one['@type'].endsWith('RetryInfo'));
  it('is in the details of an error, where a provider has named one', async () => {
    const { ask, upstream } = gemini({ retry: { maxAttempts: 1 } });
    upstream.always({ status: 429, headers: { 'retry-after': '7' }, body: errorBody('Slow down') });
    const { status, text, headers } = await ask(':generateContent');
    expect([status, headers.get('retry-after')]).toEqual([429, '7']);
    expect(retryInfo(JSON.parse(text).error)).toMatchObject({ retryDelay: '7s' });
  });
  it('is in the details of the error of a stream that had begun', async () => {
    const { ask, upstream, gateway } = gemini();
    upstream.answer({ body: [sse(chunk({ content: 'Hi' })), { waitMs: 1000 }, sse(chunk({}, 'stop'))] });
    const asked = ask(':streamGenerateContent?alt=sse');
    await gateway.close();
    const { text } = await asked;
    expect(text).not.toContain('finishReason');
    const error = JSON.parse(text.slice(text.lastIndexOf('{"error"'))).error;
    expect([error.code, retryInfo(error)]).toMatchObject([503, { retryDelay: '1s' }]);
    expect(text).not.toContain('retry_after_ms');
  });
});

describe('the error of a stream of events that had begun', () => {
  const broken = sse(chunk({ content: 'Hi' })) + sse({ error: { message: 'Broken', code: 500 } });
  const begin = async (query: string) => {
    const made = testGateway();
    made.upstream.answer({ body: [broken] });
    const request = new Request(`http://gateway.test${path}:streamGenerateContent${query}`, {
      method: 'POST',
      headers: { 'x-goog-api-key': testKey, 'content-type': 'application/json' },
      body: JSON.stringify({ contents: [{ parts: [{ text: 'Hello' }] }] }),
    });
    const response = await made.run(made.gateway.fetch(request));
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const next = async () => new TextDecoder().decode((await made.run(reader.read())).value);
    return { ...made, next };
  };
  it('arrives by itself, a moment after the events: clients read it nowhere else', async () => {
    const { next, clock } = await begin('?alt=sse');
    const said = await next();
    expect(said).toMatch(/^data: .*Hi.*\r\n\r\n$/);
    const saidAtMs = clock.now();
    const error = JSON.parse(await next());
    expect(error).toMatchObject({ error: { code: 502, status: 'UNAVAILABLE' } });
    expect(clock.now() - saidAtMs).toBeGreaterThanOrEqual(30);
    expect(await next()).toBe('');
  });
  it('is the last element of an array, in one piece with it', async () => {
    const { next } = await begin('');
    const all = (await next()) + (await next());
    expect(JSON.parse(`${all}]`).at(-1)).toMatchObject({ error: { code: 502 } });
  });
});
