import { describe, expect, it } from 'vitest';
import { hello, testGateway } from '../support/gateway.ts';
import { completion, errorBody } from '../support/upstream.ts';

const failure = { status: 500, body: errorBody('No') };
const options = { retry: { maxAttempts: 1 }, health: { failuresToCooldown: 3, cooldownMs: 5000, maxCooldownMs: 8000 } };
const ask = { model: 'acme/fast', messages: hello };

/** A gateway whose only endpoint has just failed three times. */
async function resting() {
  const gateway = testGateway(options);
  gateway.upstream.answer(failure, failure, failure);
  for (let n = 0; n < 3; n++) expect((await gateway.post(ask)).status).toBe(502);
  return gateway;
}

describe('an endpoint that failed several times in a row', () => {
  it('is left alone, and the caller is told for how long', async () => {
    const { post, upstream } = await resting();
    const { status, headers, json } = await post(ask, { 'x-service-metadata': 'enabled' });
    expect([status, headers.get('retry-after'), upstream.sent.length]).toEqual([503, '5', 3]);
    expect(json.error.metadata?.excluded).toEqual([{ model: 'acme/fast', provider: 'up', filter: 'cooldown' }]);
    expect(json.service_metadata).toMatchObject({ attempt: 0, endpoints: { total: 1, available: [] } });
  });
  it('does not stop another', async () => {
    const { post, upstream } = await resting();
    upstream.always({ body: completion() });
    expect((await post({ ...ask, model: 'acme/other' })).status).toBe(200);
    // The endpoint is another one of the same provider.
    expect((await post({ ...ask, model: 'acme/free' })).status).toBe(200);
  });
  it('is tried again by one call, and is back when that succeeds', async () => {
    const { post, send, clock, run, upstream } = await resting();
    await clock.advance(5000);
    upstream.answer({ afterMs: 1000, body: completion() });
    const probe = send(ask);
    await clock.advance(0);
    const meanwhile = await post(ask);
    expect([meanwhile.status, meanwhile.headers.get('retry-after')]).not.toContain(null);
    expect([meanwhile.status, upstream.sent.length]).toEqual([503, 4]);
    expect((await run(probe)).status).toBe(200);
    upstream.answer({ body: completion() });
    expect((await post(ask)).status).toBe(200);
  });
  it('of calls that were planned together, one tries it', async () => {
    const { send, clock, run, upstream } = await resting();
    await clock.advance(5000);
    upstream.answer({ afterMs: 1000, body: completion() });
    const statuses = await Promise.all([1, 2, 3, 4].map(() => run(send(ask)).then(({ status }) => status)));
    expect(statuses.sort()).toEqual([200, 503, 503, 503]);
    expect(upstream.sent).toHaveLength(4);
  });
  it('rests for twice as long when it fails again, up to a limit', async () => {
    const { post, clock, upstream } = await resting();
    for (const seconds of [8, 8]) {
      await clock.advance(8000);
      upstream.answer(failure);
      expect((await post(ask)).status).toBe(502);
      expect((await post(ask)).headers.get('retry-after')).toBe(String(seconds));
    }
  });
  it('is not one that was asked for what nobody could answer, or for too much', async () => {
    const { post, upstream } = testGateway(options);
    for (let n = 0; n < 5; n++) {
      upstream.answer({ status: 400, body: errorBody('Bad') });
      expect((await post(ask)).status).toBe(400);
      upstream.answer({ status: 429, body: errorBody('Slow down') });
      expect((await post(ask)).status).toBe(429);
    }
    upstream.answer({ body: completion() });
    expect((await post(ask)).status).toBe(200);
  });
  it('may have broken off its streams', async () => {
    const { post, upstream } = testGateway(options);
    upstream.always({ body: ['data: {"id":"x","choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n'] });
    const stream = { ...ask, stream: true };
    for (let n = 0; n < 3; n++) expect((await post(stream)).status).toBe(200);
    expect([(await post(stream)).status, upstream.sent.length]).toEqual([503, 3]);
  });
});
