import { wrongArgument } from '../base/refusal.ts';
import { cleanName } from '../base/text/clean-text.ts';
import type { Caller } from '../call/call.ts';
import { defaultWorkspaceId, parseWorkspaceId } from '../call/workspace.ts';
import type { ListedOperation } from '../operations/operation.ts';
import type { Explanation } from '../schema/chat/explanation.ts';
import type { CallOperation } from './in-process.ts';

/** The party for which a request is explained. */
export interface ExplainFor {
  /** Id of the workspace whose budgets, credentials and defaults count. Default: the default workspace. */
  workspaceId?: string;
  /** true: as for a caller with `byokOnly`. Default: the workspace's setting. */
  byokOnly?: boolean;
}

/** @returns the `data` of the response of POST /chat/completions/explain */
export type Explain = (body: unknown, of?: ExplainFor) => Promise<Explanation>;

/** The operation as a function for the host app, which needs no key. */
export function createExplainer(operations: readonly ListedOperation[], call: CallOperation) {
  const operation = operations.find(({ api }) => api === 'explain') as ListedOperation;
  const explainAs = async (body: unknown, caller: Caller) =>
    // A call without an argument counts as one with an empty body.
    ((await call(operation, body ?? null, caller)) as { data: Explanation }).data;
  return {
    explainAs,
    explain: (async (body, of) => explainAs(body, callerOf(of))) satisfies Explain,
  };
}

/** Makes a caller of a workspace that no key limits. @throws GatewayError invalid_request (400) */
function callerOf(of: unknown = {}): Caller {
  if (typeof of !== 'object' || of === null || Array.isArray(of)) throw wrongArgument('of', 'expected object');
  for (const key of Object.keys(of))
    if (key !== 'workspaceId' && key !== 'byokOnly')
      throw wrongArgument(`of.${cleanName(key)}`, 'unknown key; expected workspaceId or byokOnly');
  const { workspaceId: named = defaultWorkspaceId, byokOnly = false } = of as ExplainFor;
  if (typeof byokOnly !== 'boolean') throw wrongArgument('of.byokOnly', 'expected boolean');
  const workspaceId = typeof named === 'string' ? parseWorkspaceId(named) : null;
  if (workspaceId === null) throw wrongArgument('of.workspaceId', 'expected the id of a workspace');
  return {
    permissions: ['inference'],
    apiKeyHash: null,
    workspaceId,
    managesAll: false,
    ...(byokOnly ? { isByokOnly: true } : {}),
    keyLimit: null,
    rateLimits: undefined,
    userId: null,
  };
}
