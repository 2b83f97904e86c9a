import { expect, it } from 'vitest';
import type { GatewayWorker } from '../../adapters/hosts/workers.ts';
import { examplesOf, writeExample } from './example-files.ts';

const [plain = '', bound = '', deno = '', ...others] = examplesOf('docs/workers.md');
const request = () =>
  new Request('http://worker.test/v1/chat/completions', {
    method: 'POST',
    headers: { authorization: 'Bearer sk-change-me-please', 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] }),
  });
const context = { waitUntil: () => undefined };

it('docs/workers.md shows a worker that answers', async () => {
  const { default: worker } = (await import(/* @vite-ignore */ writeExample('workers-plain', plain))) as {
    default: GatewayWorker<unknown>;
  };
  expect((await worker.fetch(request(), {}, context)).status).toBe(200);
});
it('docs/workers.md shows a worker whose gateway is made from its bindings', async () => {
  const { worker } = await import(/* @vite-ignore */ writeExample('workers-bound', bound));
  const bindings = { OPENAI_API_KEY: 'sk-openai-0123456789', GATEWAY_KEY: 'sk-change-me-please' };
  const response = await worker.fetch(new Request('http://worker.test/v1/models'), bindings, context);
  expect(response.status).toBe(401);
  const models = new Request('http://worker.test/v1/models', {
    headers: { authorization: 'Bearer sk-change-me-please' },
  });
  expect((await worker.fetch(models, bindings, context)).status).toBe(200);
});
it('docs/workers.md shows a handler for Deno', async () => {
  const { handler } = await import(/* @vite-ignore */ writeExample('workers-deno', deno));
  expect((await handler(request())).status).toBe(200);
  expect(others).toEqual([]);
});
