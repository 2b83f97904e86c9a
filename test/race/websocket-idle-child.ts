import process from 'node:process';
import { serve } from '../../adapters/hosts/node.ts';
import { createGateway } from '../../src/index.ts';
import { testKey } from '../support/gateway.ts';

// A server in a process of its own: says where it listens, and how much memory it takes when it is asked.

const gateway = createGateway({ providers: { sandbox: {} }, apiKeys: [{ key: testKey }] });
const server = await serve(gateway, { port: 0 });
process.on('message', () => {
  for (let time = 0; time < 3; time++) (globalThis as { gc?: () => void }).gc?.();
  process.send?.({ rss: process.memoryUsage().rss });
});
process.send?.({ url: server.url });
