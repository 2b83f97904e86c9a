import { expect, it } from 'vitest';
import type { Gateway } from '../../src/gateway.ts';
import { examplesOf, writeExample } from './example-files.ts';

it('docs/dialects/ai-sdk.md begins with an example that runs', async () => {
  const [example = '', ...others] = examplesOf('docs/dialects/ai-sdk.md');
  expect(others).toEqual([]);
  const { gateway }: { gateway: Gateway } = await import(/* @vite-ignore */ writeExample('dialect-ai-sdk', example));
  const response = await gateway.handle(
    new Request('http://gateway.test/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: 'Bearer a-key-for-our-clients' },
    }),
    { body: { model: 'birds/parrot', messages: [{ role: 'user', content: 'Hi' }] } },
  );
  expect(await response.json()).toMatchObject({
    provider: 'birds',
    choices: [{ message: { content: 'Hello!' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 3, completion_tokens: 2 },
  });
  await gateway.close();
});
