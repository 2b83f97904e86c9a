import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { receive } from '../contract/adapters/client.ts';
import { serve } from './cli-start.ts';

const folder = mkdtempSync(join(tmpdir(), 'model-gateway-log-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('a key that was rotated is one line of serve, with the time, the masked key and what to do', async () => {
  const upstream = createServer((_, response) => {
    response.writeHead(401, { 'content-type': 'application/json' });
    response.end('{"error":{"message":"Incorrect API key provided"}}');
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const { port } = upstream.address() as AddressInfo;
  const config = join(folder, 'gateway.config.mjs');
  const options = {
    providers: { up: { baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: 'sk-rotated-0123456789' } },
    models: [{ slug: 'acme/one', endpoints: [{ provider: 'up', model: 'gpt-x' }] }],
    apiKeys: [{ key: 'sk-mine-1234567890' }],
  };
  writeFileSync(config, `export default ${JSON.stringify(options)};\n`);
  const { url, printed, code, signalAt } = serve({}, '--config', config, '--data', folder);
  const body = JSON.stringify({ model: 'acme/one', messages: [{ role: 'user', content: 'Hi' }] });
  const asked = await receive(`${await url}/chat/completions`, {
    body,
    headers: { authorization: 'Bearer sk-mine-1234567890' },
  });
  expect(asked.status).toBe(502);
  const lines = printed.error.trimEnd().split('\n');
  expect(lines[0]).toBe(
    '2026-01-31T00:00:00.000Z warn provider refused the key {"provider":"up","endpoint":"up","model":"gpt-x","status":401,' +
      '"key":"sk-ro...6789","todo":"set a key that the provider knows in providers.up"}',
  );
  expect(lines[1]).toMatch(/^2026-01-31T00:00:00\.000Z warn request .*"error":"provider_credentials"/);
  expect(printed.error).not.toContain('sk-rotated-0123456789');
  signalAt(0);
  expect(await code).toBe(0);
  await new Promise((resolve) => upstream.close(resolve));
});
