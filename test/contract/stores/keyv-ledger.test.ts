import { Keyv } from 'keyv';
import { systemClock } from '../../../src/base/clock.ts';
import { keyvLedger } from '../../../src/stores/ledger/keyv.ts';
import { testLedger } from './ledger.ts';
import { slowAdapter } from './slow-adapter.ts';

testLedger('ledger over any Keyv', async ({ onLostHold = 'charge', now = Date.now } = {}) => {
  const kv = new Keyv({ store: slowAdapter(), ttl: 1 });
  return { ledger: keyvLedger(() => kv, { onLostHold, clock: { ...systemClock, now } }), close: async () => {} };
});
