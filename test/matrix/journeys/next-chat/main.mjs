// A chat page: the route handler of Next's app router, and what the page does with the stream. Without a browser and
// without Next: Next calls the handlers with web requests, as is done here. test/matrix/examples builds a real Next app.
import assert from 'node:assert/strict';
import { createGateway } from 'model-gateway';
import { gatewayRoute } from 'model-gateway/next';
import OpenAI from 'openai';

// app/api/v1/[...path]/route.ts
const gateway = createGateway({
  providers: { sandbox: {} },
  defaultModel: 'sandbox/lorem',
  authenticate: (request) =>
    /session=ada/.test(request.headers.get('cookie') ?? '') ? { userId: 'ada', permissions: ['inference'] } : null,
});
const { POST, GET } = gatewayRoute(gateway);

/** The page's fetch: same origin, with the cookie. */
const pageFetch = (cookie) => async (url, init) => {
  const request = new Request(url, init);
  request.headers.set('cookie', cookie);
  const path = new URL(request.url).pathname.replace('/api/v1/', '').split('/');
  const handler = request.method === 'GET' ? GET : POST;
  return handler(request, { params: Promise.resolve({ path }) });
};
const client = (cookie) =>
  new OpenAI({ apiKey: 'unused', baseURL: 'http://page.test/api/v1', maxRetries: 0, fetch: pageFetch(cookie) });

const messages = [{ role: 'user', content: 'Tell me something' }];
let shown = '';
let usage;
const stream = await client('session=ada').chat.completions.create({ model: 'sandbox/lorem', messages, stream: true });
for await (const chunk of stream) {
  shown += chunk.choices[0]?.delta.content ?? '';
  usage = chunk.usage ?? usage;
}
assert.match(shown, /sandbox.*Lorem ipsum/);
assert.ok(usage.completion_tokens > 50);

// The reader presses "stop".
const stopper = new AbortController();
const stopped = await client('session=ada').chat.completions.create(
  { model: 'sandbox/slow', messages, stream: true, sandbox: { first_token_ms: 0, token_ms: 20 } },
  { signal: stopper.signal },
);
let count = 0;
for await (const _ of stopped) {
  count += 1;
  if (count === 3) stopper.abort();
}
assert.ok(count < 20, `${count} chunks after stop`);

// A stranger; a stream that breaks.
await assert.rejects(client('').chat.completions.create({ model: 'sandbox/lorem', messages }), { status: 401 });
const broken = await client('session=ada').chat.completions.create({
  model: 'sandbox/error-mid-stream',
  messages,
  stream: true,
});
await assert.rejects(async () => {
  for await (const _ of broken);
}, /upstream|provider|broke|failed/i);
await gateway.close();
