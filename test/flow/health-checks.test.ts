import { afterEach, describe, expect, it } from 'vitest';
import { openaiChat } from '../../src/dialects/openai-chat/index.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { defineProvider } from '../../src/providers/provider.ts';
import type { TransportRequest, TransportResponse } from '../../src/transport/transport.ts';
import { hello, type TestGateway, testGateway, testPricing } from '../support/gateway.ts';
import { completion } from '../support/upstream.ts';

const healthCheck = { path: '/health', intervalMs: 1_000, timeoutMs: 500, failures: 2, successes: 1 };
const ask = { model: 'acme/both', messages: hello };
const pricing = testPricing;

type Answer = { status?: number; body?: string } | 'refuse' | 'hang';

const open: TestGateway[] = [];
afterEach(async () => {
  for (const { gateway } of open.splice(0)) await gateway.close();
});

/** A gateway with two servers, `a` and `b`, whose checks are answered by their host. */
function withChecks(own: object = {}, options: Partial<GatewayOptions> = {}) {
  const answers: Record<string, Answer> = {};
  const checks: TransportRequest[] = [];
  const warnings: [object, string][] = [];
  let tested: TestGateway;
  const send = async (request: TransportRequest): Promise<TransportResponse> => {
    if (request.method === 'POST') return tested.upstream.transport.send(request);
    checks.push(request);
    const answer = answers[new URL(request.url).hostname] ?? {};
    if (answer === 'refuse') throw Object.assign(new Error('no'), { code: 'ECONNREFUSED' });
    if (answer === 'hang')
      return new Promise((_, reject) => request.signal.addEventListener('abort', () => reject(request.signal.reason)));
    const rest = [new TextEncoder().encode(answer.body ?? 'ok')];
    return {
      status: answer.status ?? 200,
      headers: {},
      body: { read: async () => rest.shift() ?? null, cancel: () => undefined },
    };
  };
  tested = testGateway({
    providers: {
      a: { baseUrl: 'https://a.test/v1', apiKey: 'sk-a-0123456789', healthCheck, ...own },
      b: { baseUrl: 'https://b.test/v1', healthCheck },
    },
    models: [
      {
        slug: 'acme/both',
        endpoints: [
          { provider: 'a', model: 'm', pricing },
          { provider: 'b', model: 'm', pricing },
        ],
      },
      { slug: 'acme/a', endpoints: [{ provider: 'a', model: 'm', pricing }] },
    ],
    transport: { send },
    logger: { info: () => undefined, error: () => undefined, warn: (...line) => void warnings.push(line) },
    ...options,
  });
  open.push(tested);
  tested.upstream.always({ body: completion() });
  const { clock } = tested;
  /** Lets this many checks of each server run. */
  const pass = async (rounds: number) => {
    await clock.advance(0);
    for (let n = 0; n < rounds; n++) await clock.advance(1_000);
  };
  const served = async (body: object = ask) => (await tested.post(body)).json.provider;
  return { ...tested, answers, checks, warnings, pass, served };
}

describe('a server that its health check finds down', () => {
  it.each<[string, Answer, string]>([
    ['an error', { status: 503 }, 'status 503'],
    ['a wrong path', { status: 404 }, 'status 404'],
    ['no connection', 'refuse', 'connection refused (ECONNREFUSED)'],
    ['no answer', 'hang', 'no answer within 500 ms'],
  ])('by %s is passed over while another is up, and used again when it is up', async (_, answer, failure) => {
    const { answers, pass, served, gateway, warnings, records } = withChecks();
    await pass(1);
    expect(await served()).toBe('a');
    answers['a.test'] = answer;
    await pass(4);
    expect(gateway.state().healthChecks).toEqual([
      { provider: 'a', isUp: false, since: expect.any(String), failure },
      { provider: 'b', isUp: true, since: expect.any(String), failure: null },
    ]);
    expect(await served()).toBe('b');
    expect(records.at(-1)?.attempts).toHaveLength(1);
    expect(records.at(-1)?.generations[0]?.excluded).toEqual([
      { model: 'acme/both', provider: 'a', filter: 'health_check' },
    ]);
    answers['a.test'] = {};
    await pass(3);
    expect(await served()).toBe('a');
    expect(warnings.map(([fields, text]) => [(fields as { provider: string }).provider, text])).toEqual([
      ['a', 'A provider is down by its health check'],
      ['a', 'A provider is up again'],
    ]);
  });
  it('is tried all the same where nothing else is left', async () => {
    const { answers, pass, served, gateway } = withChecks();
    answers['a.test'] = 'refuse';
    answers['b.test'] = 'refuse';
    await pass(3);
    expect(await served()).toBe('a');
    expect(await served({ ...ask, model: 'acme/a' })).toBe('a');
    expect(await served({ ...ask, provider: { only: ['b'] } })).toBe('b');
    expect((await gateway.ready()).isReady).toBe(true);
  });
  it('is passed over in an explanation too, and down in the listings', async () => {
    const { answers, pass, call } = withChecks();
    answers['a.test'] = { status: 500 };
    await pass(3);
    const { data } = (await call('POST', '/chat/completions/explain', ask)).json;
    expect(data.candidates.map(({ provider }: { provider: string }) => provider)).toEqual(['b']);
    expect(data.excluded).toEqual([{ model: 'acme/both', provider: 'a', filter: 'health_check' }]);
    const { endpoints } = (await call('GET', '/models/acme/both/endpoints')).json.data;
    expect(endpoints.map(({ status }: { status: string }) => status)).toEqual(['down', 'default']);
  });
  it.each([401, 403, 429])('is not one that answers %i: it is there', async (status) => {
    const { answers, pass, gateway } = withChecks();
    answers['a.test'] = { status };
    await pass(5);
    expect(gateway.state().healthChecks[0]?.isUp).toBe(true);
  });
});

