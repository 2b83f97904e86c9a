import { describe, expect, it } from 'vitest';
import { defaultWorkspaceId, type WorkspaceId } from '../../../src/call/workspace.ts';
import { ownerReachable, reachableWorkspace, reachWorkspace } from '../../../src/stores/access.ts';
import type { OwnedKind } from '../../../src/stores/owners.ts';
import { callerOf, tenantStores, workspaceInput } from '../../support/tenants.ts';

async function setUp() {
  const { open } = tenantStores();
  const { workspaces, owners } = open();
  const [own, foreign] = [
    await workspaces.create(workspaceInput('own'), 'me'),
    await workspaces.create(workspaceInput('foreign'), 'me'),
  ];
  const bound = callerOf({ managesAll: false, workspaceId: own.id });
  return { workspaces, owners, own, foreign, bound, unbound: callerOf() };
}

/** The words of a refusal, which must not tell why. */
async function refusal(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => new Error('was let through'),
    (thrown: Error & { status: number }) => thrown,
  );
  return `${'status' in error ? error.status : '-'} ${error.message}`;
}

describe('a workspace', () => {
  it('that is not named is the caller’s own', async () => {
    const { workspaces, bound, unbound, own } = await setUp();
    expect(await reachableWorkspace(workspaces, bound, undefined)).toBe(own.id);
    expect(await reachableWorkspace(workspaces, unbound, undefined)).toBe(defaultWorkspaceId);
  });
  it('is reached by whoever manages all, by id and by slug', async () => {
    const { workspaces, unbound, own, foreign } = await setUp();
    for (const { id, settings } of [own, foreign]) {
      for (const name of [id, settings.slug]) {
        expect(await reachableWorkspace(workspaces, unbound, name)).toBe(id);
        expect((await reachWorkspace(workspaces, unbound, name)).id).toBe(id);
      }
    }
  });
  it('of its own is reached by whoever is bound to it, and no other, in the same words as one that is not there', async () => {
    const { workspaces, bound, own, foreign } = await setUp();
    expect(await reachableWorkspace(workspaces, bound, 'own')).toBe(own.id);
    const names = [
      foreign.id,
      'foreign',
      'default',
      defaultWorkspaceId,
      'nobody',
      crypto.randomUUID(),
      '',
      'A B',
      '../own',
    ];
    const words = await Promise.all(names.map((name) => refusal(reachableWorkspace(workspaces, bound, name))));
    expect(new Set(words)).toEqual(new Set(['404 There is no workspace with this id or slug']));
  });
  it('whose slug is the id a host app gave another is not that one', async () => {
    const { workspaces } = await setUp();
    const caller = callerOf({ managesAll: false, workspaceId: 'own' as WorkspaceId });
    expect(await refusal(reachableWorkspace(workspaces, caller, 'own'))).toMatch(/^404 /);
  });
});

describe.each<[OwnedKind, string, string, string]>([
  ['credential', crypto.randomUUID(), crypto.randomUUID(), '404 There is no provider credential with this id'],
  ['api-key', 'a1'.repeat(32), 'b2'.repeat(32), '404 There is no API key with this hash'],
])('what is owned: %s', (kind, mine, theirs, words) => {
  it('is reached by its owner and by whoever manages all, in either case', async () => {
    const { owners, bound, unbound, own } = await setUp();
    await owners.claim(kind, mine, own.id);
    for (const caller of [bound, unbound]) {
      expect(await ownerReachable(owners, caller, kind, mine)).toBe(own.id);
      expect(await ownerReachable(owners, caller, kind, mine.toUpperCase())).toBe(own.id);
    }
  });
  it('is refused in the same words, be it foreign, unknown or malformed', async () => {
    const { owners, bound, foreign } = await setUp();
    await owners.claim(kind, theirs, foreign.id);
    const ids = [theirs, mine, '', 'x', '../../x', 'owner', `${mine}x`, mine.slice(1), '{}:*'];
    const refused = await Promise.all(ids.map((id) => refusal(ownerReachable(owners, bound, kind, id))));
    expect(new Set(refused)).toEqual(new Set([words]));
  });
  it('is not reached under the other kind, nor after it is let go', async () => {
    const { owners, unbound, own } = await setUp();
    await owners.claim(kind, mine, own.id);
    const other = kind === 'credential' ? 'api-key' : 'credential';
    expect(await refusal(ownerReachable(owners, unbound, other, mine))).toMatch(/^404 /);
    await owners.release(kind, mine);
    expect(await refusal(ownerReachable(owners, unbound, kind, mine))).toBe(words);
  });
});
