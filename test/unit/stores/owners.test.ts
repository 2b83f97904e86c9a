import { Keyv } from 'keyv';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/base/errors.ts';
import { parseWorkspaceId, type WorkspaceId } from '../../../src/call/workspace.ts';
import type { Ledger } from '../../../src/stores/ledger/ledger.ts';
import { createOwners } from '../../../src/stores/owners.ts';
import { keyvStorage } from '../../../src/stores/storage/keyv.ts';
import type { Storage } from '../../../src/stores/storage/storage.ts';
import { manualClock } from '../../support/manual-clock.ts';

const [mine, theirs] = ['w-1', 'w-2'].map((id) => parseWorkspaceId(id)) as [WorkspaceId, WorkspaceId];

function made() {
  const kv = new Keyv();
  const storage: Storage = keyvStorage(() => kv, {
    kind: 'memory',
    ledger: {} as Ledger,
    isShared: false,
    clock: manualClock(),
    timeoutMs: 250,
  });
  return { storage, owners: createOwners(storage) };
}

describe('an owner', () => {
  it('is known from the claim to the release', async () => {
    const { owners } = made();
    expect(await owners.of('credential', 'a')).toBeNull();
    await owners.claim('credential', 'a', mine);
    expect(await owners.of('credential', 'a')).toBe(mine);
    await owners.release('credential', 'a');
    expect(await owners.of('credential', 'a')).toBeNull();
    await owners.release('credential', 'a');
  });
  it('of one kind says nothing of another', async () => {
    const { owners } = made();
    await owners.claim('credential', 'a', mine);
    expect(await owners.of('api-key', 'a')).toBeNull();
  });
  it('may claim again, after a failure of unknown outcome', async () => {
    const { owners } = made();
    await owners.claim('credential', 'a', mine);
    await owners.claim('credential', 'a', mine);
    expect(await owners.of('credential', 'a')).toBe(mine);
  });
  it('cannot be replaced by another workspace, not even when both claim at once', async () => {
    const { owners } = made();
    const [first, second] = await Promise.allSettled([
      owners.claim('credential', 'a', mine),
      owners.claim('credential', 'a', theirs),
    ]);
    expect(first.status).toBe('fulfilled');
    expect(second).toMatchObject({ status: 'rejected', reason: { kind: 'internal' } });
    expect(await owners.of('credential', 'a')).toBe(mine);
  });
  it.each(['', 'a:b', '../a', '{a}', 'a b', 'ä', 'a\n', 'a'.repeat(81), '__proto__:x'])(
    'of %j there is none, and no store is asked',
    async (id) => {
      const owners = createOwners({
        get: () => expect.unreachable(),
      } as unknown as Storage);
      expect(await owners.of('credential', id)).toBeNull();
    },
  );
  it.each(['', 'a:b', ' w-1', 'x'.repeat(65)])('that is damaged (%j) is not nobody', async (text) => {
    const { storage, owners } = made();
    await storage.commit([{ at: { partition: 'credential.a', kind: 'owner', id: 'owner' }, value: text }]);
    await expect(owners.of('credential', 'a')).rejects.toMatchObject({
      kind: 'internal',
      message: 'A stored record is damaged',
    });
  });
  it('that a store cannot tell is not nobody', async () => {
    const down = new GatewayError('unavailable', 'down');
    const reject = () => Promise.reject(down);
    const owners = createOwners({ get: reject, commit: reject } as unknown as Storage);
    await expect(owners.of('credential', 'a')).rejects.toBe(down);
    await expect(owners.claim('credential', 'a', mine)).rejects.toBe(down);
    await expect(owners.release('credential', 'a')).rejects.toBe(down);
  });
});
