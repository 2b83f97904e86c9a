import { expect, it } from 'vitest';
import { createGateway } from '../../../src/gateway.ts';
import { builtInProviders } from '../../../src/providers/index.ts';

it('cohere is asked by its own interface, with the key as a bearer token', async () => {
  expect(builtInProviders.filter(({ slug }) => slug === 'cohere')).toHaveLength(1);
  const sent: { url: string; authorization: string | null; body: unknown }[] = [];
  const gateway = createGateway({
    providers: { cohere: { apiKey: 'key-of-cohere' } },
    models: [{ slug: 'cohere/command-a', endpoints: [{ provider: 'cohere', model: 'command-a-03-2025' }] }],
    apiKeys: [{ key: 'key-of-the-client' }],
    fetch: async (url, init) => {
      const headers = new Headers(init?.headers);
      sent.push({
        url: String(url),
        authorization: headers.get('authorization'),
        body: JSON.parse(String(init?.body)),
      });
      return Response.json({
        finish_reason: 'COMPLETE',
        message: { role: 'assistant', content: [{ type: 'text', text: 'Hello.' }] },
        usage: { billed_units: { input_tokens: 2, output_tokens: 1 }, tokens: { input_tokens: 500, output_tokens: 4 } },
      });
    },
  });
  const response = await gateway.handle(
    new Request('http://gateway.test/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: 'Bearer key-of-the-client' },
    }),
    { body: { model: 'cohere/command-a', messages: [{ role: 'user', content: 'Hi' }] } },
  );
  expect(await response.json()).toMatchObject({
    provider: 'Cohere',
    choices: [{ message: { content: 'Hello.' } }],
    usage: { prompt_tokens: 2, completion_tokens: 1 },
  });
  expect(sent).toEqual([
    {
      url: 'https://api.cohere.com/v2/chat',
      authorization: 'Bearer key-of-cohere',
      body: { model: 'command-a-03-2025', stream: false, messages: [{ role: 'user', content: 'Hi' }] },
    },
  ]);
  await gateway.close();
});
