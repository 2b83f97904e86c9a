import { cleanName } from '../base/clean-text.ts';
import { wrongArgument } from '../base/refusal.ts';
import type { Caller } from '../call/call.ts';
import { defaultWorkspaceId, parseWorkspaceId } from '../call/workspace.ts';
import type { Operation } from '../operations/operation.ts';
import type { Explanation } from '../schema/explanation.ts';
import type { CallOperation } from './in-process.ts';

/** For whom a request is explained. */
export interface ExplainFor {
  /** Id of the workspace whose budgets, credentials and defaults count. Default: the default workspace. */
  workspaceId?: string;
  /** true: as for a caller with `byokOnly`. Default: as the workspace says. */
  byokOnly?: boolean;
}

/** @returns what POST /chat/completions/explain answers as `data` */
export type Explain = (body: unknown, of?: ExplainFor) => Promise<Explanation>;

/** The operation, for the host app, who needs no key to ask. */
export function createExplainer(operations: readonly Operation[], call: CallOperation) {
  const operation = operations.find(({ api }) => api === 'explain') as Operation;
  const explainAs = async (body: unknown, caller: Caller) =>
    // A call without an argument is one with an empty body.
    ((await call(operation, body ?? null, caller)) as { data: Explanation }).data;
  return {
    explainAs,
    explain: (async (body, of) => explainAs(body, callerOf(of))) satisfies Explain,
  };
}

/** A caller of a workspace whom no key limits. @throws GatewayError invalid_request (400) */
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
