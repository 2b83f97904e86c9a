import { expect, it } from 'vitest';
import { responseHealingDefaults } from '../../src/plugins/response-healing/index.ts';
import { chatAt, gatewayShownIn, settingsIn, settingsOf } from './plugin-page.ts';

const path = 'docs/plugins/response-healing.md';

it(`${path} shows a gateway that heals responses, and every setting with its default`, async () => {
  const messages = [{ role: 'user', content: 'Sure: {age: 36,}' }];
  const text = await chatAt(await gatewayShownIn(path), { messages, response_format: { type: 'json_object' } });
  expect(JSON.parse(text ?? '')).toEqual({ age: 36 });
  expect(settingsIn(path)).toEqual([['isDefault', 'false'], ...settingsOf(responseHealingDefaults)]);
});
