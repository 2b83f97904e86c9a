import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Express } from 'express';
import { describe, expect, it } from 'vitest';
import { contentSecurityPolicy } from '../../adapters/console/responses.ts';
import { examplesOf, writeExample } from './example-files.ts';
import { readDoc } from './markdown.ts';

const [inExpress = '', inNode = '', inNext = '', inBun = '', inWorker = '', byHost = '', ...others] =
  examplesOf('docs/console.md');

async function shown<T>(name: string, code: string): Promise<T> {
  return import(/* @vite-ignore */ writeExample(`console-${name}`, code));
}

type Handler = (request: Request) => Promise<Response>;

/** Signs in, and lists workspaces. */
async function look(base: string, send: (request: Request) => Promise<Response>): Promise<number[]> {
  const page = await send(new Request(`${base}/`));
  const signedIn = await send(
    new Request(`${base}/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ key: 'sk-change-me-please' }),
    }),
  );
  const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
  const seen = await send(new Request(`${base}/api/workspaces`, { headers: { cookie } }));
  return [page.status, signedIn.status, seen.status];
}

async function lookAt(server: Server, path: string): Promise<number[]> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const statuses = await look(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, fetch);
  server.close().closeAllConnections();
  return statuses;
}

describe('docs/console.md', () => {
  it('shows no example that is not run here', () => {
    expect(others).toEqual([]);
  });
  it('shows how the console is mounted in Express', async () => {
    const { app } = await shown<{ app: Express }>('express', inExpress);
    expect(await lookAt(createServer(app), '/admin/gw')).toEqual([200, 200, 200]);
  });
  it('shows how the console is mounted in plain Node', async () => {
    const { server } = await shown<{ server: Server }>('node', inNode);
    expect(await lookAt(server, '/console')).toEqual([200, 200, 200]);
  });
  it('shows how the console is mounted in Next, which removes the slash', async () => {
    type Route = (request: Request, context: { params: Promise<object> }) => Promise<Response>;
    const route = await shown<Record<'GET' | 'POST', Route>>('next', inNext);
    const params = Promise.resolve({ path: [] });
    const send = (request: Request) => route[request.method as 'GET' | 'POST'](request, { params });
    expect((await send(new Request('http://next.test/console'))).status).toBe(200);
    expect(await look('http://next.test/console', send)).toEqual([200, 200, 200]);
  });
  it('shows how the console is mounted in Bun', async () => {
    const { routes } = await shown<{ routes: Record<string, Handler> }>('bun', inBun);
    expect(await look('http://bun.test/console', routes['/console/*'] as Handler)).toEqual([200, 200, 200]);
  });
  it('shows how the console is mounted in a worker', async () => {
    interface Worker {
      fetch(request: Request, env: unknown, context: object): Promise<Response>;
    }
    const { default: worker } = await shown<{ default: Worker }>('worker', inWorker);
    const context = { waitUntil: () => undefined };
    const send = (request: Request) => worker.fetch(request, {}, context);
    expect(await look('http://worker.test/console', send)).toEqual([200, 200, 200]);
    expect((await send(new Request('http://worker.test/v1/models'))).status).toBe(401);
  });
  it('shows how the host app says who looks', async () => {
    const { page } = await shown<{ page: Handler }>('host', byHost);
    const status = async (path: string, cookie: string) =>
      (await page(new Request(`http://host.test/console/api${path}`, { headers: { cookie } }))).status;
    expect(await status('/workspaces/default/budgets', 'session=1')).toBe(200);
    expect(await status('/workspaces/default/budgets', 'session=2')).toBe(404);
    expect(await status('/models', 'session=3')).toBe(401);
  });
  it('quotes the policy of the page', () => {
    expect(readDoc('docs/console.md')).toContain(`\n${contentSecurityPolicy}\n`);
  });
});
