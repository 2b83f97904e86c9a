import { GatewayError } from '../../base/errors.ts';
import type { Caller } from '../../call/call.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import type { FoundResponse, StoredResponses } from '../../telemetry/responses/stored-responses.ts';
import { mayRead } from '../records/may-read.ts';

export interface StoredResponseDeps {
  /** null: the operator keeps no records, and no responses. */
  responses: StoredResponses | null;
}

/** @throws GatewayError not_found (404): the operator keeps no responses */
export function keptResponses(responses: StoredResponses | null): StoredResponses {
  if (responses !== null) return responses;
  throw new GatewayError('not_found', 'This gateway keeps no responses: its option records.enabled is off');
}

/** A kept response, and where it is. */
export interface ReachedResponse extends FoundResponse {
  workspaceId: WorkspaceId;
}

/**
 * Finds a kept response, by the rules of records: a caller that may manage reaches those of its workspace, or of all
 * workspaces; any other caller only its own.
 * @throws GatewayError not_found (404), the same error for a response that is unknown, expired or of somebody else
 */
export async function reachResponse(responses: StoredResponses, caller: Caller, id: string): Promise<ReachedResponse> {
  const isOperator = caller.managesAll && caller.permissions.includes('management');
  const workspaceId = isOperator ? ((await responses.ownerOf(id)) ?? caller.workspaceId) : caller.workspaceId;
  const found = await responses.find(workspaceId, id);
  if (found !== null && mayRead(caller, found)) return { ...found, workspaceId };
  throw new GatewayError(
    'not_found',
    'There is no kept response with this id; responses are kept with store: true, for a time',
  );
}

/** The error for a conversation that is not there, or not for this caller. */
export function noConversation(id: string): GatewayError {
  return new GatewayError('not_found', `Conversation with id '${id.slice(0, 100)}' not found`, {
    metadata: { issues: [{ path: 'conversation', message: 'names no kept conversation' }] },
  });
}
