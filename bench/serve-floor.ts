import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import process from 'node:process';
import { Agent, request } from 'undici';
import { measuring, serveParent } from './control.ts';
import { listen } from './listen.ts';

/**
 * The floor: the least work that a Node server between a client and a provider can do. It reads the body, parses it
 * once, forwards it over a keep-alive pool and pipes the response back.
 */
const origin = `http://127.0.0.1:${process.argv[2]}`;
const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

const server = createServer({ keepAliveTimeout: 60_000 }, (req, res) => {
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.once('end', () => void forward(req, res, Buffer.concat(chunks)).catch(() => res.destroy()));
});

async function forward(req: IncomingMessage, res: ServerResponse, body: Buffer): Promise<void> {
  const parsed: unknown = JSON.parse(body.toString());
  if (typeof parsed !== 'object') throw new Error('not an object');
  const response = await request(`${origin}${req.url}`, {
    dispatcher,
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer upstream-key' },
    body,
  });
  const { 'content-type': type = '', 'content-length': length } = response.headers;
  const headers = ['content-type', String(type)];
  if (length !== undefined) headers.push('content-length', String(length));
  res.writeHead(response.statusCode, headers);
  response.body.pipe(res);
}

serveParent({ ...measuring, port: () => listen(server) });
