import { GatewayError } from '../base/errors.ts';
import { type Issue, issueText, refusal } from '../base/refusal.ts';
import { cleanName } from '../base/text/clean-text.ts';
import type { Caller, Permission } from '../call/call.ts';
import { defaultWorkspaceId, parseWorkspaceId, type WorkspaceId } from '../call/workspace.ts';
import { allowedModelPatterns, keyTags } from '../schema/tenants/key-scope.ts';
import { allowedModelsOf } from '../stores/api-keys/allowed-models.ts';

/** A caller as a host app with its own users describes it. */
export interface HostCaller {
  /** The permissions of the caller. */
  permissions: readonly Permission[];
  /** Id of the caller's workspace, the only one that it may manage. Default: the default workspace. */
  workspaceId?: string;
  /** true: the permission `management` covers every workspace. Default: true only without `workspaceId`. */
  managesAll?: boolean;
  /** true: the caller's requests use BYOK credentials of the workspace alone, and no credential of yours. */
  byokOnly?: boolean;
  /** Patterns of the models that the caller may use, such as `openai/*`. Default: all of them. */
  allowedModels?: readonly string[] | null;
  /** Labels, copied into records. */
  tags?: readonly string[];
  /** Shown as `user_id` in error bodies. */
  userId?: string | null;
}

/** Finds the host app's own user; null: there is none. */
export type FindHostCaller = () => HostCaller | null | Promise<HostCaller | null>;

const fields = new Set(['permissions', 'workspaceId', 'managesAll', 'byokOnly', 'allowedModels', 'tags', 'userId']);

/**
 * Reads the caller that a call of the host app names.
 * @param at  its place in the call, such as `context.caller`; '' for the argument itself
 * @throws GatewayError invalid_request (400) naming every mistake. An unknown field is one: with `workspace` in place
 * of `workspaceId`, the caller would manage every workspace
 */
export function namedCaller(given: unknown, at: string): Caller {
  const issues = faultsOf(given, at);
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) {
    for (const key of Object.keys(given))
      if (!fields.has(key)) issues.push({ path: below(at, cleanName(key)), message: 'unknown key' });
  }
  if (issues.length > 0) throw refusal('invalid_request', issues);
  return callerOf(given as HostCaller);
}

/**
 * Reads the caller that a function of the host app has found. The caller may have more fields, such as those of a
 * session.
 * @throws GatewayError internal (500): the mistake is not the client's, who is not told of it
 */
export function foundCaller(given: unknown): Caller {
  const [first] = faultsOf(given, '');
  if (first === undefined) return callerOf(given as HostCaller);
  throw new GatewayError('internal', 'Something went wrong inside the gateway', {
    cause: new Error(`The host app has found a caller that is none: ${issueText(first)}`),
  });
}

/** Makes a caller of checked fields. */
function callerOf({
  permissions,
  workspaceId,
  managesAll = workspaceId === undefined,
  byokOnly = false,
  allowedModels,
  tags,
  userId = null,
}: HostCaller): Caller {
  return {
    // A copy: a later change of the host app's list must not change the permissions of a caller.
    permissions: [...permissions],
    apiKeyHash: null,
    workspaceId: workspaceId === undefined ? defaultWorkspaceId : (workspaceId as WorkspaceId),
    managesAll,
    ...(byokOnly ? { isByokOnly: true } : {}),
    keyLimit: null,
    rateLimits: undefined,
    models: allowedModelsOf(allowedModels),
    tags: tags === undefined || tags.length === 0 ? undefined : [...tags],
    userId,
  };
}

function faultsOf(given: unknown, at: string): Issue[] {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return [{ path: at, message: 'expected a caller: an object with permissions' }];
  const { permissions, workspaceId, managesAll, byokOnly, allowedModels, tags, userId } = given as Record<
    keyof HostCaller,
    unknown
  >;
  const issues: Issue[] = [];
  const expect = (isRight: boolean, name: keyof HostCaller, message: string) => {
    if (!isRight) issues.push({ path: below(at, name), message: `expected ${message}` });
  };
  expect(
    Array.isArray(permissions) && permissions.every((one) => one === 'inference' || one === 'management'),
    'permissions',
    'a list of "inference", "management" or both',
  );
  expect(
    workspaceId === undefined || (typeof workspaceId === 'string' && parseWorkspaceId(workspaceId) !== null),
    'workspaceId',
    'the id of a workspace: letters, digits, - and _ only, 64 at most',
  );
  expect(managesAll === undefined || typeof managesAll === 'boolean', 'managesAll', 'boolean');
  expect(byokOnly === undefined || typeof byokOnly === 'boolean', 'byokOnly', 'boolean');
  expect(
    allowedModels === undefined || allowedModels === null || allowedModelPatterns().safeParse(allowedModels).success,
    'allowedModels',
    'a list of 1 to 100 patterns such as "openai/*"',
  );
  expect(
    tags === undefined || keyTags().safeParse(tags).success,
    'tags',
    'a list of at most 20 texts of 1 to 64 characters',
  );
  expect(userId === undefined || userId === null || typeof userId === 'string', 'userId', 'string or null');
  return issues;
}

function below(at: string, key: string): string {
  return at === '' ? key : `${at}.${key}`;
}
