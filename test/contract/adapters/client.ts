import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { Readable } from 'node:stream';

export interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** The test sends the body, on the request it gets back. */
  bodyFollows?: boolean;
  agent?: Agent;
}

/** Sends a request and leaves everything else to the test: reading slowly, leaving early. */
export function send(url: string, { method = 'POST', headers = {}, body, bodyFollows, agent }: Sent = {}) {
  const sent: ClientRequest = request(url, { method, agent: agent ?? false, headers: withType(headers, body) });
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve);
    sent.on('error', reject);
  });
  // A test that leaves before the headers does not ask for the response.
  response.catch(() => {});
  if (!bodyFollows) sent.end(body);
  return { sent, response };
}

export interface Received {
  status: number;
  headers: IncomingMessage['headers'];
  text: string;
  /** false: the connection ended before the response did. */
  whole: boolean;
}

export async function receive(url: string, options?: Sent): Promise<Received> {
  return readAll(await send(url, options).response);
}

export async function readAll(response: IncomingMessage): Promise<Received> {
  const pieces: Buffer[] = [];
  let whole = true;
  try {
    for await (const piece of response) pieces.push(piece as Buffer);
  } catch {
    whole = false;
  }
  const { statusCode: status = 0, headers } = response;
  return { status, headers, text: Buffer.concat(pieces).toString(), whole: whole && response.complete };
}

/** The next piece of a response, as it arrived; null at the end. */
export async function nextPiece(response: Readable): Promise<string | null> {
  for (;;) {
    const piece: Buffer | null = response.read();
    if (piece !== null) return piece.toString();
    if (response.readableEnded) return null;
    await new Promise<void>((resolve, reject) => {
      const done = (error?: Error) => {
        response.off('readable', done).off('end', done).off('error', done);
        if (error instanceof Error) reject(error);
        else resolve();
      };
      response.once('readable', done).once('end', done).once('error', done);
    });
  }
}

export const keepAlive = () => new Agent({ keepAlive: true, maxSockets: 1 });

function withType(headers: Record<string, string>, body: Sent['body']): Record<string, string> {
  return body === undefined ? headers : { 'content-type': 'application/json', ...headers };
}
