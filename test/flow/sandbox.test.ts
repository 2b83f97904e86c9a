import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { createGateway } from '../../src/gateway.ts';
import { manualClock } from '../support/manual-clock.ts';
import { eventsOf } from '../support/sandbox-call.ts';

/** What docs/sandbox.md promises of each model: status as JSON, status as a stream, whether the stream breaks. */
const promises = readFileSync(new URL('../../docs/sandbox.md', import.meta.url), 'utf8')
  .split('\n')
  .flatMap((line): [string, number, number, boolean][] => {
    const [, model = '', , , seen = ''] = /^\| `(.*?)` \|(.*?)\|(.*?)\|(.*?)\|/.exec(line) ?? [];
    if (!model.startsWith('sandbox/')) return [];
    const json = Number(/\d{3}/.exec(seen)?.[0]);
    const breaks = /stream: 200, then an error chunk/.test(seen);
    return [[model, json, breaks ? 200 : json, breaks]];
  });

function sandboxGateway() {
  const clock = manualClock();
  const key = 'sandbox-test-key';
  const gateway = createGateway({
    providers: { sandbox: {} },
    apiKeys: [{ key, permissions: ['inference'] }],
    clock,
    random: () => 0.5,
    // Two attempts that wait as long as the default allows are as long as a request may take.
    timeouts: { jsonHeadersMs: 60_000 },
  });
  return async (body: object) => {
    const request = new Request('http://gateway.test/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello there' }], ...body }),
    });
    const response = await clock.until(gateway.fetch(request));
    return { status: response.status, headers: response.headers, text: await clock.until(response.text()) };
  };
}

/** The data of the events of a stream, without comments. */
function dataOf(text: string): string[] {
  return eventsOf(text).filter((event) => !event.startsWith(':'));
}

// What is loaded on first use takes time of the machine, while the clock of these tests moves on without it.
beforeAll(() => import('../../src/catalog/snapshot.ts'));

describe('the table of docs/sandbox.md holds for', () => {
  it('every model', () => {
    expect(promises.length).toBeGreaterThan(30);
  });
  it.each(promises)('%s as JSON: %i', async (model, status) => {
    const answer = await sandboxGateway()({ model });
    expect([answer.status, answer.text.slice(0, 300)]).toEqual([status, expect.any(String)]);
    const body = JSON.parse(answer.text);
    if (status === 200) {
      expect(body).toMatchObject({ model, provider: 'Sandbox', system_fingerprint: 'sandbox' });
      expect(body.usage.total_tokens).toBe(body.usage.prompt_tokens + body.usage.completion_tokens);
    } else expect(body.error.code).toBe(status);
    if (model === 'sandbox/rate-limited') expect(answer.headers.get('retry-after')).toBe('1');
    if (model === 'sandbox/free') expect(body.usage.cost).toBe(0);
  });
  it.each(promises)('%s as a stream', async (model, _, status, breaks) => {
    const answer = await sandboxGateway()({ model, stream: true });
    expect([answer.status, answer.text.slice(0, 300)]).toEqual([status, expect.any(String)]);
    if (status !== 200) return expect(JSON.parse(answer.text).error.code).toBe(status);
    const chunks = dataOf(answer.text)
      .filter((data) => data !== '[DONE]')
      .map((data) => JSON.parse(data));
    const reasons = chunks.flatMap(({ choices }) =>
      choices.map((choice: { finish_reason: string | null }) => choice.finish_reason),
    );
    const failed = chunks.filter(({ error }) => error !== undefined);
    expect(failed).toHaveLength(breaks ? 1 : 0);
    expect(reasons.filter((reason) => reason !== null)).toEqual([
      breaks ? 'error' : expect.not.stringMatching('error'),
    ]);
    if (!breaks) expect(chunks.filter(({ usage }) => usage).length).toBe(1);
  });
});

describe('the sandbox behind the gateway', () => {
  it('charges what it counts', async () => {
    const { text } = await sandboxGateway()({ model: 'sandbox/expensive', sandbox: { tokens: 1_000, token_ms: 0 } });
    const { usage } = JSON.parse(text);
    expect(usage.completion_tokens).toBe(1_000);
    expect(usage.cost).toBeCloseTo((usage.prompt_tokens * 100 + 1_000 * 400) / 1e6, 9);
  });
  it('falls back to another model, also when a stream fails on its first event', async () => {
    const ask = sandboxGateway();
    for (const [model, sandbox] of [
      ['error-400', {}],
      ['unreachable', {}],
      ['error-mid-stream', { tokens: 0 }],
      ['cut-stream', { tokens: 0 }],
    ] as const) {
      const { status, text } = await ask({ models: [`sandbox/${model}`, 'sandbox/echo'], stream: true, sandbox });
      expect([model, status]).toEqual([model, 200]);
      expect(dataOf(text).join('')).toContain('"model":"sandbox/echo"');
    }
  });
  it('sets an endpoint aside that refused the key, as the table says', async () => {
    const ask = sandboxGateway();
    expect((await ask({ model: 'sandbox/error-401' })).status).toBe(502);
    const next = await ask({ model: 'sandbox/error-401' });
    expect([next.status, Number(next.headers.get('retry-after')) > 0]).toEqual([503, true]);
    expect((await ask({ model: 'sandbox/echo' })).status).toBe(200);
  });
  it('answers a wrong option with a 400 that names it', async () => {
    const { status, text } = await sandboxGateway()({ model: 'sandbox/echo', sandbox: { speed: 9 } });
    expect(status).toBe(400);
    expect(JSON.parse(text).error.message).toMatch(/sandbox: .*speed/);
  });
});
