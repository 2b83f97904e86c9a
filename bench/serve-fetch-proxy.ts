import process from 'node:process';
import { serve } from 'srvx';
import { answerParent, measuring } from './control.ts';

/** A proxy as one writes it with web standards alone: srvx and the global fetch, which does nothing to what passes. */
const origin = `http://127.0.0.1:${process.argv[2]}`;

const server = serve({
  port: 0,
  hostname: '127.0.0.1',
  silent: true,
  manual: true,
  async fetch(request) {
    // The types of the web do not know `duplex`, which Node asks for.
    const init: RequestInit & { duplex: 'half' } = {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer upstream-key' },
      body: request.body,
      duplex: 'half',
    };
    const answer = await fetch(origin + new URL(request.url).pathname, init);
    return new Response(answer.body, {
      status: answer.status,
      headers: { 'content-type': answer.headers.get('content-type') ?? '' },
    });
  },
});

answerParent({
  ...measuring,
  async port() {
    await server.serve();
    return Number(new URL(server.url ?? '').port);
  },
});
