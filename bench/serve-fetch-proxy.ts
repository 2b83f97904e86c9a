import process from 'node:process';
import { serve } from 'srvx';
import { measuring, serveParent } from './control.ts';

/** A simple proxy with web standards: srvx and the global fetch. It does not change requests and responses. */
const origin = `http://127.0.0.1:${process.argv[2]}`;

const server = serve({
  port: 0,
  hostname: '127.0.0.1',
  silent: true,
  manual: true,
  async fetch(request) {
    // Node needs `duplex`, which the DOM types lack.
    const init: RequestInit & { duplex: 'half' } = {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer upstream-key' },
      body: request.body,
      duplex: 'half',
    };
    const response = await fetch(origin + new URL(request.url).pathname, init);
    return new Response(response.body, {
      status: response.status,
      headers: { 'content-type': response.headers.get('content-type') ?? '' },
    });
  },
});

serveParent({
  ...measuring,
  async port() {
    await server.serve();
    return Number(new URL(server.url ?? '').port);
  },
});
