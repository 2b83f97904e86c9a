// An OpenAI-compatible server that never finishes: what shows whether a client's leaving reaches an upstream.
import { once } from 'node:events';
import { createServer } from 'node:http';

/**
 * Models: `silent` sends no headers, `endless` sends one chunk and no more.
 * @returns next() resolves with { closed } once a request has come in; closed resolves with the time its socket closed
 */
export async function startUpstream() {
  const arrived = [];
  const waiting = [];
  const server = createServer((req, res) => {
    let text = '';
    req.on('data', (part) => {
      text += part;
    });
    req.on('end', () => {
      const closed = once(res, 'close').then(() => performance.now());
      if (JSON.parse(text).model === 'endless') {
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        const choice = { index: 0, delta: { role: 'assistant', content: 'first' }, finish_reason: null };
        const chunk = { id: 'up-1', object: 'chat.completion.chunk', created: 1, model: 'endless', choices: [choice] };
        res.write(`data: ${JSON.stringify(chunk)}\n\n`);
      }
      const waiter = waiting.shift();
      if (waiter) waiter({ closed });
      else arrived.push({ closed });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    next: () =>
      arrived.length > 0 ? Promise.resolve(arrived.shift()) : new Promise((resolve) => waiting.push(resolve)),
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
