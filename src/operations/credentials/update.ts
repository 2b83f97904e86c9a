import {
  credentialAnswerSchema,
  type ShownCredential,
  type UpdateCredential,
  updateCredentialSchema,
} from '../../schema/tenants/credential.ts';
import { notOwned, ownerReachable } from '../../stores/access.ts';
import { shownCredential } from '../../stores/credentials/record.ts';
import { type ApiOperation, jsonReply } from '../operation.ts';
import { whyNotSent } from './byok-provider.ts';
import type { CredentialDeps } from './create.ts';

/**
 * Changes a credential. An absent field does not change, null clears, a list replaces; `key` replaces the key and its
 * label.
 */
export function updateCredential({
  credentials,
  owners,
  byokProviders,
}: Pick<CredentialDeps, 'credentials' | 'owners' | 'byokProviders'>): ApiOperation<
  'credentials.update',
  { id: string } & UpdateCredential,
  { data: ShownCredential },
  UpdateCredential
> {
  return {
    name: 'updateBYOKKey',
    api: 'credentials.update',
    method: 'PATCH',
    path: '/byok/:id',
    permissions: ['management'],
    body: updateCredentialSchema,
    result: credentialAnswerSchema,
    async run({ params: { id = '' }, body, caller }) {
      const workspaceId = await ownerReachable(owners, caller, 'credential', id);
      const record = await credentials(workspaceId).update(id.toLowerCase(), body);
      if (!record) throw notOwned('credential');
      return jsonReply({ data: shownCredential(record, whyNotSent(record.provider, byokProviders)) });
    },
  };
}
