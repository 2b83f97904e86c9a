import { credentialListSchema, type ListCredentialsQuery, listCredentialsQuery } from '../schema/credential.ts';
import { reachableWorkspace } from '../stores/access.ts';
import { shownCredential } from '../stores/credentials/record.ts';
import type { CredentialDeps } from './create-credential.ts';
import { jsonReply, type Operation } from './operation.ts';

/** Lists the credentials of one workspace. Default: the caller's workspace. */
export function listCredentials({
  credentials,
  workspaces,
}: Pick<CredentialDeps, 'credentials' | 'workspaces'>): Operation<unknown, ListCredentialsQuery> {
  return {
    name: 'listBYOKKeys',
    method: 'GET',
    path: '/byok',
    permissions: ['management'],
    body: null,
    query: listCredentialsQuery,
    result: credentialListSchema,
    async run({ query: { workspace_id, ...query }, caller }) {
      const workspaceId = await reachableWorkspace(workspaces, caller, workspace_id);
      const { records, total } = await credentials(workspaceId).list(query);
      return jsonReply({ data: records.map(shownCredential), total_count: total });
    },
  };
}
