import { type AddressInfo, Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { examplesOf, writeExample } from './example-files.ts';

const started: Server[] = [];
const { listen } = Server.prototype;

beforeAll(() => {
  // An example listens on the port that its text names; a test on any that is free.
  Server.prototype.listen = function (this: Server) {
    started.push(this);
    return Reflect.apply(listen, this, [0, '127.0.0.1']);
  } as Server['listen'];
});

afterAll(() => {
  Server.prototype.listen = listen;
  for (const server of started) server.close();
});

describe('docs/telemetry.md', () => {
  it('shows a server that Prometheus can read', async () => {
    const [code = ''] = examplesOf('docs/telemetry.md');
    await import(/* @vite-ignore */ writeExample('telemetry-prometheus', code));
    const [server] = started as [Server];
    if (!server.listening) await new Promise((resolve) => server.once('listening', resolve));
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const response = await fetch(`${origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer sk-change-me-please' },
      body: JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi there' }] }),
    });
    expect(response.status).toBe(200);
    await response.text();
    const metrics = await (await fetch(`${origin}/metrics`)).text();
    expect(metrics).toMatch(/^gen_ai_server_request_duration\S*_count\{[^}]*gateway_outcome="ok"[^}]*\} 1/m);
    expect(metrics).toMatch(/^gateway_requests_in_flight\S* 0/m);
    expect(metrics).toMatch(/^gateway_cooldowns\S* 0/m);
  });
});
