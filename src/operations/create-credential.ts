import type { WorkspaceId } from '../call/workspace.ts';
import { type CreateCredential, createCredentialSchema, credentialAnswerSchema } from '../schema/credential.ts';
import { type FindsWorkspaces, reachableWorkspace } from '../stores/access.ts';
import { shownCredential } from '../stores/credentials/record.ts';
import type { Credentials } from '../stores/credentials.ts';
import type { Owners } from '../stores/owners.ts';
import { jsonReply, type Operation } from './operation.ts';

/** Dependencies of the operations on provider credentials. */
export interface CredentialDeps {
  credentials: (workspaceId: WorkspaceId) => Credentials;
  owners: Owners;
  workspaces: FindsWorkspaces;
}

/** @see interface document, "POST /byok" */
export function createCredential({ credentials, workspaces }: CredentialDeps): Operation<CreateCredential> {
  return {
    name: 'createBYOKKey',
    method: 'POST',
    path: '/byok',
    permissions: ['management'],
    body: createCredentialSchema,
    result: credentialAnswerSchema,
    async run({ body: { workspace_id, ...input }, caller }) {
      const workspaceId = await reachableWorkspace(workspaces, caller, workspace_id);
      const made = await credentials(workspaceId).create(input);
      return jsonReply({ data: shownCredential(made) }, 201);
    },
  };
}
