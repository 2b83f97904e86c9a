import { expect, it } from 'vitest';
import { checkGateway, requestsEach } from '../support/check-explained.ts';
import { isLongRun, runs } from '../support/runs.ts';

const gateways = isLongRun ? 400 : 20;
/** Other gateways in each run. */
const firstSeed = runs(10_001, 1);

/** What such requests meet: of each enough to have shown something. */
const met = [
  ...['allow_fallbacks', 'budget', 'data_collection', 'disabled', 'enforce_distillable_text', 'extended', 'free'],
  ...[
    'ignore',
    'max_price',
    'only',
    'quantizations',
    'require_parameters',
    'cooldown',
    'service_tier',
    'thinking',
    'zdr',
  ],
].map((filter) => `excluded by ${filter}`);
met.push('has_outage', 'is_byok', 'is_pinned', 'is_slow', 'lacks', 'held', 'refused outright');
met.push(...[200, 400, 402, 404, 502, 503].map((status) => `status ${status}`));

it(`what is explained is what then happens: ${gateways * requestsEach} random requests to ${gateways} random gateways`, async () => {
  const seen = new Map<string, number>();
  for (let at = 0; at < gateways; at++) await checkGateway(firstSeed + at, seen);
  if (isLongRun) for (const what of met) expect(seen.get(what) ?? 0, what).toBeGreaterThan(20);
}, 120_000);
