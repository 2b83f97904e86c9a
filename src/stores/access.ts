import { GatewayError } from '../base/errors.ts';
import { isUuid } from '../base/ids.ts';
import type { Caller } from '../call/call.ts';
import type { WorkspaceId } from '../call/workspace.ts';
import type { OwnedKind, Owners } from './owners.ts';

export interface NamedWorkspace {
  id: WorkspaceId;
  settings: { slug: string };
}

/** Looks workspaces up; see `Workspaces`. */
export interface FindsWorkspaces<W extends NamedWorkspace = NamedWorkspace> {
  /** null: there is none with this id or slug. */
  find(idOrSlug: string): Promise<W | null>;
}

/**
 * Finds the workspace that a management request names.
 * @throws GatewayError not_found (404), the same error for a workspace that does not exist and for one of somebody else
 */
export async function reachWorkspace<W extends NamedWorkspace>(
  workspaces: FindsWorkspaces<W>,
  caller: Caller,
  idOrSlug: string,
): Promise<W> {
  // For a bound caller, the store looks up the caller's own workspace, whatever the request names: the time taken must
  // not tell whether another workspace exists.
  const found = await workspaces.find(caller.managesAll ? idOrSlug : caller.workspaceId);
  if (found && (caller.managesAll || (found.id === caller.workspaceId && isNamed(found, idOrSlug)))) return found;
  throw noWorkspace();
}

function isNamed({ id, settings }: NamedWorkspace, idOrSlug: string): boolean {
  return settings.slug === idOrSlug || (isUuid(idOrSlug) && idOrSlug.toLowerCase() === id);
}

/** Like `reachWorkspace`, but returns only the id; undefined means the caller's own workspace. */
export async function reachableWorkspace(
  workspaces: FindsWorkspaces,
  caller: Caller,
  idOrSlug: string | undefined,
): Promise<WorkspaceId> {
  return idOrSlug === undefined ? caller.workspaceId : (await reachWorkspace(workspaces, caller, idOrSlug)).id;
}

/** The error has the same words whatever the reason, so it does not tell whether the workspace exists. */
export function noWorkspace(): GatewayError {
  return new GatewayError('not_found', 'There is no workspace with this id or slug');
}

/** The party that sets a limit: a caller that manages all workspaces, or one that is bound to the workspace. */
export type SetBy = 'operator' | 'workspace';

export function setBy({ managesAll }: Caller): SetBy {
  return managesAll ? 'operator' : 'workspace';
}

const owned = {
  credential: { hasForm: isUuid, refusal: 'There is no provider credential with this id' },
  'api-key': {
    hasForm: (id: string) => /^[0-9a-f]{64}$/i.test(id),
    refusal: 'There is no API key with this hash',
  },
  guardrail: { hasForm: isUuid, refusal: 'There is no guardrail with this id' },
} as const satisfies Record<OwnedKind, { hasForm: (id: string) => boolean; refusal: string }>;

/**
 * Finds the workspace of a thing that a management request names by its id alone. The hexadecimal digits of the id may
 * be in upper or lower case.
 * @throws GatewayError not_found (404), the same error for an id that is malformed, unknown or of somebody else
 */
export async function ownerReachable(
  owners: Owners,
  caller: Caller,
  kind: OwnedKind,
  id: string,
): Promise<WorkspaceId> {
  const owner = owned[kind].hasForm(id) ? await owners.of(kind, id.toLowerCase()) : null;
  if (owner !== null && mayReach(caller, owner)) return owner;
  throw notOwned(kind);
}

/** The error of `ownerReachable`, for a thing that has an owner but no record. */
export function notOwned(kind: OwnedKind): GatewayError {
  return new GatewayError('not_found', owned[kind].refusal);
}

function mayReach(caller: Caller, workspaceId: WorkspaceId): boolean {
  return caller.managesAll || caller.workspaceId === workspaceId;
}
