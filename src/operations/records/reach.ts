import { GatewayError } from '../../base/errors.ts';
import type { Caller } from '../../call/call.ts';
import type { Generation } from '../../schema/records/generation.ts';
import type { Records } from '../../telemetry/records/records.ts';
import type { Presentation } from '../compat.ts';
import { mayRead } from './may-read.ts';

export interface ShownDeps {
  presentation: Pick<Presentation, 'usd'>;
}

/** A record in the form that clients of the wire format take. */
export function shown(record: Generation, { usd }: ShownDeps['presentation']): Generation {
  return { ...record, total_cost: usd(record.total_cost), usage: usd(record.usage) };
}

/** @throws GatewayError not_found (404): the operator keeps no records */
export function keptRecords(records: Records | null): Records {
  if (records !== null) return records;
  throw new GatewayError('not_found', 'This gateway keeps no records of requests: its option records.enabled is off');
}

/**
 * The record of a request. A caller that may manage sees those of its workspace, or of all workspaces. Any other caller
 * sees only its own requests.
 * @throws GatewayError not_found (404), the same error for a record that is unknown, expired or of somebody else
 */
export async function reachGeneration(records: Records, caller: Caller, id: string): Promise<Generation> {
  const isOperator = caller.managesAll && caller.permissions.includes('management');
  const workspaceId = isOperator ? ((await records.ownerOf(id)) ?? caller.workspaceId) : caller.workspaceId;
  const found = await records.find(workspaceId, id);
  if (found !== null && mayReadRecord(caller, found)) return found;
  throw new GatewayError('not_found', 'There is no record of a request with this id');
}

/** Tells whether a caller may read a record of its workspace. */
export function mayReadRecord(
  caller: Caller,
  { api_key_hash, external_user, user_id = external_user }: Generation,
): boolean {
  return mayRead(caller, { api_key_hash, user_id });
}
