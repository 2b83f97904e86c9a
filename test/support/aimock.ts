import type { IncomingMessage } from 'node:http';
import { LLMock, type Mountable } from '@copilotkit/aimock';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import type { GatewayOptions } from '../../src/options.ts';
import type { RequestRecord } from '../../src/telemetry/record.ts';
import type { AimockTarget } from './aimock-targets.ts';
import { type Answer, chatRequest, nextTurn, readStream, testKey } from './gateway.ts';

/** A request as it came over the wire; the journal of aimock holds what aimock made of it, without images and forms. */
export interface SentToAimock {
  path: string;
  headers: Record<string, string>;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of all wire formats, which a test looks into
  body: any;
  /** How its response ended; null: not yet. */
  end: 'whole' | 'cut' | null;
}

export interface AimockGateway {
  mock: LLMock;
  /** Every request that aimock got, in order. */
  sent: SentToAimock[];
  records: RequestRecord[];
  /** Posts to `acme/mock` and reads the answer to its end; a text is the only message. */
  ask(content: unknown, fields?: object): Promise<Answer>;
  /** As `ask`, without reading. */
  send(content: unknown, fields: object, signal?: AbortSignal): Promise<Response>;
  close(): Promise<void>;
}

/** USD per token, for prompt and completion. */
export const aimockPricing = { prompt: '0.000001', completion: '0.000002' };
/** Of the second endpoint, which has its own provider, address and key in the same dialect. */
export const backup = { provider: 'backup', name: 'Backup', model: 'backup-model', apiKey: 'sk-backup-0123456789' };

/**
 * A gateway in front of aimock, a mock server written by others, over real HTTP. `acme/mock` is at the target alone,
 * `acme/pair` at the target and then at `backup`.
 */
export async function aimockGateway(
  target: AimockTarget,
  options: Partial<GatewayOptions> = {},
): Promise<AimockGateway> {
  const mock = new LLMock({ port: 0, strict: true });
  const sent: SentToAimock[] = [];
  for (const path of ['/api', '/v1', '/v1beta', '/v2', '/model', '/openai']) mock.mount(path, tapInto(sent));
  await mock.start();
  const records: RequestRecord[] = [];
  const { provider, model, dialect, credential } = target;
  const own = { provider, model, pricing: aimockPricing };
  const second = { provider: backup.provider, model: backup.model, pricing: aimockPricing };
  const baseUrl = target.baseUrl(mock.url);
  const gateway: Gateway = createGateway({
    providers: {
      [provider]: { baseUrl, dialect, ...credential },
      [backup.provider]: { baseUrl, dialect, apiKey: backup.apiKey, name: backup.name },
    },
    models: [
      { slug: 'acme/mock', endpoints: [own] },
      { slug: 'acme/pair', endpoints: [own, second] },
    ],
    apiKeys: [{ key: testKey }],
    retry: { attemptsPerEndpoint: 1 },
    onRecord: (record) => records.push(record),
    ...options,
  });
  const send: AimockGateway['send'] = (content, fields, signal) =>
    gateway.fetch(chatRequest({ model: 'acme/mock', messages: [{ role: 'user', content }], ...fields }, {}, signal));
  return {
    mock,
    sent,
    records,
    send,
    ask: async (content, fields = {}) => readStream(await send(content, fields)),
    async close() {
      await gateway.close();
      await mock.stop();
    },
  };
}

/** Notes what comes in, and leaves the answer to aimock. */
function tapInto(sent: SentToAimock[]): Mountable {
  return {
    async handleRequest(req, res) {
      const pieces: Buffer[] = [];
      const headers = Object.entries(req.headers).map(([name, value]) => [name, String(value)]);
      const request: SentToAimock = {
        path: req.url ?? '',
        headers: Object.fromEntries(headers),
        get text() {
          return Buffer.concat(pieces).toString();
        },
        get body() {
          return JSON.parse(this.text);
        },
        end: null,
      };
      sent.push(request);
      watch(req, (piece) => pieces.push(piece));
      res.once('close', () => {
        request.end = res.writableFinished ? 'whole' : 'cut';
      });
      return false;
    },
  };
}

/** Sees the body of a request without reading it: a listener would start it before aimock listens. */
function watch(req: IncomingMessage, see: (piece: Buffer) => void): void {
  const emit = req.emit.bind(req);
  req.emit = (name: string | symbol, ...values: unknown[]) => {
    if (name === 'data') see(values[0] as Buffer);
    return emit(name as string, ...values);
  };
}

/** Lets the event loop turn until it is so; the time-out of the test is the limit. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await nextTurn();
}