describe('a health check', () => {
  it('asks the root of the server, with the key and the headers of the operator', async () => {
    const { checks, pass } = withChecks({ headers: { 'x-team': 'blue' } });
    await pass(0);
    const [first] = checks;
    expect([first?.url, first?.headers.authorization, first?.headers['x-team']]).toEqual([
      'https://a.test/health',
      'Bearer sk-a-0123456789',
      'blue',
    ]);
  });
  it('asks for the list of models without a path, and finds endpoints whose model is not in it', async () => {
    const { checks, answers, pass, served } = withChecks({
      healthCheck: { ...healthCheck, path: undefined, checkModels: true },
    });
    answers['a.test'] = { body: JSON.stringify({ object: 'list', data: [{ id: 'other' }] }) };
    await pass(1);
    expect(checks[0]?.url).toBe('https://a.test/v1/models');
    expect(await served()).toBe('b');
    answers['a.test'] = { body: JSON.stringify({ data: [{ id: 'm' }, 7, null] }) };
    await pass(1);
    expect(await served()).toBe('a');
    answers['a.test'] = { body: '<html>' };
    await pass(3);
    expect(await served()).toBe('b');
  });
  it('says nothing of a server whose request cannot be signed', async () => {
    const auth = () => Promise.reject(new Error('no'));
    const made = defineProvider({ slug: 'a', baseUrl: 'https://a.test/v1', dialect: openaiChat, auth });
    const { pass, gateway } = withChecks(
      {},
      { providers: { a: { ...made, healthCheck } as never, b: { baseUrl: 'https://b.test/v1' } } },
    );
    await pass(5);
    expect(gateway.state().healthChecks).toMatchObject([{ provider: 'a', isUp: true, failure: null }]);
  });
  it('says nothing of a server for which there is no key', async () => {
    const { checks, pass, gateway } = withChecks({ apiKey: () => Promise.reject(new Error('down')) });
    await pass(5);
    expect(gateway.state().healthChecks[0]).toMatchObject({ isUp: true, failure: null });
    expect(checks.every(({ url }) => url.startsWith('https://b.test'))).toBe(true);
  });
  it('ends with the gateway', async () => {
    const { gateway, checks, pass, clock, answers } = withChecks();
    answers['b.test'] = 'hang';
    await pass(1);
    await gateway.close();
    const made = checks.length;
    await clock.advance(60_000);
    expect([checks.length, checks.filter(({ signal }) => signal.aborted).length > 0]).toEqual([made, true]);
  });
  it('is not made unless an option asks for it', async () => {
    const { gateway, clock } = testGateway();
    await clock.advance(60_000);
    expect(gateway.state().healthChecks).toEqual([]);
  });
  it.each([
    [{ healthCheck: { pth: '/health' } }, 'providers.a.healthCheck.pth: unknown key'],
    [{ healthCheck: { path: 'health' } }, 'providers.a.healthCheck.path: expected a path such as /health'],
    [{ healthCheck: { intervalMs: 0 } }, 'providers.a.healthCheck.intervalMs'],
  ])('refuses the options %j', (own, message) => {
    expect(() => withChecks(own)).toThrow(message);
  });
  it('is refused for a provider inside the process', () => {
    expect(() => testGateway({ providers: { sandbox: { healthCheck: {} } }, models: [] })).toThrow(
      'providers.sandbox.healthCheck: expected none: this provider is inside the process',
    );
  });
});
