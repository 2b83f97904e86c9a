import { expect, it } from 'vitest';
import { webFetchDefaults } from '../../src/server-tools/web-fetch.ts';
import { gatewayShownIn, settingsIn } from './plugin-page.ts';

const path = 'docs/plugins/web-fetch.md';

it(`${path} shows a gateway that can be made, and every setting with its default`, async () => {
  const gateway = await gatewayShownIn(path);
  expect(typeof gateway.fetch).toBe('function');
  await gateway.close();
  expect(settingsIn(path)).toEqual([
    ['isDefault', 'false'],
    ['maxUses', String(webFetchDefaults.maxUses)],
    ['maxContentTokens', String(webFetchDefaults.maxContentTokens)],
    ['allowedDomains', undefined],
    ['blockedDomains', undefined],
  ]);
});
