import { it } from 'vitest';
import { moderationDefaults } from '../../src/plugins/moderation/index.ts';
import { checkPage, settingsOf } from './plugin-page.ts';

const path = 'docs/plugins/moderation.md';

it(`${path} shows a gateway that can be made, and every setting with its default`, async () => {
  await checkPage(path, [['isDefault', 'false'], ['moderator', 'localModerator'], ...settingsOf(moderationDefaults)]);
});
