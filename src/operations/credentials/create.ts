import type { WorkspaceId } from '../../call/workspace.ts';
import {
  type CreateCredential,
  type CredentialFields,
  createCredentialSchema,
  credentialAnswerSchema,
  type ShownCredential,
} from '../../schema/tenants/credential.ts';
import { type FindsWorkspaces, reachableWorkspace } from '../../stores/access.ts';
import type { Credentials } from '../../stores/credentials/index.ts';
import { shownCredential } from '../../stores/credentials/record.ts';
import type { Owners } from '../../stores/owners.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { type ByokProviders, checkByokProvider, whyNotSent } from './byok-provider.ts';

/** Dependencies of the operations on provider credentials. */
export interface CredentialDeps {
  credentials: (workspaceId: WorkspaceId) => Credentials;
  owners: Owners;
  workspaces: FindsWorkspaces;
  byokProviders: ByokProviders;
}

/** @see interface document, "POST /byok" */
export function createCredential({
  credentials,
  workspaces,
  byokProviders,
}: CredentialDeps): ApiOperation<'credentials.create', CredentialFields, { data: ShownCredential }, CreateCredential> {
  return {
    name: 'createBYOKKey',
    api: 'credentials.create',
    method: 'POST',
    path: '/byok',
    permissions: ['management'],
    body: createCredentialSchema,
    result: credentialAnswerSchema,
    async run({ body: { workspace_id, ...input }, caller }) {
      const workspaceId = await reachableWorkspace(workspaces, caller, workspace_id);
      checkByokProvider(input.provider, byokProviders);
      const made = await credentials(workspaceId).create(input);
      return jsonReply({ data: shownCredential(made, whyNotSent(made.provider, byokProviders)) }, 201);
    },
  };
}
