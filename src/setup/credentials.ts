import { isGatewayError } from '../base/errors.ts';
import { refusal } from '../base/refusal.ts';
import { UpstreamError } from '../base/upstream-error.ts';
import type { CredentialRef } from '../call/plan.ts';
import type { WorkspaceId } from '../call/workspace.ts';
import type { Credential, CredentialShape } from '../providers/provider.ts';
import { type KeyReader, plainKey } from '../stores/credentials/key.ts';
import type { Credentials } from '../stores/credentials.ts';
import { credentialOfKey } from './credential-parts.ts';

/**
 * The one place where a reference becomes a key: the operator's own, or one that a workspace brought.
 * A key that will not open, or was deleted since the plan was made, counts as refused by the provider: the next target
 * follows. A store out of reach does not: it fails the request (503).
 * @param takesByok  whether a provider is sent credentials of workspaces. A plan has none for another provider; here is
 *                   the last door
 */
export function credentialOpener(
  operatorsOwn: (provider: string) => Credential,
  credentials: (workspaceId: WorkspaceId) => Pick<Credentials, 'open'>,
  takesByok: (provider: string) => boolean,
): (ref: CredentialRef) => Credential | Promise<Credential> {
  return (ref) => {
    if (ref.kind === 'operator') return operatorsOwn(ref.provider);
    if (!takesByok(ref.provider)) throw unusable();
    const opened = credentials(ref.workspaceId).open(ref.id);
    return opened instanceof Promise ? opened.catch(asRefusal) : opened;
  };
}

/** Reads the keys that workspaces bring as their providers ask for. */
export function keyReader(shapeOf: (provider: string) => CredentialShape | undefined): KeyReader {
  return (provider, text) => {
    const shape = shapeOf(provider);
    if (shape === undefined) {
      // The schema of requests lets JSON text span lines, for providers whose keys have parts.
      if (/[^\x20-\x7e]/.test(text)) throw refusal('invalid_request', [{ path: 'key', message: onePart }]);
      return plainKey(provider, text);
    }
    const read = credentialOfKey(shape, text);
    if (!('issues' in read))
      return { key: read.credential, labelled: read.credential.secret || (read.secrets[0] ?? '') };
    const issues = read.issues.map(({ path, message }) => ({ path: path === '' ? 'key' : `key.${path}`, message }));
    throw refusal('invalid_request', issues);
  };
}

const onePart = 'expected the key alone, on one line: the credentials of this provider have no further parts';

/** A key that its provider no longer takes in this form counts as one that will not open. */
function asRefusal(error: unknown): never {
  if (isGatewayError(error) && ['internal', 'not_found', 'invalid_request'].includes(error.kind)) throw unusable();
  throw error;
}

function unusable(): UpstreamError {
  return new UpstreamError('The credential cannot be used.', { reason: 'status', status: 401 });
}
