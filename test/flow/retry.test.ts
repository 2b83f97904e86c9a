import { describe, expect, it } from 'vitest';
import { hello, testGateway, testPricing, upstreamKeys } from '../support/gateway.ts';
import { completion, errorBody, type ScriptedAnswer, textStream } from '../support/upstream.ts';

const broken = (status: number, headers: Record<string, string> = {}): ScriptedAnswer => ({
  status,
  headers,
  body: errorBody(`Says ${status}`),
});
const fine: ScriptedAnswer = { body: completion() };
const startMs = Date.UTC(2026, 0, 1);

/** Asks once; gives the answer, which upstream models were asked, and how long after the start. */
async function ask(
  answers: readonly ScriptedAnswer[],
  fields: object = {},
  options: Parameters<typeof testGateway>[0] = {},
) {
  const { post, upstream, records } = testGateway(options);
  upstream.answer(...answers);
  const answer = await post({ model: 'acme/fast', messages: hello, ...fields });
  return {
    ...answer,
    asked: upstream.sent.map(({ body }) => body.model),
    times: upstream.sent.map(({ atMs }) => atMs - startMs),
    record: records[0],
    records,
  };
}

describe('a transient failure', () => {
  it.each([408, 425, 429, 500, 502, 503, 504, 520, 529])(
    'of status %i is tried again at the same endpoint',
    async (status) => {
      const { asked, status: answered } = await ask([broken(status), fine]);
      expect([answered, asked]).toEqual([200, ['up-fast', 'up-fast']]);
    },
  );
  it.each<[string, ScriptedAnswer]>([
    ['of the network', { instead: 'refuse' }],
    ['in time', { instead: 'hang' }],
    ['of a bad answer', { body: '<html>' }],
  ])('%s is tried again at the same endpoint', async (_, failure) => {
    const { asked } = await ask([failure, fine], {}, { timeouts: { jsonHeadersMs: 60_000 } });
    expect(asked).toEqual(['up-fast', 'up-fast']);
  });
  it('is tried again after a backoff that doubles, less a random part of up to half', async () => {
    const retry = { attemptsPerEndpoint: 4, baseDelayMs: 1000, maxDelayMs: 3000, maxAttempts: 4 };
    const failing = [500, 500, 500].map((status) => broken(status));
    const times = async (random: number) => (await ask([...failing, fine], {}, { retry, random: () => random })).times;
    expect(await times(0)).toEqual([0, 1000, 3000, 6000]);
    expect(await times(0.5)).toEqual([0, 750, 2250, 4500]);
    expect(await times(0.999_999)).toEqual([0, 500, 1500, 3000]);
  });
  it('is tried so often at one endpoint, then at the next, and so often in all', async () => {
    const failing = Array.from({ length: 9 }, () => broken(500));
    const asked = async (retry: object) =>
      (await ask(failing, { model: 'acme/pair', models: ['acme/other'] }, { retry })).asked;
    expect(await asked({})).toEqual(['up-pair', 'up-pair', 'alt-pair', 'alt-pair', 'alt-other']);
    expect(await asked({ attemptsPerEndpoint: 1 })).toEqual(['up-pair', 'alt-pair', 'alt-other']);
    expect(await asked({ attemptsPerEndpoint: 3, maxAttempts: 4 })).toEqual([
      'up-pair',
      'up-pair',
      'up-pair',
      'alt-pair',
    ]);
    expect(await asked({ maxAttempts: 1 })).toEqual(['up-pair']);
  });
  it('does not make the next endpoint wait', async () => {
    const { times } = await ask([broken(500), fine], { model: 'acme/pair' }, { retry: { attemptsPerEndpoint: 1 } });
    expect(times).toEqual([0, 0]);
  });
});

