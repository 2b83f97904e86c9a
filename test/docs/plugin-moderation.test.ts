import { expect, it } from 'vitest';
import { moderationDefaults } from '../../src/plugins/moderation.ts';
import { gatewayShownIn, settingsIn, settingsOf } from './plugin-page.ts';

const path = 'docs/plugins/moderation.md';

it(`${path} shows a gateway that can be made, and every setting with its default`, async () => {
  const gateway = await gatewayShownIn(path);
  expect(typeof gateway.fetch).toBe('function');
  await gateway.close();
  expect(settingsIn(path)).toEqual([
    ['isDefault', 'false'],
    ['moderator', 'localModerator'],
    ...settingsOf(moderationDefaults),
  ]);
});
