import { describe, expect, it } from 'vitest';
import { type GatewayOptions, OptionsError, optionsSchema, resolveOptions } from '../../../src/options.ts';
import { builtInProviders } from '../../../src/providers/index.ts';
import { defineProvider } from '../../../src/providers/provider.ts';
import { validationIssues } from '../../../src/schema/chat/validate.ts';

const apiKeys = [{ key: 'a-key-of-somebody' }];
const own = defineProvider({ ...(builtInProviders[0] as (typeof builtInProviders)[0]), slug: 'own' });
const model = (endpoints: object[], more: object = {}) => ({ slug: 'acme/fast', endpoints, ...more });
const endpoint = { provider: 'up', model: 'm' };
const prices = { prompt: '0.000001', completion: 2e-6 };

/** What the schema of all options says. */
function byWholeSchema(options: unknown): unknown {
  const parsed = optionsSchema().safeParse(options);
  return parsed.success ? { ...parsed.data, brand: parsed.data.brand ?? 'service' } : validationIssues(parsed.error);
}

function resolved(options: unknown): unknown {
  try {
    return resolveOptions(options as GatewayOptions);
  } catch (error) {
    if (error instanceof OptionsError) return error.issues;
    throw error;
  }
}

describe('options are checked by the schemas of those that are given', () => {
  it.each<[string, unknown]>([
    ['no options', {}],
    ['a key alone', { apiKeys }],
    ['something undefined', { apiKeys, region: undefined, limits: undefined }],
    ['sections in part', { apiKeys, limits: { depth: 5 }, timeouts: { idleMs: 7 }, webSockets: { upstream: {} } }],
    [
      'providers of both kinds',
      { apiKeys, providers: { own, up: { baseUrl: 'http://up.test', dataPolicy: {} }, a: {} } },
    ],
    ['a provider with a field that another has', { apiKeys, providers: { a: { apiKey: ' Bearer x ' }, b: {} } }],
    ['a provider with an unknown field', { apiKeys, providers: { a: { key: 'x' } } }],
    ['a provider that is none', { apiKeys, providers: { a: null, b: 5 } }],
    [
      'models',
      { apiKeys, models: [model([endpoint, { ...endpoint, pricing: prices, variant: 'flex' }], { name: 'F' })] },
    ],
    ['a model without endpoints', { apiKeys, models: [{ slug: 'acme/fast' }] }],
    ['a model without a slug beside one with it', { apiKeys, models: [model([endpoint]), { endpoints: [endpoint] }] }],
    [
      'a price without that of the prompt',
      { apiKeys, models: [model([{ ...endpoint, pricing: { completion: 1e-6 } }])] },
    ],
    [
      'prices of long prompts',
      { apiKeys, models: [model([{ ...endpoint, pricing: { ...prices, longPrompts: [{}] } }])] },
    ],
    ['models that are no list', { apiKeys, models: { 'acme/fast': {} } }],
    ['an unknown option', { apiKeys, model: [] }],
    ['two networks', { apiKeys, proxy: false, fetch: () => undefined }],
    ['what an object inherits', Object.create({ apiKeys, providers: Object.create({ a: {} }), storeCacheMs: 3 })],
    ['a provider of a class', { apiKeys, providers: { a: Object.create({ apiKey: 'x' }) } }],
    ['a null', null],
  ])('with the same result as by all of them: %s', (_, options) => {
    expect(resolved(options)).toEqual(byWholeSchema(options));
  });

  it('with defaults that no two gateways share', () => {
    const [one, other] = [resolveOptions({ apiKeys }), resolveOptions({ apiKeys })];
    expect(one.limits).toEqual(other.limits);
    expect(one.limits).not.toBe(other.limits);
  });
});