describe('a provider that asks to be left alone', () => {
  it.each<[string, Record<string, string>, number]>([
    ['in seconds', { 'retry-after': '3' }, 3000],
    ['in milliseconds', { 'retry-after-ms': '1234' }, 1234],
    ['until a date', { 'retry-after': new Date(startMs + 5000).toUTCString() }, 5000],
    ['until a date that has passed', { 'retry-after': new Date(startMs - 5000).toUTCString() }, 188],
    ['for no time, which does not shorten the backoff', { 'retry-after': '0' }, 188],
    ['in words nobody understands', { 'retry-after': 'a while' }, 188],
    ['for exactly as long as we wait', { 'retry-after': '10' }, 10_000],
  ])('%s is', async (_, headers, waitMs) => {
    const { times } = await ask([broken(429, headers), fine]);
    expect(times).toEqual([0, waitMs]);
  });
  it('for longer than we wait is, and the next endpoint is tried at once', async () => {
    const { asked, times, status } = await ask([broken(429, { 'retry-after': '11' }), fine], { model: 'acme/pair' });
    expect([status, asked, times]).toEqual([200, ['up-pair', 'alt-pair'], [0, 0]]);
  });
  it('for longer than we wait rests, also for the requests that follow', async () => {
    const { post, upstream, clock } = testGateway();
    upstream.answer(broken(429, { 'retry-after': '60' }));
    const first = await post({ model: 'acme/fast', messages: hello });
    expect([first.status, first.headers.get('retry-after')]).toEqual([429, '60']);
    const second = await post({ model: 'acme/fast', messages: hello });
    expect([second.status, second.headers.get('retry-after')]).toEqual([503, '60']);
    expect(upstream.sent).toHaveLength(1);
    await clock.advance(60_000);
    upstream.answer(fine);
    expect((await post({ model: 'acme/fast', messages: hello })).status).toBe(200);
  });
});

describe('a refusal', () => {
  it.each([400, 405, 409, 413, 422, 451])(
    "of status %i, the caller's fault, is not tried again nor elsewhere",
    async (status) => {
      const { asked, status: answered, json } = await ask([broken(status)], { model: 'acme/pair' });
      expect([asked, answered]).toEqual([['up-pair'], [413, 422].includes(status) ? status : 400]);
      expect(json.error.message).toBe(`Says ${status}`);
    },
  );
  it('of status 404, a provider without the model, goes on to the next endpoint, and is the answer when none has it', async () => {
    const served = await ask([broken(404), fine], { model: 'acme/pair' });
    expect([served.status, served.asked]).toEqual([200, ['up-pair', 'alt-pair']]);
    const nobody = await ask([broken(404), broken(404)], { model: 'acme/pair' });
    expect([nobody.status, nobody.asked]).toEqual([404, ['up-pair', 'alt-pair']]);
  });
  it("that is the caller's fault goes on to the next model, past the other endpoints of this one", async () => {
    const { asked, json } = await ask([broken(400), fine], { model: 'acme/pair', models: ['acme/other'] });
    expect([asked, json.model]).toEqual([['up-pair', 'alt-other'], 'acme/other']);
  });
  it.each([401, 402, 403])(
    "of status %i, the operator's fault, goes on to the next endpoint at once",
    async (status) => {
      const { asked, times, status: answered } = await ask([broken(status), fine], { model: 'acme/pair' });
      expect([answered, asked, times]).toEqual([200, ['up-pair', 'alt-pair'], [0, 0]]);
    },
  );
  it.each([401, 402, 403])(
    "of status %i is 502 to the caller, who is not told of the operator's account",
    async (status) => {
      const { json, status: answered } = await ask([broken(status)]);
      expect(answered).toBe(502);
      expect(json.error).toEqual({
        code: 502,
        message: "Up refused the gateway's own credentials",
        metadata: { error_type: 'provider_credentials', provider_name: 'Up' },
      });
    },
  );
  it('of our credentials lets the endpoint rest; what has nothing else is told 503 and when to come back', async () => {
    const { post, upstream, clock } = testGateway({ retry: { cooldownMs: 30_000 } });
    upstream.answer(broken(401));
    expect((await post({ model: 'acme/fast', messages: hello })).status).toBe(502);
    await clock.advance(10_000);
    const resting = await post({ model: 'acme/fast', messages: hello });
    expect([resting.status, resting.headers.get('retry-after'), resting.json.error.metadata?.error_type]).toEqual([
      503,
      '20',
      'cooldown',
    ]);
    upstream.answer(fine);
    expect((await post({ model: 'acme/pair', messages: hello })).json.provider).toBe('Up');
    await clock.advance(20_000);
    upstream.answer(fine);
    expect((await post({ model: 'acme/fast', messages: hello })).status).toBe(200);
  });
});

