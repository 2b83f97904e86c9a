import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/base/errors.ts';
import { askOf } from '../../../src/call/ask.ts';
import { type ByokCredential, type HealthView, healthKey } from '../../../src/call/facts.ts';
import type { Endpoint, Model } from '../../../src/call/model.ts';
import type { Plan } from '../../../src/call/plan.ts';
import { defaultWorkspaceId } from '../../../src/call/workspace.ts';
import { describeRoute } from '../../../src/routing/describe.ts';
import { type PlanInput, planRoute } from '../../../src/routing/plan.ts';
import { routedChat } from '../../../src/routing/routed.ts';
import { requestedSlugs } from '../../../src/routing/slugs.ts';
import type { ChatRequest } from '../../../src/schema/chat/chat.ts';

const messages = [{ role: 'user' as const, content: 'Hi' }];
const endpoint = (providerSlug: string, modelSlug: string, fields: Partial<Endpoint> = {}): Endpoint => ({
  modelSlug,
  providerSlug,
  tag: providerSlug,
  upstreamModel: `${providerSlug}-${modelSlug}`,
  pricing: null,
  contextLength: null,
  maxCompletionTokens: null,
  quantization: null,
  supportedParameters: null,
  dataPolicy: { zeroRetention: null, trains: null },
  ...fields,
});
const model = (slug: string, ...providers: string[]): Model => ({
  slug,
  name: slug,
  endpoints: providers.map((one) => endpoint(one, slug)),
});

/** Nothing is known but what rests. */
const healthWith = (resting: Readonly<Record<string, number>>): HealthView => ({
  cooldownUntil: (key) => resting[key],
  hasOutage: () => false,
  latency: () => null,
  latencyP95: () => null,
  throughput: () => null,
});

function plan(models: Model[], fields: Partial<ChatRequest> = {}, facts: Partial<PlanInput['facts']> = {}) {
  const ask = askOf(fields.model || fields.models ? { messages, ...fields } : { messages, model: 'm/1', ...fields });
  return planRoute({
    routed: routedChat(ask, facts, null),
    view: {
      models,
      model: (slug) => models.find((one) => one.slug === slug) ?? null,
      aliasOf: () => null,
      named: () => [],
    },
    pluginVariants: new Map([['online', 'web']]),
    brand: 'service',
    isConfigured: () => true,
    isSandbox: () => false,
    hasOnlySandboxes: false,
    facts: {
      health: healthWith({}),
      random: () => 0.5,
      pinned: () => null,
      defaultSort: null,
      usableProviders: new Set(['a', 'b', 'c']),
      byokCredentials: [],
      workspaceId: defaultWorkspaceId,
      apiKeyHash: null,
      nowMs: 1000,
      ...facts,
    },
    providerName: (slug) => slug.toUpperCase(),
  });
}

