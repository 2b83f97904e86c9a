import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Express } from 'express';
import { expect, it } from 'vitest';
import type { Gateway } from '../../src/gateway.ts';
import { receive } from '../contract/adapters/client.ts';
import { examplesOf, writeExample } from './example-files.ts';

const [session = '', parsing = '', continuing = '', pages = '', ...others] = examplesOf('docs/hosts.md');
const headers = { authorization: 'Bearer sk-change-me-please', origin: 'https://app.example' };
const chat = JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] });

async function shown<T>(name: string, code: string): Promise<T> {
  return import(/* @vite-ignore */ writeExample(`hosts-${name}`, code));
}

async function ask(server: Server, body: string, more: Record<string, string> = {}) {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const answer = await receive(`http://127.0.0.1:${port}/v1/chat/completions`, {
    headers: { ...headers, ...more },
    body,
  });
  server.close();
  return answer;
}

it('docs/hosts.md shows no example that is not run here', () => {
  expect(others).toEqual([]);
});
it('docs/hosts.md shows how a session identifies the caller', async () => {
  const { app } = await shown<{ app: Express }>('session', session);
  const asked = async (cookie: string) => (await ask(createServer(app), chat, { authorization: '', cookie })).status;
  expect([await asked('session=1'), await asked('session=2')]).toEqual([200, 401]);
});
it('docs/hosts.md shows how the errors of express.json() become those of the gateway', async () => {
  const { app } = await shown<{ app: Express }>('parsing', parsing);
  expect((await ask(createServer(app), chat)).status).toBe(200);
  const { status, text } = await ask(createServer(app), '{');
  expect([status, JSON.parse(text).error.message]).toEqual([400, 'The body is not valid JSON']);
});
it('docs/hosts.md shows how a server listens for 100-continue', async () => {
  const { server } = await shown<{ server: Server }>('continuing', continuing);
  const expecting = { expect: '100-continue' };
  expect((await ask(server, chat, expecting)).status).toBe(200);
  const refused = await ask(server, chat, { ...expecting, authorization: 'Bearer wrong' });
  expect([refused.status, refused.headers.connection]).toEqual([401, 'close']);
});
it('docs/hosts.md shows how pages of other sites may ask', async () => {
  const { gateway } = await shown<{ gateway: Gateway }>('pages', pages);
  const response = await gateway.fetch('http://in-process/v1/models', { headers });
  expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([200, 'https://app.example']);
});
