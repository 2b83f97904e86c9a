import { it } from 'vitest';
import { webFetchDefaults } from '../../src/server-tools/web-fetch/index.ts';
import { checkPage } from './plugin-page.ts';

const path = 'docs/plugins/web-fetch.md';

it(`${path} shows a gateway that can be made, and every setting with its default`, async () => {
  await checkPage(path, [
    ['isDefault', 'false'],
    ['maxUses', String(webFetchDefaults.maxUses)],
    ['maxContentTokens', String(webFetchDefaults.maxContentTokens)],
    ['allowedDomains', undefined],
    ['blockedDomains', undefined],
  ]);
});