function failure(run: () => unknown): GatewayError {
  try {
    run();
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
  throw new Error('It did not fail');
}

const own = (id: string, provider: string, fields: Partial<ByokCredential> = {}): ByokCredential => ({
  id,
  provider,
  isFallback: false,
  allowedModels: null,
  allowedUserIds: null,
  allowedApiKeyHashes: null,
  ...fields,
});
/** Provider of each try, with the id of the workspace's own credential. */
const withWhom = ({ targets }: Plan) =>
  targets.map(({ endpoint: { providerSlug }, credential }) =>
    credential.kind === 'byok' ? `${providerSlug}:${credential.id}` : providerSlug,
  );

describe("the workspace's own credentials", () => {
  const two = [model('m/1', 'a', 'b')];

  it("come first in their order, then the operator's, then those that are fallbacks", () => {
    const byokCredentials = [own('1', 'b'), own('2', 'a'), own('3', 'a'), own('9', 'a', { isFallback: true })];
    const planned = plan(two, { model: 'm/1' }, { byokCredentials });
    expect(withWhom(planned)).toEqual(['a:2', 'a:3', 'b:1', 'a', 'b', 'a:9']);
    expect(planned.targets.map(({ isByok }) => isByok)).toEqual([true, true, true, false, false, true]);
  });
  it('follow the order the caller wishes', () => {
    const byokCredentials = [own('1', 'a'), own('2', 'b')];
    expect(withWhom(plan(two, { model: 'm/1', provider: { order: ['b'] } }, { byokCredentials }))).toEqual([
      'b:2',
      'a:1',
      'b',
      'a',
    ]);
  });
  it('reach a provider for which the operator has none', () => {
    const planned = plan([model('m/1', 'x')], { model: 'm/1' }, { byokCredentials: [own('1', 'x')] });
    expect([withWhom(planned), planned.excluded]).toEqual([['x:1'], []]);
  });
  it.each<[string, Partial<ByokCredential>, boolean]>([
    ['any model', {}, true],
    ['this model', { allowedModels: ['m/1'] }, true],
    ['models by pattern', { allowedModels: ['m/*'] }, true],
    ['another model', { allowedModels: ['m/2'] }, false],
    ['this user', { allowedUserIds: ['u1'] }, true],
    ['another user', { allowedUserIds: ['u2'] }, false],
    ['this api key', { allowedApiKeyHashes: ['h1'] }, true],
    ['another api key', { allowedApiKeyHashes: ['h2'] }, false],
    ['this model, but another user', { allowedModels: ['m/1'], allowedUserIds: ['u2'] }, false],
  ])('for %s', (_, restriction, fits) => {
    const facts = { byokCredentials: [own('1', 'a', restriction)], apiKeyHash: 'h1' };
    expect(withWhom(plan([model('m/1', 'a')], { model: 'm/1', user: 'u1' }, facts))).toEqual(
      fits ? ['a:1', 'a'] : ['a'],
    );
  });
  it('do not pass the data policy a caller asks for', () => {
    const facts = { byokCredentials: [own('1', 'a')] };
    const refused = failure(() => plan([model('m/1', 'a')], { model: 'm/1', provider: { zdr: true } }, facts));
    expect(refused.metadata?.excluded).toEqual([{ model: 'm/1', provider: 'a', filter: 'zdr' }]);
  });
  it('rest alone when they were refused', () => {
    const facts = {
      byokCredentials: [own('1', 'a'), own('2', 'a')],
      health: healthWith({
        [healthKey(endpoint('a', 'm/1'), {
          kind: 'byok',
          provider: 'a',
          id: '1',
          workspaceId: defaultWorkspaceId,
        })]: 5000,
      }),
    };
    expect(withWhom(plan([model('m/1', 'a')], { model: 'm/1' }, facts))).toEqual(['a:2', 'a']);
  });
  it('are shown as the one endpoint they reach', () => {
    const planned = plan([model('m/1', 'a')], { model: 'm/1' }, { byokCredentials: [own('1', 'a')] });
    expect(
      describeRoute([{ plan: planned, target: planned.targets[0] ?? null, attempts: [] }], [], null),
    ).toMatchObject({
      is_byok: true,
      endpoints: { total: 1, available: [{ provider: 'A', model: 'm/1', selected: true }] },
    });
  });
});

describe('a plan', () => {
  it('tries the endpoints of each model in order, and holds no key', () => {
    const { targets, strategy, requested, excluded } = plan([model('m/1', 'a', 'b'), model('m/2', 'c')], {
      model: 'm/1',
      models: ['m/2'],
    });
    expect(targets.map(({ providerName, modelIndex }) => [providerName, modelIndex])).toEqual([
      ['A', 0],
      ['B', 0],
      ['C', 1],
    ]);
    expect([strategy, requested, excluded]).toEqual(['fallback', 'm/1', []]);
    expect(targets[0]?.credential).toEqual({ kind: 'operator', provider: 'a' });
    expect(plan([model('m/1', 'a')]).strategy).toBe('direct');
  });
  it('is the same for the same input, and changes nothing of it', () => {
    const models = [model('m/1', 'b', 'a')];
    const before = structuredClone(models);
    const fields = { provider: { order: ['a'] } };
    expect(plan(models, fields)).toEqual(plan(models, fields));
    expect(models).toEqual(before);
  });
  it('leaves out providers without a credential and endpoints that rest, and says so', () => {
    const models = [model('m/1', 'a', 'b', 'c', 'd')];
    const { targets, excluded } = plan(models, {}, { health: healthWith({ 'b b-m/1': 9000 }) });
    expect(targets.map(({ providerName }) => providerName)).toEqual(['A', 'C']);
    expect(excluded).toEqual([
      { model: 'm/1', provider: 'b', filter: 'cooldown' },
      { model: 'm/1', provider: 'd', filter: 'credentials' },
    ]);
  });
  it('that would be empty is 503 while something only rests, with the shortest wait', () => {
    const health = healthWith({ 'a a-m/1': 61_000, 'b b-m/1': 31_500 });
    expect(failure(() => plan([model('m/1', 'a', 'b', 'd')], {}, { health }))).toMatchObject({
      status: 503,
      retryAfterMs: 30_500,
    });
  });
  it('that would be empty is 404 otherwise, naming each rule', () => {
    const error = failure(() => plan([model('m/1', 'a', 'd')], { provider: { ignore: ['a'] } }));
    expect(error.status).toBe(404);
    expect(error.metadata?.excluded).toEqual([
      { model: 'm/1', provider: 'a', filter: 'ignore' },
      { model: 'm/1', provider: 'd', filter: 'credentials' },
    ]);
    expect(error.message).toContain('ignore, credentials');
  });
});

describe('the models of a request', () => {
  it.each<[Partial<ChatRequest>, string | null, string[]]>([
    [{ model: 'a' }, 'd', ['a']],
    [{ model: 'a', models: ['b', 'a', 'c'] }, 'd', ['a', 'b', 'c']],
    [{ models: ['b', 'b'] }, 'd', ['b']],
    [{ models: [] }, 'd', ['d']],
    [{}, 'd', ['d']],
  ])('%j, default %s: %j', (fields, otherwise, slugs) => {
    expect(requestedSlugs({ messages, ...fields }, otherwise)).toEqual(slugs);
  });
  it('must be known, all of them, and a huge name is cut', () => {
    expect(failure(() => requestedSlugs({}, null)).status).toBe(400);
    const error = failure(() => plan([], { model: 'x'.repeat(5000) }));
    expect([error.status, error.message.length < 200]).toEqual([400, true]);
  });
});

it('a route that reached nobody is described as such', () => {
  const { targets, ...rest } = plan([model('m/1', 'a', 'b')]);
  expect(describeRoute([{ plan: { targets, ...rest }, target: null, attempts: [] }], [], null)).toEqual({
    requested: 'm/1',
    strategy: 'direct',
    region: null,
    summary: 'available=2, selected=none',
    attempt: 0,
    is_byok: false,
    endpoints: {
      total: 2,
      available: [
        { provider: 'A', model: 'm/1', selected: false },
        { provider: 'B', model: 'm/1', selected: false },
      ],
    },
  });
});
