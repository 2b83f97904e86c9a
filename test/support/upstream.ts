import { type Clock, wait } from '../../src/base/clock.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../src/transport/transport.ts';
import { type Piece, partsOf, type ScriptedAnswer } from './upstream-answer.ts';

export * from './http-upstream.ts';
export * from './upstream-answer.ts';

/** A request the upstream got. */
export interface Sent {
  url: string;
  headers: Record<string, string>;
  /** The body, parsed; of a form, its fields, those of a name `x[]` as lists, and files as what is known of them. */
  body: Record<string, unknown>;
  text: string;
  atMs: number;
  /** Its answer was read to the end. */
  isRead: boolean;
  /** It was let go of before the end of its answer, when; null while it was not. */
  closedAtMs: number | null;
}

/** An upstream inside the process that says what it is told to, in order. */
export interface ScriptedUpstream {
  transport: Transport;
  /** The same as a `fetch`. */
  fetch: typeof fetch;
  /** Answers of the next requests, in the order they come. */
  answer(...answers: readonly ScriptedAnswer[]): void;
  /** The answer of every request for which none is scripted. */
  always(answer: ScriptedAnswer): void;
  /** Every request so far. */
  sent: Sent[];
}

export function scriptedUpstream(clock: Clock): ScriptedUpstream {
  const queue: ScriptedAnswer[] = [];
  const sent: Sent[] = [];
  let otherwise: ScriptedAnswer | null = null;

  async function send(request: TransportRequest): Promise<TransportResponse> {
    const { signal } = request;
    const text = typeof request.body === 'string' ? request.body : new TextDecoder().decode(request.body);
    const one: Sent = {
      url: request.url,
      headers: request.headers,
      body: fieldsOf(request, text),
      text,
      atMs: clock.now(),
      isRead: false,
      closedAtMs: null,
    };
    sent.push(one);
    const close = () => {
      if (!one.isRead) one.closedAtMs ??= clock.now();
    };
    signal.addEventListener('abort', close);
    const answer = queue.shift() ?? otherwise;
    if (!answer) throw new Error(`No answer is scripted for request ${sent.length}`);
    if (answer.afterMs !== undefined) await wait(clock, answer.afterMs, signal);
    if (answer.instead === 'refuse') throw connectionError('ECONNREFUSED');
    if (answer.instead === 'hang') await untilAborted(never(), signal);
    const { headers, pieces } = partsOf(answer);
    const rest = [...pieces];
    return {
      status: answer.status ?? 200,
      headers,
      body: {
        async read() {
          for (;;) {
            if (signal.aborted) throw signal.reason;
            const piece = rest.shift();
            if (piece === undefined) {
              one.isRead = one.closedAtMs === null;
              return null;
            }
            const bytes = await untilAborted(play(clock, piece, signal), signal);
            if (bytes !== null) return bytes;
          }
        },
        cancel: close,
      },
    };
  }

  return {
    transport: { send },
    fetch: asFetch(send),
    answer: (...answers) => void queue.push(...answers),
    always(answer) {
      otherwise = answer;
    },
    sent,
  };
}

async function play(clock: Clock, piece: Piece, signal: AbortSignal): Promise<Uint8Array | null> {
  if (typeof piece === 'string') return new TextEncoder().encode(piece);
  if (piece instanceof Uint8Array) return piece;
  if ('breaks' in piece) throw connectionError('ECONNRESET');
  if ('waitMs' in piece) await wait(clock, piece.waitMs, signal);
  else if ('until' in piece) await piece.until;
  else await never();
  return null;
}

/** What Node's network throws. */
function connectionError(code: string): Error {
  return Object.assign(new Error(`connect ${code} 203.0.113.9:443`), { code });
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}

function untilAborted<T>(pending: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    pending.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** Our transport as a `fetch`, for what takes one. */
function asFetch(send: Transport['send']): typeof fetch {
  return async (input, init) => {
    const response = await send({
      method: 'POST',
      url: String(input),
      headers: Object.fromEntries(new Headers(init?.headers)),
      body: String(init?.body),
      signal: init?.signal ?? new AbortController().signal,
      limits: { headerBytes: 32_768 },
    });
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      async pull(controller) {
        const piece = await response.body.read();
        if (piece === null) controller.close();
        else controller.enqueue(new Uint8Array(piece));
      },
      cancel: () => response.body.cancel(),
    });
    return new Response(body, { status: response.status, headers: response.headers });
  };
}

function fieldsOf({ headers, body }: TransportRequest, text: string): Record<string, unknown> {
  const boundary = /boundary=(.+)$/.exec(headers['content-type'] ?? '')?.[1];
  if (boundary === undefined) return JSON.parse(text);
  const fields: Record<string, unknown> = {};
  const parts = Buffer.from(body as Uint8Array)
    .toString('latin1')
    .split(`--${boundary}`)
    .slice(1, -1);
  for (const part of parts) {
    const [head = '', ...rest] = part.split('\r\n\r\n');
    const content = rest.join('\r\n\r\n').slice(0, -2);
    const name = /name="([^"]*)"/.exec(head)?.[1] ?? '';
    const filename = /filename="([^"]*)"/.exec(head)?.[1];
    const type = /content-type: (.*)/i.exec(head)?.[1];
    const value =
      filename === undefined
        ? Buffer.from(content, 'latin1').toString()
        : { filename: Buffer.from(filename, 'latin1').toString(), type, size: content.length };
    if (name.endsWith('[]')) fields[name] = [...((fields[name] as unknown[] | undefined) ?? []), value];
    else fields[name] = value;
  }
  return fields;
}
