import { isGatewayError } from '../base/errors.ts';
import { UpstreamError } from '../base/http/upstream-error.ts';
import type { CredentialRef } from '../call/plan.ts';
import type { WorkspaceId } from '../call/workspace.ts';
import type { Credential, CredentialShape } from '../providers/provider.ts';
import type { Credentials } from '../stores/credentials/index.ts';
import { type KeyReader, plainKey } from '../stores/credentials/key.ts';
import { credentialOfKey } from './credential-parts.ts';
import type { AttemptStop, OperatorKeys } from './keys/operator-keys.ts';

/**
 * The one place where a reference becomes a key: the operator's own, or one that a workspace brought. A key that does
 * not open, or was deleted since the plan was made, counts as refused by the provider, and the next target follows. A
 * store out of reach fails the request instead (503).
 * @param takesByok  tells whether a provider gets credentials of workspaces. A plan has none for another provider; this
 * is
 *                   the last check
 */
export function credentialOpener(
  operatorsOwn: OperatorKeys['open'],
  credentials: (workspaceId: WorkspaceId) => Pick<Credentials, 'open'>,
  takesByok: (provider: string) => boolean,
): (ref: CredentialRef, stop: AttemptStop, isRenewed?: boolean) => Credential | Promise<Credential> {
  return (ref, stop, isRenewed) => {
    if (ref.kind === 'operator') return operatorsOwn(ref, stop, isRenewed);
    if (!takesByok(ref.provider)) throw unusable();
    const opened = credentials(ref.workspaceId).open(ref.id);
    return opened instanceof Promise ? opened.catch(asRefusal) : opened;
  };
}

/** Reads the keys that workspaces bring, in the form that their providers need. */
export function keyReader(shapeOf: (provider: string) => CredentialShape | undefined): KeyReader {
  return (provider, text) => {
    const shape = shapeOf(provider);
    if (shape === undefined) {
      // The schema of requests lets JSON text span lines, for providers whose keys have parts.
      return /[^\x20-\x7e]/.test(text)
        ? { key: null, lacks: `key: ${onePart}`, labelled: '' }
        : plainKey(provider, text);
    }
    const read = credentialOfKey(shape, text);
    if (!('issues' in read))
      return { key: read.credential, lacks: null, labelled: read.credential.secret || (read.secrets[0] ?? '') };
    const issues = read.issues.slice(0, maxNamedIssues);
    const lacks = issues.map(({ path, message }) => `${path === '' ? 'key' : `key.${path}`}: ${message}`).join('; ');
    // In JSON text that could not be read, any part may be the secret.
    return { key: null, lacks, labelled: text.startsWith('{') ? '' : text };
  };
}

/** The most issues that are named: the text is stored with each record, and shown in one line. */
const maxNamedIssues = 5;

const onePart = 'expected the key alone, on one line: the credentials of this provider have no further parts';

/** Turns an error into a refusal: a key whose form its provider no longer accepts counts as one that does not open. */
function asRefusal(error: unknown): never {
  if (isGatewayError(error) && ['internal', 'not_found', 'invalid_request'].includes(error.kind)) throw unusable();
  throw error;
}

function unusable(): UpstreamError {
  return new UpstreamError('The credential cannot be used.', { reason: 'status', status: 401 });
}
