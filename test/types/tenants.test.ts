import { describe, expect, expectTypeOf, it } from 'vitest';
import type { Caller } from '../../src/call/call.ts';
import { defaultWorkspaceId, parseWorkspaceId, type WorkspaceId } from '../../src/call/workspace.ts';
import type { ApiKeyRecord, ApiKeyStore } from '../../src/stores/api-keys/index.ts';
import type { Budgets, BudgetsOf } from '../../src/stores/budgets.ts';
import type { Collection, PerWorkspace } from '../../src/stores/collection.ts';
import type { Credentials } from '../../src/stores/credentials/index.ts';
import type { Ledger } from '../../src/stores/ledger/ledger.ts';
import type { Owners } from '../../src/stores/owners.ts';
import type { Spending } from '../../src/stores/spending/spending.ts';
import type { WorkspaceRecord, Workspaces } from '../../src/stores/workspaces.ts';

interface Handles {
  records: PerWorkspace<{ name: string }>;
  budgets: BudgetsOf;
  credentials: (workspaceId: WorkspaceId) => Credentials;
  apiKeys: ApiKeyStore;
  workspaces: Workspaces;
  ledger: Ledger;
  spending: Spending;
  owners: Owners;
}

// Checked by the compiler in `npm run check`: an expected error that is none is an error. Nothing here is called.
const leavingOut = ({ records, budgets, credentials, apiKeys, ledger, spending, owners }: Handles) => [
  // @ts-expect-error the workspace is left out
  () => records().get('id'),
  // @ts-expect-error there is no reading without naming a workspace first
  () => records.get('id'),
  // @ts-expect-error the workspace is left out
  () => budgets().list(),
  // @ts-expect-error there is no reading without naming a workspace first
  () => budgets.list(),
  // @ts-expect-error the workspace is left out
  () => credentials().list({ offset: 0, limit: 1 }),
  // @ts-expect-error there is no reading without naming a workspace first
  () => credentials.list({ offset: 0, limit: 1 }),
  // @ts-expect-error the workspace is left out
  () => apiKeys.get('hash'),
  // @ts-expect-error the workspace is left out
  () => apiKeys.list({ offset: 0, limit: 1, includeDisabled: true }),
  // @ts-expect-error the workspace is left out
  () => apiKeys.update('hash', { disabled: true }),
  // @ts-expect-error the workspace is left out
  () => apiKeys.delete('hash'),
  // @ts-expect-error the workspace is left out
  () => apiKeys.countLive(),
  // @ts-expect-error the workspace is left out
  () => ledger.settle('hold', 1, 0),
  // @ts-expect-error the workspace is left out
  () => ledger.read([], 0),
  // @ts-expect-error the workspace is left out
  () => ledger.hold({ id: 'hold', amountNanoUsd: 1, windows: [], leaseMs: 60_000 }),
  // @ts-expect-error the workspace is left out
  () => spending.read('workspace', 0),
  // @ts-expect-error the workspace is left out
  () => owners.claim('credential', 'id'),
];

const anyText = ({ records, budgets, credentials, apiKeys, workspaces, ledger, spending, owners }: Handles) => {
  const text = 'acme' as string;
  return [
    // @ts-expect-error a text is no workspace
    () => records(text),
    // @ts-expect-error a literal is none either
    () => records('acme'),
    // @ts-expect-error what may be missing is none
    () => records(parseWorkspaceId(text)),
    // @ts-expect-error a text is no workspace
    () => budgets(text),
    // @ts-expect-error a text is no workspace
    () => credentials(text),
    // @ts-expect-error a text is no workspace
    () => apiKeys.get(text, 'hash'),
    // @ts-expect-error a text is no workspace; a slug is looked up with find
    () => workspaces.update(text, {}),
    // @ts-expect-error a text is no workspace
    () => workspaces.delete(text),
    // @ts-expect-error a text is no workspace
    () => workspaces.known(text),
    // @ts-expect-error a text is no workspace
    () => ledger.settle(text, 'hold', 1),
    // @ts-expect-error a text is no workspace
    () => spending.read(text, 'workspace', 0),
    // @ts-expect-error a text is no workspace
    () => owners.claim('credential', 'id', text),
    // @ts-expect-error a caller has one
    (): Pick<Caller, 'workspaceId'> => ({ workspaceId: text }),
  ];
};

describe('what belongs to a workspace', () => {
  it('cannot be reached without naming one, nor by any text that comes along', () => {
    expect([leavingOut, anyText].every((one) => typeof one === 'function')).toBe(true);
    expectTypeOf<string>().not.toExtend<WorkspaceId>();
    expectTypeOf<WorkspaceId>().toExtend<string>();
    expectTypeOf<Parameters<PerWorkspace<unknown>>>().toEqualTypeOf<[workspaceId: WorkspaceId]>();
    expectTypeOf<Parameters<BudgetsOf>>().toEqualTypeOf<[workspaceId: WorkspaceId]>();
  });
  it('is reached through the workspace of the caller, or one that was looked up or checked', () => {
    expectTypeOf<Caller['workspaceId']>().toEqualTypeOf<WorkspaceId>();
    expectTypeOf<WorkspaceRecord['id']>().toEqualTypeOf<WorkspaceId>();
    expectTypeOf<ApiKeyRecord['workspaceId']>().toEqualTypeOf<WorkspaceId>();
    expectTypeOf(parseWorkspaceId).returns.toEqualTypeOf<WorkspaceId | null>();
    expectTypeOf<ReturnType<Owners['of']>>().resolves.toEqualTypeOf<WorkspaceId | null>();
    expectTypeOf(defaultWorkspaceId).toEqualTypeOf<WorkspaceId>();
    expectTypeOf<PerWorkspace<{ name: string }>>().returns.toEqualTypeOf<Collection<{ name: string }>>();
    expectTypeOf<BudgetsOf>().returns.toEqualTypeOf<Budgets>();
  });
});
