import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/options.ts';
import { testGateway, testKey, upstreamKeys } from '../support/gateway.ts';
import { completedEvent, ofOpenAi, partialEvent } from '../support/images/wire.ts';
import { runs } from '../support/runs.ts';

const asCaller = { authorization: `Bearer ${testKey}` };

/** The behaviour of a provider for one request. */
const behaviours = ['honest', 'silent', 'zero', 'inflated', 'error', 'broken', 'refusal', 'nothing', 'dearer'] as const;

/** Prices of tokens, and of images; the true bill of an image of each in nano-USD. */
const prices = {
  tokens: { pricing: { prompt: '0.000005', imageOutput: '0.00003' }, ofImage: 1_056 * 30_000, ofPrompt: 5_000 },
  images: {
    pricing: {
      prompt: '0',
      outputImages: [
        { size: '1024x1024', quality: 'low', price: '0.01' },
        { size: '1024x1024', quality: 'high', price: '0.17' },
        { size: '1536x1024', price: '0.25' },
      ],
    },
    ofImage: 10_000_000,
    ofPrompt: 0,
  },
} as const;

const plan = fc.record({
  n: fc.integer({ min: 1, max: 4 }),
  size: fc.constantFrom('1024x1024', 'auto', undefined),
  quality: fc.constantFrom('low', 'medium', undefined),
  partials: fc.integer({ min: 0, max: 3 }),
  stream: fc.boolean(),
  sold: fc.constantFrom('tokens', 'images'),
  behaviours: fc.array(fc.constantFrom(...behaviours), { minLength: 1, maxLength: 4 }),
  leaves: fc.constantFrom('never', 'at once', 'after the first byte'),
});

const usageOf = (images: number, partials: number) => {
  const output = 1_056 * images + 100 * partials * images;
  return { input_tokens: 5, output_tokens: output, total_tokens: output + 5 };
};

describe('the money of images', () => {
  it('is held before it is spent, and booked once: true bill ≤ booked ≤ held, whatever the provider says', async () => {
    await fc.assert(
      fc.asyncProperty(plan, async ({ n, size, quality, partials, stream, sold, behaviours: script, leaves }) => {
        const { pricing, ofImage, ofPrompt } = prices[sold];
        const quirks = { images: { streams: true } };
        const t = testGateway({
          providers: {
            up: { baseUrl: 'https://up.test/v1', apiKey: upstreamKeys.up, quirks },
            alt: { baseUrl: 'https://alt.test/v1', apiKey: upstreamKeys.alt, quirks },
          },
          models: [
            {
              slug: 'acme/image',
              outputModalities: ['image'],
              endpoints: [
                { provider: 'up', model: 'up-image', pricing },
                { provider: 'alt', model: 'alt-image', pricing },
              ],
            },
          ],
          retry: { maxAttempts: 3, attemptsPerEndpoint: 2 },
        } as Partial<GatewayOptions>);
        await t.call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 1_000 });
        let trueNano = 0;
        let calls = 0;
        const real = t.upstream.transport.send.bind(t.upstream.transport);
        t.upstream.transport.send = async (request) => {
          const behaviour = script[calls++ % script.length] as (typeof behaviours)[number];
          const usages = {
            honest: usageOf(n, stream ? partials : 0),
            dearer: usageOf(n, stream ? partials : 0),
            zero: { input_tokens: 0, output_tokens: 0, total_tokens: 0 },
            inflated: { input_tokens: 1e9, output_tokens: 1e9, total_tokens: 2e9 },
          };
          const usage = usages[behaviour as keyof typeof usages] ?? null;
          const bill = () => {
            trueNano += ofPrompt * 5 + n * ofImage + (sold === 'tokens' && stream ? n * partials * 100 * 30_000 : 0);
          };
          if (behaviour === 'error') t.upstream.answer({ status: 500, body: {} });
          else if (behaviour === 'refusal') t.upstream.answer({ status: 400, body: {} });
          else if (behaviour === 'nothing') t.upstream.answer({ instead: 'refuse' });
          else {
            bill();
            const broken = behaviour === 'broken';
            const dearer = behaviour === 'dearer' ? { size: '1536x1024', quality: 'high' } : {};
            if (!stream) t.upstream.answer({ body: broken ? '{"data":[' : { ...ofOpenAi(n, usage), ...dearer } });
            else {
              const intermediate = Array.from({ length: partials }, (_, index) => partialEvent(index));
              const done = Array.from({ length: n }, (_, at) => completedEvent(at === n - 1 ? usage : null));
              t.upstream.answer({ body: [...intermediate, ...(broken ? done.slice(1) : done)] });
            }
          }
          return real(request);
        };
        const controller = new AbortController();
        const body = {
          model: 'acme/image',
          prompt: 'An apple',
          n,
          ...(size === undefined ? {} : { size }),
          ...(quality === undefined ? {} : { quality }),
          ...(stream ? { stream, partial_images: partials } : {}),
        };
        const pending = t.gateway.fetch(
          new Request('http://gateway.test/v1/images/generations', {
            method: 'POST',
            headers: { ...asCaller, 'content-type': 'application/json' },
            body: JSON.stringify(body),
            signal: controller.signal,
          }),
        );
        if (leaves === 'at once') controller.abort();
        const read = async (response: Response) => {
          const reader = response.body?.getReader();
          if (leaves === 'after the first byte' && reader !== undefined) {
            await reader.read();
            controller.abort();
          }
          while (reader !== undefined && !(await reader.read()).done);
        };
        await t.run(pending.then(read).catch(() => undefined));
        await t.gateway.flush();
        expect(t.records.length).toBeLessThanOrEqual(1);
        const record = t.records.at(-1);
        if (record === undefined) return;
        // A stream that ends after some of its images is complete: fewer may come than were asked for.
        const isShort = stream && script.includes('broken') && n > 1;
        if (!isShort) expect(record.costNanoUsd ?? 0).toBeGreaterThanOrEqual(trueNano);
        expect(record.overrunNanoUsd).toBe(0);
        const { json } = await t.call('GET', '/workspaces/default/budgets');
        expect(JSON.stringify(json)).not.toMatch(/"held_usd":(?!0[,}])/);
      }),
      { numRuns: runs(25, 500) },
    );
  });
});
