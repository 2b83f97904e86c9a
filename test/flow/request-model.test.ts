import { expect, it } from 'vitest';
import { hello, testGateway } from '../support/gateway.ts';
import { completion } from '../support/upstream.ts';

it('takes the default model where a request names none', async () => {
  const { post, upstream } = testGateway({ defaultModel: 'acme/other' });
  upstream.answer({ body: completion() });
  expect((await post({ messages: hello })).json.model).toBe('acme/other');
  expect(upstream.sent[0]?.body.model).toBe('alt-other');
});

it('takes the first of `models` where `model` is missing', async () => {
  const { post, upstream } = testGateway({ defaultModel: 'acme/other' });
  upstream.answer({ body: completion() });
  expect((await post({ messages: hello, models: ['acme/fast', 'acme/other'] })).json.model).toBe('acme/fast');
});

it('sends a model missing from the catalogue to the provider that starts its slug, price unknown', async () => {
  const { post, upstream } = testGateway();
  upstream.answer({ body: completion() });
  const { json } = await post({ model: 'up/vendor/model:7b', messages: hello });
  expect(upstream.sent[0]).toMatchObject({
    url: 'https://up.test/v1/chat/completions',
    body: { model: 'vendor/model:7b' },
  });
  expect(json).toMatchObject({ model: 'up/vendor/model:7b', provider: 'Up' });
  expect(json.usage).not.toHaveProperty('cost');
});

it('asks 404 of a built-in provider whose key was never set, naming why', async () => {
  const { post } = testGateway({ providers: { openai: { apiKey: undefined } }, models: [] });
  const { status, json } = await post({ model: 'openai/gpt-5', messages: hello });
  expect(status).toBe(404);
  expect(json.error.metadata?.excluded).toEqual([{ model: 'openai/gpt-5', provider: 'openai', filter: 'credentials' }]);
});
