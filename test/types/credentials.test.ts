import { describe, expectTypeOf, it } from 'vitest';
import type { ByokCredential } from '../../src/call/facts.ts';
import type { WorkspaceId } from '../../src/call/workspace.ts';
import type { ShownCredential } from '../../src/schema/tenants/credential.ts';
import type { Credentials, createCredentials } from '../../src/stores/credentials/index.ts';

type CredentialsOf = ReturnType<typeof createCredentials>;

// Checked by the compiler in `npm run check`; at run time these tests only say that they were there.
describe('credential types', () => {
  it('give no way to a credential but by naming its workspace', () => {
    expectTypeOf<CredentialsOf>().parameters.toEqualTypeOf<[workspaceId: WorkspaceId]>();
    expectTypeOf<string>().not.toExtend<WorkspaceId>();
    const attempts = (credentials: CredentialsOf, id: string) => {
      // @ts-expect-error without a workspace there is nothing
      credentials();
      // @ts-expect-error any text is no workspace
      credentials(id);
      // @ts-expect-error nor is the id of a credential a way to it
      credentials.get(id);
    };
    expectTypeOf(attempts).returns.toBeVoid();
  });

  it('keep the sealed secret out of what is shown and planned with', () => {
    expectTypeOf<ShownCredential>().not.toHaveProperty('sealed');
    expectTypeOf<ByokCredential>().not.toHaveProperty('sealed');
    expectTypeOf<Awaited<ReturnType<Credentials['usable']>>>().toEqualTypeOf<readonly ByokCredential[]>();
  });
});
