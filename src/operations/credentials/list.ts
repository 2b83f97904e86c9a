import {
  credentialListSchema,
  type ListCredentialsFields,
  type ListCredentialsQuery,
  listCredentialsQuery,
  type ShownCredential,
} from '../../schema/tenants/credential.ts';
import { reachableWorkspace } from '../../stores/access.ts';
import { shownCredential } from '../../stores/credentials/record.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { checkKnownProvider, whyNotSent } from './byok-provider.ts';
import type { CredentialDeps } from './create.ts';

/** Lists the credentials of one workspace. Default: the caller's workspace. */
export function listCredentials({
  credentials,
  workspaces,
  byokProviders,
}: Pick<CredentialDeps, 'credentials' | 'workspaces' | 'byokProviders'>): ApiOperation<
  'credentials.list',
  ListCredentialsFields,
  { data: ShownCredential[]; total_count: number },
  unknown,
  ListCredentialsQuery
> {
  return {
    name: 'listBYOKKeys',
    api: 'credentials.list',
    method: 'GET',
    path: '/byok',
    permissions: ['management'],
    body: null,
    query: listCredentialsQuery,
    result: credentialListSchema,
    async run({ query: { workspace_id, ...query }, caller }) {
      const workspaceId = await reachableWorkspace(workspaces, caller, workspace_id);
      if (query.provider !== undefined) checkKnownProvider(query.provider, byokProviders);
      const { records, total } = await credentials(workspaceId).list(query);
      const data = records.map((record) => shownCredential(record, whyNotSent(record.provider, byokProviders)));
      return jsonReply({ data, total_count: total });
    },
  };
}
