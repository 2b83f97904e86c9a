import { expect, it } from 'vitest';
import type { Call } from '../../../../src/call/call.ts';
import { defaultWorkspaceId } from '../../../../src/call/workspace.ts';
import { admit, type RateDeps } from '../../../../src/pipeline/call/admission.ts';

it('asks nobody and makes nothing where nothing is limited', () => {
  const limiter = new Proxy({} as RateDeps['limiter'], {
    get() {
      throw new Error('asked');
    },
  });
  const caller = { workspaceId: defaultWorkspaceId, apiKeyHash: 'a', rateLimits: undefined } as Call['caller'];
  const call = {
    caller,
    get request(): never {
      throw new Error('read');
    },
  } as unknown as Call;
  const unlimited: RateDeps = { limiter, ofKeys: null, ofWorkspace: () => null, assumedOutputTokens: 1 };
  expect(admit(unlimited, call)).toBeNull();
  // The default of keys limits nobody who has none.
  const limits = { requestsPerMinute: 1, tokensPerMinute: null, requestsInFlight: null };
  const withoutKey = { caller: { ...caller, apiKeyHash: null } } as Call;
  expect(admit({ ...unlimited, ofKeys: limits }, withoutKey)).toBeNull();
  expect(() => admit({ ...unlimited, ofKeys: limits }, call)).toThrow('asked');
});