describe('when nobody is left, the caller is told', () => {
  it.each<[string, readonly number[], number]>([
    ['429 when all are rate limited', [429, 429], 429],
    ['502 of a server error', [500, 500], 502],
    ['502 of a bad gateway', [502, 502], 502],
    ['529 of an overload', [529, 529], 529],
    ['529 of a service that is unavailable', [503, 503], 529],
    ["524 of a provider's time-out", [408, 408], 524],
    ["524 of a gateway's time-out", [504, 504], 524],
    ['524 of an edge time-out', [524, 524], 524],
    ['the last failure', [429, 500], 502],
  ])('%s', async (_, statuses, status) => {
    const { status: answered, json } = await ask(statuses.map((one) => broken(one)));
    expect([answered, json.error.message]).toEqual([status, `Says ${statuses.at(-1)}`]);
  });
  it('429 with the smallest of the waits', async () => {
    const waits = ['300', '70', '9000'];
    const models = [
      { slug: 'acme/three', endpoints: [1, 2, 3].map((n) => ({ provider: n === 2 ? 'alt' : 'up', model: `m${n}` })) },
    ];
    const { status, headers } = await ask(
      waits.map((wait) => broken(429, { 'retry-after': wait })),
      { model: 'acme/three' },
      { models },
    );
    expect([status, headers.get('retry-after')]).toEqual([429, '70']);
  });
  it.each([429, 503, 529])('how long the provider asked to be left alone (%i), in whole seconds', async (status) => {
    const { headers } = await ask([broken(status, { 'retry-after-ms': '6400' })], {}, { retry: { maxAttempts: 1 } });
    expect(headers.get('retry-after')).toBe('7');
  });
  it('nothing of other headers of the provider', async () => {
    const { headers } = await ask([
      broken(500, {
        'set-cookie': 'session=1',
        'x-ratelimit-remaining': '0',
        'x-request-id': 'req_1',
        server: 'up',
        'retry-after': '5',
      }),
      broken(500, { 'openai-organization': 'org-1' }),
    ]);
    expect([...headers.keys()].sort()).toEqual(['cache-control', 'content-type', 'x-generation-id']);
  });
  it('which attempts there were', async () => {
    const { json, record, records } = await ask([broken(429), { instead: 'refuse' }, broken(500), { body: '' }], {
      model: 'acme/pair',
    });
    expect(json.error.metadata).toMatchObject({
      provider_name: 'Alt',
      previous_errors: [
        { provider: 'Up', code: 429, status: 'rate_limit_exceeded' },
        { provider: 'Up', code: 502, status: 'provider_unavailable' },
        { provider: 'Alt', code: 500, status: 'provider_unavailable' },
      ],
    });
    expect(records).toHaveLength(1);
    expect(record).toMatchObject({
      outcome: 'failed',
      status: 502,
      model: null,
      provider: null,
      usage: null,
      // The attempt whose answer was empty may have been charged for: eight tokens of its prompt.
      costNanoUsd: 16_000,
    });
    expect(
      record?.attempts.map(({ provider, model, status, errorType }) => [provider, model, status, errorType]),
    ).toEqual([
      ['Up', 'acme/pair', 429, 'rate_limit_exceeded'],
      ['Up', 'acme/pair', 502, 'provider_unavailable'],
      ['Alt', 'acme/pair', 500, 'provider_unavailable'],
      ['Alt', 'acme/pair', 502, 'provider_unavailable'],
    ]);
    const [first, second] = record?.attempts ?? [];
    expect([first?.startedAtMs, second?.startedAtMs]).toEqual([startMs, startMs + 188]);
  });
  it("the provider's code, and a narrower reason where its words say one", async () => {
    const body = errorBody("This model's maximum context length is 8192 tokens", 'context_length_exceeded');
    const { json } = await ask([{ status: 400, body }]);
    expect(json.error.metadata).toEqual({
      error_type: 'context_length_exceeded',
      provider_name: 'Up',
      provider_code: 'context_length_exceeded',
      raw: JSON.stringify(body),
    });
  });
  it('what the provider sent: on one line, bounded, and without the key', async () => {
    const body = JSON.stringify({
      error: { message: 'no', at: `\u001b[31m${upstreamKeys.up}\n`, more: 'x'.repeat(5000) },
    });
    const { json } = await ask([{ status: 400, body }]);
    const raw = json.error.metadata?.raw as string;
    expect(raw).toMatch(/^\{"error":\{"message":"no",.*x…$/);
    expect(raw).not.toContain(upstreamKeys.up);
    expect(raw).toHaveLength(1000);
  });
  it("nothing of what the provider says of the operator's own key", async () => {
    const { json } = await ask([{ status: 401, body: errorBody('Key of account acct-17 is wrong', 'invalid_key') }]);
    expect([json.error.code, JSON.stringify(json).includes('acct-17')]).toEqual([502, false]);
  });
});

describe('models are tried in order', () => {
  it('`model` first, then `models`, each once; the answer is priced and named as the one that served', async () => {
    const free = { ...testPricing, prompt: '0', completion: '0.000001' };
    const models = [
      { slug: 'acme/a', endpoints: [{ provider: 'up', model: 'a', pricing: testPricing }] },
      { slug: 'acme/b', endpoints: [{ provider: 'up', model: 'b', pricing: testPricing }] },
      { slug: 'acme/c', endpoints: [{ provider: 'alt', model: 'c', pricing: free }] },
    ];
    const { asked, json, record } = await ask(
      [broken(400), broken(404), fine],
      { model: 'acme/b', models: ['acme/a', 'acme/b', 'acme/c'] },
      { models },
    );
    expect(asked).toEqual(['b', 'a', 'c']);
    expect(json).toMatchObject({ model: 'acme/c', provider: 'Alt', usage: { cost: 0.000002 } });
    expect(record).toMatchObject({ requested: 'acme/b', model: 'acme/c', provider: 'Alt' });
  });
  it('also for a stream', async () => {
    const { asked, chunks } = await ask([broken(400), { body: textStream('Hi') }], {
      models: ['acme/pair', 'acme/other'],
      model: undefined,
      stream: true,
    });
    expect([asked, chunks[0]?.model]).toEqual([['up-pair', 'alt-other'], 'acme/other']);
  });
});

describe("the caller's own deadline", () => {
  it.each(['x-service-timeout-ms', 'X-Service-Timeout-Ms'])('is 408 (%s)', async (name) => {
    const { post, upstream, clock, records } = testGateway();
    upstream.answer({ instead: 'hang' });
    const { status, json } = await post({ model: 'acme/pair', messages: hello }, { [name]: '1500' });
    expect([status, clock.now() - startMs]).toEqual([408, 1500]);
    expect(json.error.metadata?.error_type).toBe('timeout');
    expect(upstream.sent).toHaveLength(1);
    expect(upstream.sent[0]?.closedAtMs).toBe(startMs + 1500);
    expect(records).toMatchObject([{ outcome: 'failed', status: 408 }]);
  });
  it('also ends a backoff', async () => {
    const { post, upstream, clock } = testGateway();
    upstream.answer(broken(429, { 'retry-after': '9' }));
    expect((await post({ model: 'acme/fast', messages: hello }, { 'x-service-timeout-ms': '1500' })).status).toBe(408);
    expect(clock.now() - startMs).toBe(1500);
  });
  it.each(['-5', '0', '0.0', 'soon', '', '1e3', '0x10', '5s', 'Infinity', 'NaN', '1 2'])(
    'is 400 for %j',
    async (asked) => {
      const { post, call, upstream } = testGateway({ brand: 'acme' });
      for (const name of ['x-service-timeout-ms', 'x-acme-timeout-ms']) {
        const { status, json, headers } = await post({ model: 'acme/fast', messages: hello }, { [name]: asked });
        expect([status, json.error.message]).toEqual([400, `${name}: expected milliseconds, more than 0`]);
        expect(headers.get('x-generation-id')).toMatch(/^gen-/);
        const listed = await call('GET', '/workspaces', undefined, { [name]: asked });
        expect([listed.status, listed.headers.get('x-generation-id')]).toEqual([400, null]);
      }
      expect(upstream.sent).toEqual([]);
    },
  );
  it("is no longer than the operator's, and of two headers the shorter", async () => {
    const { post: postBoth, upstream: hanging, clock: both } = testGateway({ brand: 'acme' });
    hanging.always({ instead: 'hang' });
    await postBoth(
      { model: 'acme/fast', messages: hello },
      { 'x-acme-timeout-ms': '900', 'x-service-timeout-ms': '800.5' },
    );
    expect(both.now() - startMs).toBe(800.5);
    for (const asked of ['99999999', '9'.repeat(400)]) {
      const { post, upstream, clock } = testGateway({ timeouts: { totalMs: 20_000 } });
      upstream.answer({ instead: 'hang' });
      expect((await post({ model: 'acme/fast', messages: hello }, { 'x-service-timeout-ms': asked })).status).toBe(408);
      expect(clock.now() - startMs).toBe(20_000);
    }
  });
});
