import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AimockGateway, aimockGateway, backup, type SentToAimock, until } from '../support/aimock.ts';
import { type AimockError, aimockTable } from '../support/aimock-targets.ts';
import { type Answer, joined } from '../support/gateway.ts';
import { manualClock } from '../support/manual-clock.ts';

let aimock: AimockGateway;
afterEach(() => aimock.close());

const long = 'This is a long answer that will be cut somewhere';
const pair = { model: 'acme/pair' };

/** Each kind of error: what the client gets where nobody else is left, and its error type. */
const errors: [AimockError, number, string][] = [
  ['invalid', 400, 'invalid_request'],
  ['unauthenticated', 502, 'provider_credentials'],
  ['forbidden', 502, 'provider_credentials'],
  ['limited', 429, 'rate_limit_exceeded'],
  ['broken', 502, 'provider_unavailable'],
  ['overloaded', 529, 'provider_overloaded'],
];

/** A server of one's own takes the key where those who made its dialect take it. */
const keyIn = ({ headers }: SentToAimock) =>
  headers['x-api-key'] ?? headers['x-goog-api-key'] ?? headers.authorization?.replace('Bearer ', '');
const contentOf = ({ chunks, json }: Answer) =>
  chunks.length > 0 ? joined(chunks).content : json.choices[0]?.message.content;

