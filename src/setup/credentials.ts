import { isGatewayError } from '../base/errors.ts';
import { UpstreamError } from '../base/upstream-error.ts';
import type { CredentialRef } from '../call/plan.ts';
import type { WorkspaceId } from '../call/workspace.ts';
import type { Credential } from '../providers/provider.ts';
import type { Credentials } from '../stores/credentials.ts';

/**
 * The one place where a reference becomes a key: the operator's own, or one that a workspace brought.
 * What will not open, or was deleted since the plan was made, counts as refused by the provider: the next try is taken.
 * A store out of reach does not: it fails the request (503).
 */
export function credentialOpener(
  operatorsOwn: (provider: string) => Credential,
  credentials: (workspaceId: WorkspaceId) => Pick<Credentials, 'open'>,
): (ref: CredentialRef) => Credential | Promise<Credential> {
  return (ref) => {
    if (ref.kind === 'operator') return operatorsOwn(ref.provider);
    const opened = credentials(ref.workspaceId).open(ref.id);
    return opened instanceof Promise ? opened.catch(asRefusal) : opened;
  };
}

function asRefusal(error: unknown): never {
  if (isGatewayError(error) && (error.kind === 'internal' || error.kind === 'not_found'))
    throw new UpstreamError('The credential cannot be used.', { reason: 'status', status: 401 });
  throw error;
}
