import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/options.ts';
import { testGateway, testKey, upstreamKeys } from '../support/gateway.ts';
import { runs } from '../support/runs.ts';

const asCaller = { authorization: `Bearer ${testKey}` };
const picoPerToken = 1_000_000;

/** The behaviour of a provider for one request of a batch. */
const behaviours = ['honest', 'silent', 'zero', 'inflated', 'error', 'broken', 'refusal', 'nothing'] as const;

const plan = fc.record({
  texts: fc.array(fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' }), { minLength: 1, maxLength: 6 }),
  items: fc.integer({ min: 1, max: 3 }),
  behaviours: fc.array(fc.constantFrom(...behaviours), { minLength: 1, maxLength: 12 }),
  leaves: fc.boolean(),
});

describe('the money of embeddings', () => {
  it('is held before it is spent, and booked once: true bill ≤ booked ≤ held, whatever the provider says', async () => {
    await fc.assert(
      fc.asyncProperty(plan, async ({ texts, items, behaviours: script, leaves }) => {
        const t = testGateway({
          providers: {
            up: { baseUrl: 'https://up.test/v1', apiKey: upstreamKeys.up, quirks: { embeddings: { items } } },
            alt: { baseUrl: 'https://alt.test/v1', apiKey: upstreamKeys.alt, quirks: { embeddings: { items } } },
          },
          models: [
            {
              slug: 'acme/embed',
              endpoints: [
                { provider: 'up', model: 'up-embed', pricing: { prompt: '0.000001' } },
                { provider: 'alt', model: 'alt-embed', pricing: { prompt: '0.000001' } },
              ],
            },
          ],
          retry: { maxAttempts: 3, attemptsPerEndpoint: 2 },
        } as Partial<GatewayOptions>);
        await t.call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 5 });
        let trueNano = 0;
        let asked = 0;
        // Answers are made of what is asked, in the order of arrival.
        const real = t.upstream.transport.send.bind(t.upstream.transport);
        t.upstream.transport.send = async (request) => {
          const { input } = JSON.parse(String(request.body)) as { input: string[] };
          const tokens = input.reduce(
            (sum, text) => sum + Math.max(1, Math.ceil(new TextEncoder().encode(text).length / 3)),
            0,
          );
          const behaviour = script[asked++ % script.length] as (typeof behaviours)[number];
          const data = input.map((_, index) => ({ object: 'embedding', index, embedding: [index, 1] }));
          const usages = {
            honest: { prompt_tokens: tokens },
            zero: { prompt_tokens: 0 },
            inflated: { prompt_tokens: 1e9 },
          };
          if (behaviour === 'error') t.upstream.answer({ status: 500, body: {} });
          else if (behaviour === 'refusal') t.upstream.answer({ status: 400, body: {} });
          else if (behaviour === 'nothing') t.upstream.answer({ instead: 'refuse' });
          else {
            trueNano += (tokens * picoPerToken) / 1000;
            if (behaviour === 'broken') t.upstream.answer({ body: '{"data":[' });
            else t.upstream.answer({ body: { data, usage: usages[behaviour as keyof typeof usages] } });
          }
          return real(request);
        };
        const controller = new AbortController();
        const pending = t.gateway.fetch(
          new Request('http://gateway.test/v1/embeddings', {
            method: 'POST',
            headers: { ...asCaller, 'content-type': 'application/json' },
            body: JSON.stringify({ model: 'acme/embed', input: texts }),
            signal: controller.signal,
          }),
        );
        if (leaves) controller.abort();
        await t.run(pending.then((response) => response.text()).catch(() => undefined));
        await t.gateway.flush();
        const record = t.records.at(-1);
        if (record === undefined) return;
        expect(record.costNanoUsd ?? 0).toBeGreaterThanOrEqual(trueNano);
        expect(record.overrunNanoUsd).toBe(0);
        const { json } = await t.call('GET', '/workspaces/default/budgets');
        expect(JSON.stringify(json)).not.toContain('"held_usd":0.');
      }),
      { numRuns: runs(15, 300) },
    );
  });
});
