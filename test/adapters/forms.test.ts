import express from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { gatewayMiddleware } from '../../adapters/hosts/express.ts';
import { joinBytes } from '../../src/base/bytes.ts';
import { isUploadedFile, type UploadedFile } from '../../src/base/http/uploaded-file.ts';
import { createGateway, defineOperation, type Gateway } from '../../src/index.ts';
import type { Host } from '../contract/adapters/suite.ts';
import { otherHosts } from './edge-hosts.ts';
import { hostListener } from './hosts.ts';
import { readingHosts } from './reading-hosts.ts';

const key = 'sk-test-inference';

const sum = (bytes: Uint8Array) => bytes.reduce((total, byte) => (total * 31 + byte) % 65_521, 7);

const echo = defineOperation<{ model: string; file: UploadedFile }>({
  name: 'echoForm',
  method: 'POST',
  path: '/echo-form',
  permissions: ['inference'],
  body: () => z.object({ model: z.string(), file: z.custom<UploadedFile>(isUploadedFile) }),
  form: { file: 'file' },
  result: () => z.looseObject({}),
  run: async ({ body: { model, file } }) => ({
    kind: 'json',
    status: 200,
    body: { model, name: file.name, type: file.type, size: file.size, sum: sum(joinBytes(file.chunks)) },
  }),
});

const hosts: typeof readingHosts = {
  ...readingHosts,
  ...otherHosts,
  'Express after express.raw()': (gateway) =>
    hostListener(
      express()
        .use(express.raw({ type: '*/*', limit: '10mb' }))
        .use('/v1', gatewayMiddleware(gateway)),
      '/v1',
    ),
};

describe.each(Object.entries(hosts))('%s', (_, start) => {
  let host: Host;
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = createGateway({ providers: { sandbox: {} }, apiKeys: [{ key }], operations: [echo] });
    host = await start(gateway);
  });
  afterAll(async () => {
    await host.close();
    await gateway.close();
  });

  it('passes a form with a file on, byte for byte', async () => {
    const bytes = new Uint8Array(1_500_000).map((_, at) => (at * 2_654_435_761) >>> 13);
    const form = new FormData();
    form.append('file', new File([bytes], 'naïve.mp3', { type: 'audio/mpeg' }));
    form.append('model', 'acme/hears');
    const headers = { authorization: `Bearer ${key}` };
    const response = await fetch(`${host.baseUrl}/echo-form`, { method: 'POST', headers, body: form });
    const expected = {
      model: 'acme/hears',
      name: 'naïve.mp3',
      type: 'audio/mpeg',
      size: bytes.length,
      sum: sum(bytes),
    };
    expect([response.status, await response.json()]).toEqual([200, expected]);
  });
});
