import { it } from 'vitest';
import { checkGateway, requestsEach } from '../support/check-explained.ts';

const gateways = 20;

/** As the long test does, with other seeds. */
it(`what is explained is what then happens: ${gateways * requestsEach} random requests to ${gateways} random gateways`, async () => {
  const seen = new Map<string, number>();
  for (let seed = 10_001; seed <= 10_000 + gateways; seed++) await checkGateway(seed, seen);
});
