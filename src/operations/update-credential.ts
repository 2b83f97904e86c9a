import {
  credentialAnswerSchema,
  type ShownCredential,
  type UpdateCredential,
  updateCredentialSchema,
} from '../schema/credential.ts';
import { notOwned, ownerReachable } from '../stores/access.ts';
import { shownCredential } from '../stores/credentials/record.ts';
import type { CredentialDeps } from './create-credential.ts';
import { type ApiOperation, jsonReply } from './operation.ts';

/** An absent field does not change, null clears, a list replaces; `key` replaces the key and its label. */
export function updateCredential({
  credentials,
  owners,
}: Pick<CredentialDeps, 'credentials' | 'owners'>): ApiOperation<
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
      return jsonReply({ data: shownCredential(record) });
    },
  };
}
