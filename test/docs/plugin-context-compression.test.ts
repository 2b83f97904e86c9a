import { expect, it } from 'vitest';
import { contextCompressionDefaults } from '../../src/plugins/context-compression/index.ts';
import { chatAt, gatewayShownIn, settingsIn, settingsOf } from './plugin-page.ts';

const path = 'docs/plugins/context-compression.md';

it(`${path} shows a gateway that shortens prompts, and every setting with its default`, async () => {
  // The sandbox repeats what it is asked, and has a context of 131,072 tokens.
  const messages = [{ role: 'user', content: `first ${'word '.repeat(160_000)}last` }];
  const text = await chatAt(await gatewayShownIn(path), { messages, max_tokens: 100_000, sandbox: { token_ms: 0 } });
  expect(text).toMatch(/^first word /);
  expect(settingsIn(path)).toEqual([
    ['isDefault', 'false'],
    ['countTokens', 'estimate'],
    ...settingsOf(contextCompressionDefaults),
  ]);
});
