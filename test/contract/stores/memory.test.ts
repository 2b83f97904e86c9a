import { Keyv } from 'keyv';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import type { Ledger } from '../../../src/stores/ledger/ledger.ts';
import { guardStorage } from '../../../src/stores/storage/guard.ts';
import { keyvStorage } from '../../../src/stores/storage/keyv.ts';
import { memoryStorage } from '../../../src/stores/storage/memory.ts';
import { testConversations } from './conversations.ts';
import { slowAdapter } from './slow-adapter.ts';
import { testStorage } from './storage.ts';
import { testStoredResponses } from './stored-responses.ts';
import { testSweep } from './sweep.ts';

const ledger = {} as Ledger;

function open(kind: 'memory' | 'keyv', make: () => Keyv) {
  const kv = make();
  const storage = keyvStorage(() => kv, { kind, ledger, isShared: false, clock: systemClock, timeoutMs: 5_000 });
  return Promise.resolve({ storage, close: () => storage.close() });
}

testStorage('memory, without Keyv', async () => {
  const storage = memoryStorage(ledger);
  return { storage, close: () => storage.close() };
});
testStorage('memory', () => open('memory', () => new Keyv()));
testSweep('memory', async () => {
  const storage = memoryStorage(ledger);
  return { storage, close: () => storage.close() };
});
testSweep('any Keyv', () => open('keyv', () => new Keyv()));
testStoredResponses('memory', () => open('memory', () => new Keyv()));
testStoredResponses('any Keyv', () => open('keyv', () => new Keyv()));
testConversations('memory', () => open('memory', () => new Keyv()));
testConversations('any Keyv', () => open('keyv', () => new Keyv()));
testStorage('memory, a Map that serialises nothing', () =>
  open('memory', () => new Keyv({ store: new Map(), serialization: false })),
);
testStorage('memory, with a namespace and keys made clean', () =>
  open('memory', () => new Keyv({ namespace: 'gateway', sanitize: { keys: true, namespace: true } })),
);
testStorage('any Keyv, whose answers come late and out of order', () =>
  open('keyv', () => new Keyv({ store: slowAdapter(), ttl: 1 })),
);

testStorage('memory, guarded', async () => {
  const { storage } = await open('memory', () => new Keyv());
  const guarded = guardStorage(storage, { clock: systemClock, timeoutMs: 5_000 });
  return { storage: guarded, close: () => guarded.close() };
});

/** Counts what is read, and cannot be looked through. */
class CountingMap extends Map<string, unknown> {
  reads = 0;

  override get(key: string): unknown {
    this.reads++;
    return super.get(key);
  }

  override keys(): never {
    throw new Error('looked through');
  }

  override values(): never {
    throw new Error('looked through');
  }

  override entries(): never {
    throw new Error('looked through');
  }

  override forEach(): never {
    throw new Error('looked through');
  }

  override [Symbol.iterator](): never {
    throw new Error('looked through');
  }
}

describe('a list in memory', () => {
  it('of 1,000 records among 200,000 others looks at those alone', async () => {
    const map = new CountingMap();
    for (let n = 0; n < 200_000; n++) map.set(`foreign-${n}`, { value: '{"value":1}', expires: undefined });
    const { storage } = await open('memory', () => new Keyv({ store: map }));
    const ids = Array.from({ length: 1_000 }, (_, n) => `id-${String(n).padStart(4, '0')}`);
    for (const id of ids) {
      await storage.commit([{ at: { partition: 'mine', kind: 'thing', id }, value: `{"id":"${id}"}`, rank: 0 }]);
    }
    map.reads = 0;
    const { records, total } = await storage.list('mine', 'thing', { offset: 0, limit: 1_000 });
    expect([records.map(({ id }) => id), total]).toEqual([ids, 1_000]);
    // The list itself is a few entries.
    expect(map.reads).toBeLessThan(1_000 + 20);
    map.reads = 0;
    await storage.commit([{ at: { partition: 'mine', kind: 'thing', id: 'id-0500' }, value: null }]);
    expect(map.reads).toBeLessThan(10);
  });
});
