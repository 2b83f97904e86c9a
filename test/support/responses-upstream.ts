import { UpstreamError } from '../../src/base/http/upstream-error.ts';
import type { SocketListener, Transport } from '../../src/transport/transport.ts';
import { nextTurn } from './gateway.ts';

type Json = Record<string, unknown>;

/** What a provider does with one request. Default: it says `ok`. */
export interface Said {
  text?: string;
  /** A thought before the text, which only the provider can read. */
  thought?: string;
  /** A call of a tool instead of a text. */
  call?: { id: string; name: string; arguments: string };
  /** Refuses, before anything is made. */
  error?: { status: number; code: string; headers?: Record<string, string> };
  /** Fails after that many events, with an event `error`; or the connection closes; or nothing more comes. */
  after?: { events: number; does: 'fail' | 'close' | 'hang' };
  /** Waits for this after the first token. */
  until?: Promise<unknown>;
  /** Frames before the first event, as they stand. */
  before?: readonly string[];
}

/** A request as the provider got it, with what it charges. */
export interface Charged {
  over: 'socket' | 'http';
  /** The number of its connection; null: by HTTP. */
  connection: number | null;
  headers: Record<string, string>;
  /** As it came. */
  body: Json;
  /** The whole conversation that the model read: of the earlier response, and of the request. */
  read: readonly unknown[];
  /** Tokens on the bill: of the prompt, and of what was made until the client was gone. */
  promptTokens: number;
  outputTokens: number;
  /** true: it was made, and delivered, to its end. */
  isComplete: boolean;
  /** The client was gone before its end. */
  isLeft: boolean;
  /** true: it was refused, before anything was made. */
  isRefused: boolean;
}

export interface Connected {
  url: string;
  headers: Record<string, string>;
  frameBytes: number;
  isOpen: boolean;
  isPaused: boolean;
  pings: number;
  listener: SocketListener;
  /** The provider closes it. */
  close(): void;
}

/** A provider that speaks Responses by HTTP and over a WebSocket, and keeps its own bill. */
export function responsesUpstream() {
  const asked: Charged[] = [];
  const connections: Connected[] = [];
  const queue: Said[] = [];
  const upstream = {
    asked,
    connections,
    /** What it does with the next requests. */
    will: (...said: readonly Said[]) => void queue.push(...said),
    /** Answers every handshake with this status; null: it opens the connection. `hang`: it never answers. */
    refuses: null as number | 'hang' | null,
    /** It answers pings. */
    pongs: true,
    transport: {} as Transport & { connect: NonNullable<Transport['connect']> },
  };
  const start = (charged: Pick<Charged, 'over' | 'connection' | 'headers' | 'body' | 'read'>): Charged => {
    const one = { ...charged, promptTokens: 0, outputTokens: 0, isComplete: false, isLeft: false, isRefused: false };
    asked.push(one);
    return one;
  };
  upstream.transport = {
    reportsSending: true,
    async send(request) {
      const { headers, body, signal } = request;
      request.sending?.();
      const fields = JSON.parse(String(body)) as Json;
      const one = start({ over: 'http', connection: null, headers, body: fields, read: itemsOf(fields.input) });
      const said = queue.shift() ?? {};
      if (said.error !== undefined) {
        one.isRefused = true;
        const { status, headers: more = {} } = said.error;
        return { status, headers: { 'content-type': 'application/json', ...more }, body: once(errorOf(said.error)) };
      }
      // The model reads the prompt at once, also where the client is gone before the first event.
      one.promptTokens = promptTokensOf(one);
      const events = play(one, said, asked.length);
      const leave = () => {
        one.isLeft ||= !one.isComplete;
      };
      signal.addEventListener('abort', leave);
      return {
        status: 200,
        headers: { 'content-type': 'text/event-stream' },
        body: {
          async read() {
            await nextTurn();
            if (signal.aborted) throw signal.reason;
            const { value, done } = await Promise.race([events.next(), aborted(signal)]);
            if (done) return null;
            if (value === 'close') throw new Error('ECONNRESET');
            return new TextEncoder().encode(`event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`);
          },
          cancel: leave,
        },
      };
    },
    async connect({ url, headers, signal, limits }, listener) {
      if (upstream.refuses === 'hang') await aborted(signal);
      await nextTurn();
      signal.throwIfAborted();
      if (upstream.refuses !== null)
        throw new UpstreamError(`refused (${upstream.refuses})`, { reason: 'network', status: 502, isUnsent: true });
      let latest: { id: unknown; items: readonly unknown[] } | null = null;
      let running: Charged | null = null;
      const number = connections.length;
      const end = (error: unknown) => {
        if (!connection.isOpen) return;
        connection.isOpen = false;
        if (running !== null) running.isLeft = true;
        listener.closed(error);
      };
      const connection: Connected = {
        url,
        headers,
        frameBytes: limits.frameBytes,
        isOpen: true,
        isPaused: false,
        pings: 0,
        listener,
        close: () => end(null),
      };
      connections.push(connection);
      const serve = async (fields: Json) => {
        const { previous_response_id: previous, input } = fields;
        const isKnown = previous === undefined || latest?.id === previous;
        const read = [...(isKnown && previous !== undefined ? (latest?.items ?? []) : []), ...itemsOf(input)];
        const one = start({ over: 'socket', connection: number, headers, body: fields, read });
        const said = queue.shift() ?? {};
        await nextTurn();
        const refuse = (error: { status: number; code: string; headers?: Record<string, string> }) => {
          latest = null;
          one.isRefused = true;
          frame({ type: 'error', status: error.status, ...errorOf(error), headers: error.headers ?? {} });
        };
        const frame = (event: Json) => {
          if (connection.isOpen) listener.frame(JSON.stringify(event));
        };
        if (!isKnown) {
          // What was planned is for the request that follows.
          queue.unshift(said);
          return refuse({ status: 400, code: 'previous_response_not_found' });
        }
        if (said.error !== undefined) return refuse(said.error);
        running = one;
        for (const text of said.before ?? []) listener.frame(text);
        for await (const event of play(one, said, asked.length)) {
          await nextTurn();
          if (!connection.isOpen) return;
          if (event === 'close') return end(null);
          if (event.type === 'response.completed') {
            const { id, output } = event.response as { id: string; output: unknown[] };
            latest = { id, items: [...read, ...output] };
            running = null;
          } else if (event.type === 'error') running = null;
          while (connection.isPaused && connection.isOpen) await nextTurn();
          frame(event);
        }
      };
      return {
        send(text) {
          const fields = JSON.parse(text) as Json;
          if (fields.type !== 'response.create') throw new Error(`unknown frame ${text}`);
          if (running !== null) throw new Error('one response at a time');
          void serve(fields);
        },
        ping() {
          connection.pings++;
          if (upstream.pongs) listener.pong();
        },
        pause: () => {
          connection.isPaused = true;
        },
        resume: () => {
          connection.isPaused = false;
        },
        close: () => end(null),
      };
    },
  };
  return upstream;
}

