import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Piece, partsOf, type ScriptedAnswer } from './upstream-answer.ts';

/** A request a real upstream got. */
export interface SentOverHttp {
  path: string;
  headers: NodeJS.Dict<string | string[]>;
  /** The body, parsed. */
  body: Record<string, unknown>;
  /** When the connection was gone before the whole answer was written, in `performance.now()`; pending otherwise. */
  cut: Promise<number>;
  isCut: boolean;
}

/** An upstream on 127.0.0.1, at a free port. What it scripts must not take time; see `Piece`. */
export interface HttpUpstream {
  /** Base URL of the provider. */
  url: string;
  answer(...answers: readonly ScriptedAnswer[]): void;
  /** The answer of every request for which none is scripted. */
  always(answer: ScriptedAnswer): void;
  /** Every request so far. */
  sent: SentOverHttp[];
  /** The request of this number, counted from 0, once it is there. */
  request(at: number): Promise<SentOverHttp>;
  close(): Promise<void>;
}

export async function httpUpstream(): Promise<HttpUpstream> {
  const queue: ScriptedAnswer[] = [];
  const sent: SentOverHttp[] = [];
  const waiting: (() => void)[] = [];
  let otherwise: ScriptedAnswer | null = null;

  const server = createServer((request, response) => {
    void (async () => {
      const one = await received(request, response);
      sent.push(one);
      for (const wake of waiting.splice(0)) wake();
      const answer = queue.shift() ??
        otherwise ?? { status: 500, body: { error: { message: 'No answer is scripted' } } };
      await play(answer, response);
      // The gateway may leave at any moment, which is what some tests are about.
    })().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    answer: (...answers) => void queue.push(...answers),
    always(answer) {
      otherwise = answer;
    },
    sent,
    async request(at) {
      while (sent.length <= at) await new Promise<void>((resolve) => waiting.push(resolve));
      return sent[at] as SentOverHttp;
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function received(request: IncomingMessage, response: ServerResponse): Promise<SentOverHttp> {
  const { promise: cut, resolve } = Promise.withResolvers<number>();
  let text = '';
  for await (const piece of request) text += piece;
  const one: SentOverHttp = {
    path: request.url ?? '',
    headers: request.headers,
    body: JSON.parse(text),
    cut,
    isCut: false,
  };
  response.on('close', () => {
    if (response.writableFinished) return;
    one.isCut = true;
    resolve(performance.now());
  });
  return one;
}

async function play(answer: ScriptedAnswer, response: ServerResponse): Promise<void> {
  if (answer.instead === 'hang') return;
  if (answer.instead === 'refuse') return void response.destroy();
  if (answer.afterMs !== undefined) throw new Error('A real upstream does not run on the manual clock');
  const { headers, pieces } = partsOf(answer);
  response.writeHead(answer.status ?? 200, headers);
  response.flushHeaders();
  for (const piece of pieces) {
    if (response.destroyed || !(await playPiece(piece, response))) return;
  }
  response.end();
}

/** false: nothing comes after this. */
async function playPiece(piece: Piece, response: ServerResponse): Promise<boolean> {
  if (typeof piece === 'string' || piece instanceof Uint8Array) {
    await new Promise((resolve) => response.write(piece, resolve));
    // A turn of the event loop, so that pieces do not share a packet.
    await new Promise((resolve) => setImmediate(resolve));
    return true;
  }
  if ('until' in piece) return piece.until.then(() => true);
  if ('breaks' in piece) response.destroy();
  else if ('waitMs' in piece) throw new Error('A real upstream does not run on the manual clock');
  return false;
}
