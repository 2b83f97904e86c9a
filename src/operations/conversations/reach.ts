import { GatewayError } from '../../base/errors.ts';
import type { Ids } from '../../base/ids.ts';
import { refusal } from '../../base/refusal.ts';
import type { Caller } from '../../call/call.ts';
import type { OperationReply } from '../../call/reply.ts';
import type { WorkspaceId } from '../../call/workspace.ts';
import { admitWithoutTokens } from '../../pipeline/call/admission.ts';
import type { PipelineDeps } from '../../pipeline/deps.ts';
import type { StoredConversationEntry } from '../../schema/records/stored-conversation.ts';
import type { ConversationObject } from '../../schema/responses/conversations.ts';
import type {
  FoundConversation,
  OpenConversation,
  StoredConversations,
} from '../../telemetry/conversations/stored-conversations.ts';
import { jsonReply } from '../operation.ts';
import { mayRead } from '../records/may-read.ts';
import { keptFor } from '../responses/may-keep.ts';
import { noConversation } from '../responses/reach.ts';

/** The dependencies of the operations of conversations. */
export interface ConversationDeps {
  pipeline: Pick<PipelineDeps, 'imposedOn' | 'defaultsOf' | 'rates'>;
  ids: Ids;
  /** null: the operator keeps no records, and no conversations. */
  conversations: StoredConversations | null;
}

/** @throws GatewayError not_found (404): the operator keeps no conversations */
export function keptConversations({ conversations }: Pick<ConversationDeps, 'conversations'>): StoredConversations {
  if (conversations !== null) return conversations;
  throw new GatewayError('not_found', 'This gateway keeps no conversations: its option records.enabled is off');
}

/**
 * Returns the conversations, for a caller that wants something to be kept.
 * @throws GatewayError invalid_request (400): nothing of this caller may be kept
 */
export async function conversationsToWrite(deps: ConversationDeps, caller: Caller): Promise<StoredConversations> {
  const { conversations, pipeline } = deps;
  const refused = (message: string) => refusal('invalid_request', [{ path: '', message }]);
  if (conversations === null)
    throw refused('This gateway keeps no conversations: its option records.enabled is off; send the items in input');
  const why = await keptFor(pipeline, caller, false);
  if (why === 'zero retention') throw refused('Zero data retention holds for this caller, so no conversation is kept');
  if (why === 'not wanted')
    throw refused('This workspace keeps no conversations of this caller (is_observability_io_logging_enabled)');
  return conversations;
}

/** Runs work that writes: it counts as a request of the rate limits. @throws GatewayError rate_limited (429) */
export async function limited(
  { rates }: Pick<PipelineDeps, 'rates'>,
  caller: Caller,
  work: () => Promise<unknown>,
): Promise<OperationReply> {
  const admission = await admitWithoutTokens(rates, { caller });
  try {
    const reply = jsonReply(await work());
    return admission === null ? reply : { ...reply, headers: { ...admission.headers } };
  } finally {
    admission?.end(0);
  }
}

/** A conversation, and where it is. */
export interface ReachedConversation extends FoundConversation {
  workspaceId: WorkspaceId;
}

/**
 * Finds a conversation, by the rules of kept responses: a caller that may manage reaches those of its workspace, or of
 * all workspaces; any other caller only its own.
 * @throws GatewayError not_found (404), the same error for one that is unknown, expired or of somebody else
 */
export async function reachConversation(
  conversations: StoredConversations,
  caller: Caller,
  id: string,
): Promise<ReachedConversation> {
  const isOperator = caller.managesAll && caller.permissions.includes('management');
  const workspaceId = isOperator ? ((await conversations.ownerOf(id)) ?? caller.workspaceId) : caller.workspaceId;
  const found = await conversations.find(workspaceId, id);
  if (found !== null && mayRead(caller, found)) return { ...found, workspaceId };
  throw noConversation(id);
}

/**
 * Changes a conversation that the caller reaches.
 * @throws GatewayError not_found (404): it is gone meanwhile; as `StoredConversations.change`
 */
export async function changed(
  conversations: StoredConversations,
  { workspaceId }: Pick<ReachedConversation, 'workspaceId'>,
  id: string,
  make: Parameters<StoredConversations['change']>[2],
): Promise<OpenConversation> {
  const now = await conversations.change(workspaceId, id, make);
  if (now === null) throw noConversation(id);
  return now;
}

/** Returns a conversation as the interface shows it. */
export function shownConversation(
  id: string,
  { created_at_ms }: StoredConversationEntry,
  metadata: Record<string, string>,
): ConversationObject {
  return { id, object: 'conversation', created_at: Math.floor(created_at_ms / 1000), metadata };
}
