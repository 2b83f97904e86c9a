import { expect, it } from 'vitest';
import { gatewayShownIn } from './plugin-page.ts';

const path = 'docs/fetching.md';

it(`${path} shows a gateway that can be made`, async () => {
  const gateway = await gatewayShownIn(path);
  expect(typeof gateway.fetch).toBe('function');
  await gateway.close();
});
