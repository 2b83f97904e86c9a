import { GatewayError } from '../base/errors.ts';
import { isUuid } from '../base/ids.ts';
import type { Caller } from '../call/call.ts';
import type { WorkspaceId } from '../call/workspace.ts';
import type { OwnedKind, Owners } from './owners.ts';

/** Looks workspaces up; see `Workspaces`. */
export interface FindsWorkspaces<W extends { id: WorkspaceId } = { id: WorkspaceId }> {
  /** null: there is none with this id or slug. */
  find(idOrSlug: string): Promise<W | null>;
}

/**
 * The workspace a management request names.
 * @throws GatewayError not_found (404), the same for one that is not there and for one that is somebody else's
 */
export async function reachWorkspace<W extends { id: WorkspaceId }>(
  workspaces: FindsWorkspaces<W>,
  caller: Caller,
  idOrSlug: string,
): Promise<W> {
  const found = await workspaces.find(idOrSlug);
  if (found && mayReach(caller, found.id)) return found;
  throw noWorkspace();
}

/** As `reachWorkspace`, its id alone; undefined means the caller's own. */
export async function reachableWorkspace(
  workspaces: FindsWorkspaces,
  caller: Caller,
  idOrSlug: string | undefined,
): Promise<WorkspaceId> {
  return idOrSlug === undefined ? caller.workspaceId : (await reachWorkspace(workspaces, caller, idOrSlug)).id;
}

/** Of the same words, whatever the reason. */
export function noWorkspace(): GatewayError {
  return new GatewayError('not_found', 'There is no workspace with this id or slug');
}

const owned = {
  credential: { hasForm: isUuid, refusal: 'There is no provider credential with this id' },
  'api-key': {
    hasForm: (id: string) => /^[0-9a-f]{64}$/i.test(id),
    refusal: 'There is no API key with this hash',
  },
} as const satisfies Record<OwnedKind, { hasForm: (id: string) => boolean; refusal: string }>;

/**
 * The workspace of what a management request names by its id alone, in any case of its hexadecimal digits.
 * @throws GatewayError not_found (404), the same for what is malformed, not there and somebody else's
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

/** For what is not there although it has an owner: the words of `ownerReachable`. */
export function notOwned(kind: OwnedKind): GatewayError {
  return new GatewayError('not_found', owned[kind].refusal);
}

function mayReach(caller: Caller, workspaceId: WorkspaceId): boolean {
  return caller.managesAll || caller.workspaceId === workspaceId;
}
