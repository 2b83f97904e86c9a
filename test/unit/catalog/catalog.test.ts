import { expect, it } from 'vitest';
import { createCatalog } from '../../../src/catalog/catalog.ts';

const dataPolicy = { zeroRetention: true, trains: false };
const listed = { slug: 'up/listed', name: 'Listed', endpoints: [] };
const nobody = new Set<string>();
const catalog = createCatalog(
  [listed],
  new Map([
    ['up', { dataPolicy, isConfigured: true }],
    ['other', { dataPolicy, isConfigured: false }],
  ]),
);
const model = (slug: string, own = nobody) => catalog.model(slug, own);

it("knows what is listed, and passes the rest of a provider's slug on to it", () => {
  expect(model('up/listed')).toBe(listed);
  expect(model('up/vendor/x:7b')).toMatchObject({
    slug: 'up/vendor/x:7b',
    endpoints: [
      {
        providerSlug: 'up',
        tag: 'up',
        upstreamModel: 'vendor/x:7b',
        pricing: null,
        supportedParameters: null,
        dataPolicy,
      },
    ],
  });
});

it('passes on to a provider the operator did not set up only who brings a credential for it', () => {
  expect(model('other/x')).toBe(null);
  expect(model('other/x', new Set(['other']))).toMatchObject({ endpoints: [{ providerSlug: 'other' }] });
});

it.each(['', '/', 'up', 'up/', '/up', 'down/x', 'UP/x', 'constructor/x', '__proto__/x'])(
  'knows no model "%s"',
  (slug) => {
    expect(model(slug)).toBe(null);
  },
);
