import { describe, expect, it } from 'vitest';
import { OptionsError } from '../../src/options.ts';
import { hello, type TestGateway, testGateway } from '../support/gateway.ts';
import { describeWithShared, validateAnswerAgainstReference } from '../support/reference.ts';
import { completion, errorBody } from '../support/upstream.ts';

const slug = 'acme/fast';
const options = {
  compat: 'openrouter' as const,
  catalog: { builtInModels: false },
  providers: { deepinfra: { apiKey: 'sk-test' }, groq: { apiKey: 'sk-test' } },
  models: [
    {
      slug,
      endpoints: [
        { provider: 'deepinfra', model: 'fast' },
        { provider: 'groq', model: 'fast', dataPolicy: { zeroRetention: true }, disabled: true },
      ],
    },
  ],
};

const statuses = async ({ call }: TestGateway) =>
  (await call('GET', `/models/${slug}/endpoints`)).json.data.endpoints.map(
    (endpoint: { status: unknown }) => endpoint.status,
  );

describe("compat: 'openrouter'", () => {
  it('names header, field and comments after that router', async () => {
    const { send, upstream } = testGateway(options);
    upstream.always({ body: completion() });
    const response = await send({ model: slug, messages: hello }, { 'X-OpenRouter-Metadata': 'enabled' });
    expect(await response.json()).toMatchObject({ openrouter_metadata: { requested: slug } });
  });
  it('gives way to a brand that is named', async () => {
    const { send, upstream } = testGateway({ ...options, brand: 'acme' });
    upstream.always({ body: completion() });
    const response = await send({ model: slug, messages: hello }, { 'X-Acme-Metadata': 'enabled' });
    expect(await response.json()).toMatchObject({ acme_metadata: { requested: slug } });
    expect(await statuses(testGateway({ ...options, brand: 'acme' }))).toEqual([0, -10]);
  });
  it('shows the status of an endpoint as a number: 0 as long as all is well, less the worse it does', async () => {
    const tested = testGateway({ ...options, retry: { maxAttempts: 1 } });
    const { call, post, upstream } = tested;
    expect(await statuses(tested)).toEqual([0, -10]);
    const ask = (ok: boolean) => {
      upstream.answer(ok ? { body: completion() } : { status: 500, body: errorBody('broken') });
      return post({ model: slug, messages: hello });
    };
    for (const ok of [true, true, true, true, false]) await ask(ok);
    expect(await statuses(tested)).toEqual([-1, -10]);
    for (let count = 0; count < 6; count++) await ask(false);
    expect(await statuses(tested)).toEqual([-2, -10]);
    const { json } = await call('GET', '/endpoints/zdr');
    expect(json.data.map(({ status }: { status: unknown }) => status)).toEqual([-2]);
  });
  it('shows no interval of a budget that never starts anew', async () => {
    const { call } = testGateway(options);
    const path = '/workspaces/default/budgets';
    for (const interval of ['daily', 'lifetime']) {
      const shown = interval === 'lifetime' ? null : interval;
      const put = await call('PUT', `${path}/${interval}`, { limit_usd: 1 });
      expect(put.json.data.reset_interval).toBe(shown);
      expect((await call('GET', `${path}/${interval}`)).json).toEqual(put.json);
    }
    const { json } = await call('GET', path);
    expect(json.data.map((one: { reset_interval: unknown }) => one.reset_interval)).toEqual(['daily', null]);
  });
  it('knows no other wire', () => {
    expect(() => testGateway({ compat: 'another' as 'openrouter' })).toThrow(OptionsError);
  });
});

describeWithShared("compat: 'openrouter', against the reference as it stands", () => {
  it.each([
    ['get /endpoints/zdr', '/endpoints/zdr'],
    ['get /models/{author}/{slug}/endpoints', `/models/${slug}/endpoints`],
    ['get /workspaces/{id}/budgets', '/workspaces/default/budgets'],
  ])('%s', async (operation, path) => {
    const { call } = testGateway(options);
    await call('PUT', '/workspaces/default/budgets/lifetime', { limit_usd: 1 });
    const { status, json } = await call('GET', path);
    expect(JSON.stringify(json).length).toBeGreaterThan(100);
    expect(validateAnswerAgainstReference(operation, status, json)).toEqual([]);
  });
});

describe('without compat', () => {
  it('the wire is that of the interface: words, and the brand "service"', async () => {
    const { compat: _, ...plain } = options;
    const tested = testGateway(plain);
    expect(await statuses(tested)).toEqual(['default', 'disabled']);
    const { json } = await tested.call('PUT', '/workspaces/default/budgets/lifetime', { limit_usd: 1 });
    expect(json.data.reset_interval).toBe('lifetime');
    tested.upstream.always({ body: completion() });
    const response = await tested.send({ model: slug, messages: hello }, { 'X-Service-Metadata': 'enabled' });
    expect(await response.json()).toMatchObject({ service_metadata: { requested: slug } });
  });
});
