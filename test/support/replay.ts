import { openaiChat } from '../../src/dialects/openai-chat/index.ts';
import { createGateway } from '../../src/gateway.ts';
import './late-parts.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { defineProvider, type Provider } from '../../src/providers/provider.ts';
import type { Logger, RequestRecord } from '../../src/telemetry/record.ts';
import type { Transport } from '../../src/transport/transport.ts';
import { manualClock } from './manual-clock.ts';

export interface ReplayedAnswer {
  status: number;
  text: string;
}

/** What the upstream answers. */
export interface UpstreamPieces {
  status?: number;
  headers?: Record<string, string>;
  pieces: readonly Uint8Array[];
}

export interface Replay {
  /** Sends a request and has it answered with these pieces. */
  send(answer: UpstreamPieces, request: object): Promise<ReplayedAnswer>;
  /** As `send`, by POST /responses: the request has `input` in place of `messages`. */
  respond(answer: UpstreamPieces, request: object): Promise<ReplayedAnswer>;
  /** As `send`, by POST /messages. */
  message(answer: UpstreamPieces, request: object): Promise<ReplayedAnswer>;
  /** As `send`, by POST /models/{model}: the request has `contents` in place of `messages`. @param call  such as `:generateContent` */
  generate(answer: UpstreamPieces, request: object, call: string): Promise<ReplayedAnswer>;
  /** What the gateway recorded of the last request. */
  lastRecord(): RequestRecord;
  /** The body that was sent upstream for the last request; empty: none was. */
  lastSent(): Record<string, unknown>;
  /** Where it was sent to, and with which headers. */
  lastHead(): { url: string; headers: Readonly<Record<string, string>> };
  /** true when the last answer was read to its end or cancelled. */
  letGo(): boolean;
}

const key = 'replay-test-key';
const baseUrl = 'http://replay.invalid/v1';
// Whatever an upstream sends, what the gateway sends is valid UTF-8.
const decoder = new TextDecoder('utf-8', { fatal: true });

export interface ReplayOptions {
  /** `decoded`: the dialect is said not to be ours, so that every event is decoded. Default `verbatim`. */
  lane?: 'passthrough' | 'decoded';
  /** The provider that is replayed, with the slug `replay`. Default: one that speaks chat completions. */
  provider?: Provider;
  /** Model options beside the slug and the endpoint. */
  model?: object;
  /** The gateway's key at the upstream. Default: none. */
  apiKey?: string;
  limits?: GatewayOptions['limits'];
  logger?: Logger;
  /** Default: 1 USD per million prompt tokens, 2 per million completion tokens. */
  pricing?: NonNullable<GatewayOptions['models']>[number]['endpoints'][number]['pricing'];
}

const usualPricing = { prompt: '0.000001', completion: '0.000002' };

/**
 * A gateway whose only upstream answers with given bytes, without a network. Time stands still and ids repeat, so that
 * the same answer gives the same bytes.
 */
export function replayGateway({
  lane = 'passthrough',
  provider,
  model = {},
  apiKey,
  limits,
  logger,
  pricing = usualPricing,
}: ReplayOptions = {}): Replay {
  let pieces: readonly Uint8Array[] = [];
  let head = { status: 200, headers: {} as Record<string, string> };
  let record: RequestRecord | null = null;
  let sent: Record<string, unknown> = {};
  let sentHead: ReturnType<Replay['lastHead']> = { url: '', headers: {} };
  let isOver = false;
  const transport: Transport = {
    async send({ url, headers, body, signal }) {
      let at = 0;
      isOver = false;
      signal.addEventListener('abort', () => {
        isOver = true;
      });
      sent = JSON.parse(body as string);
      sentHead = { url, headers };
      const read = async () => {
        const piece = pieces[at++] ?? null;
        if (piece === null) isOver = true;
        return piece;
      };
      return {
        ...head,
        body: {
          read,
          cancel() {
            isOver = true;
          },
        },
      };
    },
  };
  const clock = manualClock();
  const gateway = createGateway({
    providers: {
      replay:
        provider ??
        (lane === 'passthrough'
          ? { baseUrl, apiKey }
          : defineProvider({ slug: 'replay', baseUrl, dialect: { ...openaiChat, format: undefined } })),
    },
    limits,
    logger,
    models: [
      {
        ...model,
        slug: 'acme/replayed',
        endpoints: [{ provider: 'replay', model: 'recorded', pricing }],
      },
    ],
    apiKeys: [{ key }],
    retry: { maxAttempts: 1 },
    // One gateway replays many failures.
    health: { failuresToCooldown: 1_000_000 },
    transport,
    clock,
    random: () => 0.5,
    ids: { uuid: () => '00000000-0000-4000-8000-000000000000' },
    onRecord: (one) => {
      record = one;
    },
  });
  async function post(
    path: string,
    { status = 200, headers = {}, pieces: given }: UpstreamPieces,
    body: object,
    read = textOf,
  ) {
    pieces = given;
    head = { status, headers };
    record = null;
    sent = {};
    const response = await gateway.handle(
      new Request(`http://gateway.test/v1${path}`, { method: 'POST', headers: { authorization: `Bearer ${key}` } }),
      { body: { model: 'acme/replayed', ...body } },
    );
    return { status: response.status, text: await read(response) };
  }
  return {
    send: (answer, request) =>
      post('/chat/completions', answer, { messages: [{ role: 'user', content: 'Go on.' }], ...request }),
    respond: (answer, request) => post('/responses', answer, { input: 'Go on.', ...request }),
    message: (answer, request) =>
      post('/messages', answer, { max_tokens: 1_000, messages: [{ role: 'user', content: 'Go on.' }], ...request }),
    generate: (answer, request, call) =>
      post(
        `/models/acme/replayed${call}`,
        answer,
        { contents: [{ parts: [{ text: 'Go on.' }] }], ...request },
        // An error comes a moment after the events before it.
        (response) => clock.until(textOf(response)),
      ),
    lastRecord() {
      if (record === null) throw new Error('Nothing was recorded');
      return record;
    },
    lastSent: () => sent,
    lastHead: () => sentHead,
    letGo: () => isOver,
  };
}

/** `response.text()` in a fraction of its time, for hundreds of thousands of answers. */
async function textOf(response: Response): Promise<string> {
  if (response.body === null) return '';
  const reader = response.body.getReader();
  const parts: Uint8Array[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
  }
  return decoder.decode(parts.length === 1 ? parts[0] : Buffer.concat(parts));
}

/** The bytes in pieces of a size. */
export function piecesOf(bytes: Uint8Array, size: number): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
  return pieces;
}
