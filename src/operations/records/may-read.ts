import type { Caller } from '../../call/call.ts';

/** The party whose request something was kept of. */
export interface Owner {
  api_key_hash: string | null;
  user_id: string | null;
}

/** Tells whether a caller may read what was kept of a request of its workspace. */
export function mayRead(caller: Caller, { api_key_hash, user_id }: Owner): boolean {
  if (caller.permissions.includes('management')) return true;
  return api_key_hash === caller.apiKeyHash && user_id === caller.userId;
}