function promptTokensOf({ read }: Pick<Charged, 'read'>): number {
  return read.length * 10;
}

/** The events of a response, one after the other, as long as somebody reads them. */
async function* play(one: Charged, said: Said, number: number): AsyncGenerator<Json | 'close', void> {
  one.promptTokens = promptTokensOf(one);
  const head = { id: `resp_${number}`, object: 'response', created_at: 1_700_000_000, model: 'gpt-upstream' };
  const events: Json[] = [{ type: 'response.created', response: { ...head, status: 'in_progress', output: [] } }];
  const output: Json[] = [];
  const add = (item: Json, steps: (index: number) => Json[]) => {
    const output_index = output.length;
    output.push(item);
    events.push(
      {
        type: 'response.output_item.added',
        output_index,
        item: { ...item, status: 'in_progress', content: [], arguments: '' },
      },
      ...steps(output_index),
      { type: 'response.output_item.done', output_index, item },
    );
  };
  if (said.thought !== undefined)
    add({ type: 'reasoning', id: `rs_${number}`, summary: [], encrypted_content: said.thought }, () => []);
  const { call, text = 'ok' } = said;
  if (call !== undefined) {
    const { id: call_id, name, arguments: given } = call;
    const item = {
      type: 'function_call',
      id: `fc_${number}`,
      call_id,
      name,
      arguments: given,
      status: 'completed',
    };
    add(item, (output_index) => [
      { type: 'response.function_call_arguments.delta', output_index, item_id: item.id, delta: given },
      { type: 'response.function_call_arguments.done', output_index, item_id: item.id, arguments: given },
    ]);
  } else {
    const part = { type: 'output_text', text, annotations: [], logprobs: [] };
    const item = { type: 'message', id: `msg_${number}`, role: 'assistant', status: 'completed', content: [part] };
    add(item, (output_index) => {
      const place = { output_index, item_id: item.id, content_index: 0 };
      return [
        { type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
        ...text.split(/(?<= )/).map((delta) => ({ type: 'response.output_text.delta', ...place, delta })),
        { type: 'response.output_text.done', ...place, text },
        { type: 'response.content_part.done', ...place, part },
      ];
    });
  }
  for (const [at, event] of events.entries()) {
    if (said.after?.events === at) {
      if (said.after.does === 'close') return void (yield 'close');
      if (said.after.does === 'hang') await new Promise(() => undefined);
      yield { type: 'error', code: 'server_error', message: 'It broke', param: null, sequence_number: at };
      return;
    }
    if (one.outputTokens === 1 && !/\.delta$/.test(String(events[at - 2]?.type))) await said.until;
    if (/\.delta$/.test(String(event.type))) one.outputTokens++;
    yield { ...event, sequence_number: at };
  }
  const { promptTokens: input_tokens, outputTokens: output_tokens } = one;
  const usage = {
    input_tokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input_tokens + output_tokens,
  };
  yield {
    type: 'response.completed',
    sequence_number: events.length,
    response: { ...head, status: 'completed', output, usage, incomplete_details: null, error: null },
  };
  // Only now has it been delivered: a client that left before was never told what it costs.
  one.isComplete = true;
}

function errorOf({ code }: { status: number; code: string }) {
  return { error: { type: 'invalid_request_error', code, message: `The provider says ${code}`, param: null } };
}

function itemsOf(input: unknown): readonly unknown[] {
  return Array.isArray(input) ? input : [{ type: 'message', role: 'user', content: input }];
}

function once(value: object) {
  let left: Uint8Array | null = new TextEncoder().encode(JSON.stringify(value));
  return {
    async read() {
      const bytes = left;
      left = null;
      return bytes;
    },
    cancel: () => undefined,
  };
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