describe.each(aimockTable)('%s at aimock', (_, target) => {
  beforeEach(async () => {
    aimock = await aimockGateway(target);
  });
  /** The second endpoint answers; it has a model of its own. */
  const withBackup = () => aimock.mock.on({ userMessage: 'hello', model: backup.model }, { content: 'Saved' });
  const statuses = () => aimock.records.map(({ attempts }) => attempts.map(({ status }) => status));

  describe.each([false, true])('stream: %s', (stream) => {
    it.each(errors)("refuses: the client is told of an error that is '%s'", async (kind, expected, errorType) => {
      const [status, type] = target.errors[kind];
      aimock.mock.onMessage('hello', { error: { message: 'Such words', type }, status, retryAfter: 3 });
      const { status: told, json, headers } = await aimock.ask('hello', { stream });
      const hasWords = target.limits.errorWords === undefined;
      const words = hasWords ? 'Such words' : `The provider responded with status ${status}.`;
      expect([told, json.error.metadata?.error_type]).toEqual([expected, errorType]);
      expect(json.error.metadata?.provider_name).toBe(target.name);
      // What is the operator's own is not for clients: the record has it.
      const isOperators = kind === 'unauthenticated' || kind === 'forbidden';
      expect(json.error.message).toBe(isOperators ? `${target.name} refused the gateway's own credentials` : words);
      const code = target.limits.errorCodes === undefined ? type : String(status);
      expect(json.error.metadata?.provider_code).toBe(hasWords && !isOperators ? code : undefined);
      if (kind === 'limited') expect(headers.get('retry-after')).toBe('3');
      expect(aimock.records).toMatchObject([
        { outcome: 'failed', status: told, costNanoUsd: 0, attempts: [{ status, message: words }] },
      ]);
    });
    it.each(errors.filter(([kind]) => kind !== 'invalid'))(
      "refuses with an error that is '%s': the second endpoint answers",
      async (kind) => {
        const [status, type] = target.errors[kind];
        withBackup();
        aimock.mock.onMessage('hello', { error: { message: 'Such words', type }, status });
        const answer = await aimock.ask('hello', { ...pair, stream });
        expect([answer.status, contentOf(answer)]).toEqual([200, 'Saved']);
        expect(statuses()).toEqual([[status, 200]]);
        expect(aimock.sent.slice(1).map(keyIn)).toEqual([backup.apiKey]);
      },
    );
    it('refuses a faulty request: nobody else is asked', async () => {
      const [status, type] = target.errors.invalid;
      withBackup();
      aimock.mock.onMessage('hello', { error: { message: 'Such words', type }, status });
      expect((await aimock.ask('hello', { ...pair, stream })).status).toBe(400);
      expect(aimock.sent).toHaveLength(1);
    });
    it.each([
      ['fails', { dropRate: 1 }, 500],
      ['disconnects', { disconnectRate: 1 }, 502],
      ['sends what is no JSON', { malformedRate: 1 }, 502],
      ['has too many requests', { rateLimitRate: 1 }, 429],
    ])('%s: the second endpoint answers', async (__, chaos, status) => {
      withBackup();
      aimock.mock.onMessage('hello', { content: 'Hi' }, { chaos });
      const answer = await aimock.ask('hello', { ...pair, stream });
      expect([answer.status, contentOf(answer)]).toEqual([200, 'Saved']);
      expect(statuses()).toEqual([[status, 200]]);
    });
    it('is asked again when the time has come that it names', async () => {
      const clock = manualClock();
      await aimock.close();
      aimock = await aimockGateway(target, { clock, retry: { attemptsPerEndpoint: 2 } });
      const [status, type] = target.errors.limited;
      const error = { message: 'Slow down', type };
      aimock.mock.on({ userMessage: 'hello', sequenceIndex: 0 }, { error, status, retryAfter: 3 });
      aimock.mock.on({ userMessage: 'hello', sequenceIndex: 1 }, { content: 'Hi' });
      const pending = aimock.ask('hello', { stream });
      // Nothing but this clock may bring it about.
      await until(() => clock.nextMs === clock.now() + 3_000);
      await clock.advance(3_000);
      const answer = await pending;
      expect([contentOf(answer), statuses()]).toEqual(['Hi', [[429, 200]]]);
    });
  });

  it('is left by its client before it answers: its connection is closed, and what may be charged is booked', async () => {
    aimock.mock.onMessage('hello', { content: long }, { chaos: { latencyMs: 30_000 } });
    const client = new AbortController();
    const response = aimock.send('hello', {}, client.signal).catch(({ name }: Error) => name);
    await until(() => aimock.sent[0]?.text !== '' && aimock.sent.length === 1);
    expect(aimock.sent[0]?.end).toBeNull();
    client.abort();
    await until(() => aimock.sent[0]?.end !== null && aimock.records.length === 1);
    expect([await response, aimock.sent[0]?.end]).toEqual(['AbortError', 'cut']);
    expect(aimock.records).toMatchObject([{ outcome: 'cancelled', status: 499 }]);
    expect(aimock.records[0]?.costNanoUsd).toBeGreaterThan(0);
  });
  it('is left by its client in a stream: its connection is closed, and what came is booked', async () => {
    // After nine pieces it pauses for longer than the test may take.
    const interChunkDelaysMs = [0, 0, 0, 0, 0, 0, 0, 0, 600_000];
    const recordedTimings = { ttftMs: 0, interChunkDelaysMs, totalDurationMs: 0 };
    aimock.mock.onMessage('hello', { content: long }, { chunkSize: 2, recordedTimings });
    const client = new AbortController();
    const response = await aimock.send('hello', { stream: true }, client.signal);
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let text = '';
    while (!text.includes('"Th')) text += new TextDecoder().decode((await reader.read()).value);
    expect([aimock.sent[0]?.end, aimock.records]).toEqual([null, []]);
    client.abort();
    await until(() => aimock.sent[0]?.end !== null && aimock.records.length === 1);
    expect(aimock.sent[0]?.end).toBe('cut');
    expect(aimock.records).toMatchObject([
      { outcome: 'cancelled', status: 499, provider: target.name, isEstimated: true },
    ]);
    expect(aimock.records[0]?.usage?.completion_tokens).toBeGreaterThan(0);
    expect(aimock.records[0]?.costNanoUsd).toBeGreaterThan(0);
  });
  it.each([8, 16])('is cut in its text after %s pieces: an error, which never looks whole', async (pieces) => {
    withBackup();
    aimock.mock.onMessage('hello', { content: long }, { chunkSize: 2, latency: 1, truncateAfterChunks: pieces });
    const { chunks } = await aimock.ask('hello', { ...pair, stream: true });
    const { content, finish } = joined(chunks);
    expect([long.startsWith(content), content.length > 0, finish]).toEqual([true, true, 'error']);
    expect(chunks.at(-1)).toMatchObject({ error: { code: 502 }, choices: [{ finish_reason: 'error' }] });
    // What the client has cannot be taken back: nobody else is asked.
    await until(() => aimock.sent[0]?.end !== null);
    expect(aimock.sent.map(({ end }) => end)).toEqual(['cut']);
    expect(aimock.records).toMatchObject([{ outcome: 'cut', status: 502 }]);
    expect(aimock.records[0]?.costNanoUsd).toBeGreaterThan(0);
  });
  it('is cut in the arguments of a call: an error, which never looks like a call to make', async () => {
    const call = { id: 'call_1', name: 'get_weather', arguments: JSON.stringify({ city: long }) };
    const tools = [{ type: 'function', function: { name: 'get_weather', parameters: { type: 'object' } } }];
    const cutting = { chunkSize: 2, latency: 1, truncateAfterChunks: 8 };
    aimock.mock.onMessage('hello', { toolCalls: [call] }, cutting);
    const { chunks } = await aimock.ask('hello', { tools, stream: true });
    const isWhole = target.limits.cutCalls !== undefined;
    const { calls, finish } = joined(chunks);
    expect([finish, calls[0]?.arguments === call.arguments]).toEqual(isWhole ? ['tool_calls', true] : ['error', false]);
    expect(aimock.records).toMatchObject([{ outcome: isWhole ? 'ok' : 'cut' }]);
  });
  it('is cut after any number of pieces: an error, unless nothing but its end is missing', async () => {
    await aimock.close();
    aimock = await aimockGateway(target, { health: { failuresToCooldown: 1_000 } });
    const call = { id: 'call_1', name: 'get_weather', arguments: '{"city":"Bern and Rome"}' };
    const answer = { content: long, reasoning: 'Let me see', toolCalls: [call] };
    const ends: (string | null | undefined)[] = [];
    for (let pieces = 1; aimock.sent.at(-1)?.end !== 'whole'; pieces++) {
      aimock.mock.clearFixtures();
      aimock.mock.onMessage('hello', answer, { chunkSize: 12, latency: 1, truncateAfterChunks: pieces });
      const { status, chunks } = await aimock.ask('hello', { stream: true });
      await until(() => aimock.sent.at(-1)?.end !== null);
      const { content, calls, finish } = joined(chunks);
      // Before the first token it is an ordinary error.
      ends.push(status === 502 ? 'error' : finish);
      if (ends.at(-1) === 'error') continue;
      expect([finish, content.endsWith(long), calls]).toEqual(['tool_calls', true, [call]]);
    }
    const whole = ends.indexOf('tool_calls');
    expect(whole).toBeGreaterThan(4);
    expect(new Set(ends.slice(whole))).toEqual(new Set(['tool_calls']));
  });
});
