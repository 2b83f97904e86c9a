import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import process from 'node:process';
import { Agent, request } from 'undici';
import { answerParent, measuring } from './control.ts';
import { listen } from './listen.ts';

/**
 * The floor: the least that a Node server between a client and a provider can do. It reads the body, parses it once,
 * sends it on over a keep-alive pool and pipes the answer back.
 */
const origin = `http://127.0.0.1:${process.argv[2]}`;
const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

const server = createServer({ keepAliveTimeout: 60_000 }, (req, res) => {
  const pieces: Buffer[] = [];
  req.on('data', (piece: Buffer) => pieces.push(piece));
  req.once('end', () => void forward(req, res, Buffer.concat(pieces)).catch(() => res.destroy()));
});

async function forward(req: IncomingMessage, res: ServerResponse, body: Buffer): Promise<void> {
  const parsed: unknown = JSON.parse(body.toString());
  if (typeof parsed !== 'object') throw new Error('not an object');
  const answer = await request(`${origin}${req.url}`, {
    dispatcher,
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer upstream-key' },
    body,
  });
  const { 'content-type': type = '', 'content-length': length } = answer.headers;
  const headers = ['content-type', String(type)];
  if (length !== undefined) headers.push('content-length', String(length));
  res.writeHead(answer.statusCode, headers);
  answer.body.pipe(res);
}

answerParent({ ...measuring, port: () => listen(server) });
