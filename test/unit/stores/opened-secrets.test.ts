import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/base/errors.ts';
import type { StoredCredential } from '../../../src/schema/tenants/credential.ts';
import { createOpenedSecrets } from '../../../src/stores/credentials/opened.ts';
import { acme, rival } from '../../support/credentials.ts';
import { manualClock, settle } from '../../support/manual-clock.ts';

/** Opens to its ciphertext in capitals, when it is let. */
function setUp() {
  const clock = manualClock();
  const asked: string[] = [];
  const waiting = new Map<string, (error?: Error) => void>();
  let isHeld = false;
  const opened = createOpenedSecrets({
    clock,
    open: async (_, { sealed }) => {
      asked.push(sealed.ciphertext);
      if (isHeld) {
        await new Promise<void>((resolve, reject) =>
          waiting.set(sealed.ciphertext, (error) => (error ? reject(error) : resolve())),
        );
      }
      return { secret: sealed.ciphertext.toUpperCase() };
    },
    onBroken: () => undefined,
  });
  const hold = (now: boolean) => {
    isHeld = now;
  };
  return {
    opened,
    asked,
    clock,
    hold,
    release: (ciphertext: string, error?: Error) => waiting.get(ciphertext)?.(error),
  };
}

const record = (ciphertext: string, id = 'a') => ({ id, sealed: { ciphertext } }) as StoredCredential;

describe('opened secrets', () => {
  it('are each remembered for their workspace and id', async () => {
    const { opened, asked } = setUp();
    expect(await opened.get(acme, record('one'))).toEqual({ secret: 'ONE' });
    expect(await opened.get(acme, record('two', 'b'))).toEqual({ secret: 'TWO' });
    expect(await opened.get(rival, record('three'))).toEqual({ secret: 'THREE' });
    expect(opened.get(acme, record('one'))).toEqual({ secret: 'ONE' });
    expect(asked).toEqual(['one', 'two', 'three']);
  });

  it('that come late do not take the place of newer ones', async () => {
    const { opened, asked, hold, release } = setUp();
    hold(true);
    const late = opened.get(acme, record('old'));
    hold(false);
    expect(await opened.get(acme, record('new'))).toEqual({ secret: 'NEW' });
    release('old');
    expect(await late).toEqual({ secret: 'OLD' });
    expect(opened.get(acme, record('new'))).toEqual({ secret: 'NEW' });
    expect(asked).toEqual(['old', 'new']);
  });

  it('that fail late do not take newer ones along, nor mark them as broken', async () => {
    const { opened, asked, hold, release } = setUp();
    for (const kind of ['internal', 'unavailable'] as const) {
      hold(true);
      const late = opened.get(acme, record(`old ${kind}`));
      hold(false);
      await opened.get(acme, record('new'));
      release(`old ${kind}`, new GatewayError(kind, 'no'));
      await expect(late).rejects.toMatchObject({ kind });
      expect(opened.withoutBroken(acme, [{ id: 'a' }])).toEqual([{ id: 'a' }]);
      expect(opened.get(acme, record('new'))).toEqual({ secret: 'NEW' });
    }
    expect(asked).toEqual(['old internal', 'new', 'old unavailable', 'new']);
  });

  it('are forgotten when told so, also while they are being opened', async () => {
    const { opened, asked, hold, release } = setUp();
    await opened.get(acme, record('one'));
    opened.forget(acme, 'a');
    hold(true);
    const again = opened.get(acme, record('one'));
    opened.forget(acme, 'a');
    release('one');
    await again;
    hold(false);
    await opened.get(acme, record('one'));
    expect(asked).toEqual(['one', 'one', 'one']);
    opened.forget(rival, 'a');
  });

  it('are forgotten when their credential is gone or has another key', async () => {
    const { opened, asked } = setUp();
    for (const [text, id] of [
      ['one', 'a'],
      ['two', 'b'],
      ['three', 'c'],
    ] as const)
      await opened.get(acme, record(text, id));
    opened.keep(
      acme,
      new Map([
        ['a', record('one')],
        ['b', record('changed', 'b')],
      ]),
    );
    asked.length = 0;
    await opened.get(acme, record('one', 'a'));
    await opened.get(acme, record('two', 'b'));
    await opened.get(acme, record('three', 'c'));
    expect(asked).toEqual(['two', 'three']);
    opened.keep(rival, new Map());
  });

  it('are those of the 1,000 workspaces that were used last', async () => {
    const { opened, asked } = setUp();
    for (let at = 0; at <= 1000; at++) await opened.get(`workspace-${at}` as typeof acme, record('one'));
    asked.length = 0;
    await opened.get('workspace-1' as typeof acme, record('one'));
    expect(asked).toEqual([]);
    await opened.get('workspace-0' as typeof acme, record('one'));
    expect(asked).toEqual(['one']);
    await settle();
  });
});
