import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import process from 'node:process';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type WebSocket from 'ws';
import type { Gateway } from '../../src/gateway.ts';
import { webSocketSettingsSchema } from '../../src/schema/settings/web-sockets.ts';
import { examplesOf, writeExample } from './example-files.ts';
import { codeBlocks, readDoc } from './markdown.ts';

const page = readDoc('docs/websockets.md');
const [serving = '', keeping = '', ...others] = examplesOf('docs/websockets.md');
const [asking = '', ...more] = codeBlocks(page, 'js');

let shown: { gateway: Gateway; server: Server };
beforeAll(async () => {
  shown = await import(
    /* @vite-ignore */ writeExample('websockets-serving', serving, { replace: { 'listen(8787': 'listen(0' } })
  );
  if (!shown.server.listening) await once(shown.server, 'listening');
});
afterAll(async () => {
  shown.server.close().closeAllConnections();
  await shown.gateway.close();
});

it('docs/websockets.md shows no example that is not run here', () => {
  expect([others, more]).toEqual([[], []]);
});
it('docs/websockets.md shows a server and a client that goes on with the new items alone', async () => {
  const { port } = shown.server.address() as AddressInfo;
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const file = writeExample('websockets-asking', asking, { replace: { '127.0.0.1:8787': `127.0.0.1:${port}` } });
  const { socket } = (await import(/* @vite-ignore */ file)) as { socket: WebSocket };
  await once(socket, 'close');
  const text = written.mock.calls.map(([piece]) => String(piece)).join('');
  written.mockRestore();
  expect(text).toBe('Hello and again');
});
it('docs/websockets.md shows a provider to which a WebSocket is kept', async () => {
  vi.stubEnv('OPENAI_API_KEY', 'sk-of-the-docs-0123456789');
  const file = writeExample('websockets-keeping', keeping);
  const { gateway } = (await import(/* @vite-ignore */ file)) as { gateway: Gateway };
  vi.unstubAllEnvs();
  expect((await gateway.models.list()).data.map(({ id }) => id)).toContain('acme/agent');
  await gateway.close();
});
it('docs/websockets.md names the limits as they are', () => {
  const { streams, inFlight, lifeMs, pingMs } = webSocketSettingsSchema().parse({});
  expect([streams, inFlight, lifeMs, pingMs]).toEqual([32, 16, 3_600_000, 25_000]);
  expect(page).toMatch(/16 are served at once, 32 may be named/);
  expect(page).toMatch(/connection is an hour old/);
  expect(page).toMatch(/pings every 25 seconds/);
  const { upstream } = webSocketSettingsSchema().parse({});
  expect([upstream.lifeMs, upstream.idleMs]).toEqual([59 * 60_000, 5 * 60_000]);
  expect(page).toMatch(/After 59 minutes, or 5 without a request/);
});
