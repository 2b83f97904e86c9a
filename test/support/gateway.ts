import type { Ids } from '../../src/base/ids.ts';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import './late-parts.ts';
import type { GatewayOptions } from '../../src/options.ts';
import type { RequestRecord } from '../../src/telemetry/record.ts';
import { type Answer, readAnswer } from './answer.ts';
import { cryptoWork } from './crypto-work.ts';
import { type ManualClock, manualClock } from './manual-clock.ts';
import { type ScriptedUpstream, scriptedUpstream } from './upstream.ts';

export * from './answer.ts';

export const testKey = 'sk-test-inference';
export const managementKey = 'sk-test-management';
/** What the providers `up` and `alt` are called with. */
export const upstreamKeys = { up: 'sk-upstream-up-0123456789', alt: 'sk-upstream-alt-0123456789' };

/** USD per token, all different, so that a wrong kind of token shows in the cost. */
export const testPricing = {
  prompt: '0.000002',
  completion: '0.000008',
  inputCacheRead: '0.0000005',
  inputCacheWrite: '0.0000025',
  internalReasoning: '0.00001',
};

export interface TestGateway {
  gateway: Gateway;
  clock: ManualClock;
  upstream: ScriptedUpstream;
  /** Every finished request, in order. */
  records: RequestRecord[];
  /** Posts a chat completion and reads the answer to its end, moving the clock as far as that takes. */
  post(body: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** As `post`, without reading and without moving the clock. */
  send(body: unknown, headers?: Record<string, string>, signal?: AbortSignal): Promise<Response>;
  /**
   * Any operation below `/v1`, with the management key unless headers say otherwise; a body that is a text is sent as
   * it is.
   */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<CallAnswer>;
  /** Moves the clock as far as it takes for the promise to settle. */
  run<T>(promise: Promise<T>): Promise<T>;
}

/** An answer of JSON. */
export interface CallAnswer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: of any operation, for a test to look into
  json: any;
}

export const hello = [{ role: 'user', content: 'Hello' }];

/**
 * A gateway on a manual clock with a scripted upstream behind two providers, `up` and `alt`, and the models
 * - `acme/fast`: up, priced
 * - `acme/pair`: up, then alt
 * - `acme/other`: alt, priced; `acme/free`: up, no known price
 * @param options  replace what is here, option by option
 */
export function testGateway(options: Partial<GatewayOptions> = {}): TestGateway {
  const clock = manualClock();
  const upstream = scriptedUpstream(clock);
  const records: RequestRecord[] = [];
  const gateway = createGateway({
    providers: {
      up: { baseUrl: 'https://up.test/v1', apiKey: upstreamKeys.up, name: 'Up' },
      alt: { baseUrl: 'https://alt.test/v1', apiKey: upstreamKeys.alt, name: 'Alt' },
    },
    models: [
      { slug: 'acme/fast', endpoints: [{ provider: 'up', model: 'up-fast', pricing: testPricing }] },
      {
        slug: 'acme/pair',
        endpoints: [
          { provider: 'up', model: 'up-pair', pricing: testPricing },
          { provider: 'alt', model: 'alt-pair', pricing: testPricing },
        ],
      },
      { slug: 'acme/other', endpoints: [{ provider: 'alt', model: 'alt-other', pricing: testPricing }] },
      { slug: 'acme/free', endpoints: [{ provider: 'up', model: 'up-free' }] },
    ],
    ...(options.authenticate
      ? {}
      : { apiKeys: [{ key: testKey }, { key: managementKey, permissions: ['management'] }] }),
    transport: upstream.transport,
    clock,
    random: () => 0.5,
    ids: countedIds(),
    onRecord: (record) => records.push(record),
    ...options,
  });
  const run = <T>(promise: Promise<T>) => drive(clock, promise, () => upstream.sent.length);
  const send: TestGateway['send'] = (body, headers, signal) => gateway.fetch(chatRequest(body, headers, signal));
  return {
    gateway,
    clock,
    upstream,
    records,
    run,
    send,
    async call(method, path, body, headers) {
      const response = await run(
        gateway.fetch(
          new Request(`http://gateway.test/v1${path}`, {
            method,
            headers: {
              authorization: `Bearer ${managementKey}`,
              ...(body === undefined ? {} : { 'content-type': 'application/json' }),
              ...headers,
            },
            ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
          }),
        ),
      );
      const text = await run(response.text());
      return { status: response.status, headers: response.headers, text, json: text === '' ? null : JSON.parse(text) };
    },
    post: async (body, headers) => {
      const response = await run(send(body, headers));
      return readAnswer(response, run(response.text()));
    },
  };
}

/** A request as a client sends it. A body that is no object is sent as it is. */
export function chatRequest(body: unknown, headers: Record<string, string> = {}, signal?: AbortSignal): Request {
  const isText = typeof body === 'string' || body instanceof Uint8Array;
  return new Request('http://gateway.test/v1/chat/completions', {
    method: 'POST',
    headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json', ...headers },
    body: isText ? (body as string) : JSON.stringify(body),
    ...(signal ? { signal } : {}),
  });
}

/** Ids that count: the completions of a gateway are `gen-<seconds>-…1`, `…2`, and so on. */
export function countedIds(): Ids {
  let count = 0;
  return { uuid: () => `00000000-0000-4000-8000-${String(++count).padStart(12, '0')}` };
}

/**
 * Moves the clock, timer by timer, until the promise settles. Unlike `clock.until` it first lets everything happen that
 * needs no time, timers of length 0 included, so that a time-out never fires while the work goes on.
 * @param progress  changes while the work goes on, such as the number of requests that were sent
 * @throws Error when nothing is left that time could bring about
 */
export async function drive<T>(clock: ManualClock, promise: Promise<T>, progress = () => 0): Promise<T> {
  let isSettled = false;
  const note = () => {
    isSettled = true;
  };
  promise.then(note, note);
  for (;;) {
    let latest = progress();
    for (let turn = 0; (turn < 8 || cryptoWork.pending > 0) && !isSettled; turn++) {
      await nextTurn();
      if (progress() === latest) continue;
      latest = progress();
      turn = 0;
    }
    if (isSettled) return promise;
    // A module that is loaded where it is first needed takes a moment on a busy machine.
    for (let wait = 0; clock.nextMs === null && !isSettled && wait < 400; wait++)
      await new Promise((resolve) => setTimeout(resolve, 5));
    if (isSettled) return promise;
    if (clock.nextMs === null) throw new Error('The promise waits for something other than the clock');
    await clock.advance(clock.nextMs - clock.now());
  }
}

/** A turn of the event loop, its timers of length 0 included. */
export async function nextTurn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setTimeout(resolve, 0));
}
