import { refusal } from '../../base/refusal.ts';
import type { Caller } from '../../call/call.ts';
import { keepsContentOf } from '../../pipeline/call/content-capture.ts';
import type { PipelineDeps } from '../../pipeline/deps.ts';
import { conversationIdOf } from '../../schema/responses/conversations.ts';
import type { ResponsesRequest } from '../../schema/responses/responses.ts';

type KeepingDeps = Pick<PipelineDeps, 'imposedOn' | 'defaultsOf'>;

/**
 * Tells why nothing of a caller may be kept; null: it may.
 * @param isZdr  true: the request itself asks for zero data retention
 * @throws GatewayError unavailable (503)
 */
export async function keptFor(
  { imposedOn, defaultsOf }: KeepingDeps,
  caller: Caller,
  isZdr: boolean,
): Promise<'zero retention' | 'not wanted' | null> {
  const imposed = await imposedOn?.(caller);
  if (imposed?.isZdr === true || isZdr) return 'zero retention';
  return keepsContentOf(await defaultsOf(caller.workspaceId), caller) ? null : 'not wanted';
}

/** The field by which a request asks for something to be kept; null: it asks for nothing. */
export function keepingField(body: ResponsesRequest): 'store' | 'conversation' | null {
  if (body.store === true) return 'store';
  return conversationIdOf(body) === null ? null : 'conversation';
}

const without = {
  store: 'leave store out, or send false',
  conversation: 'leave conversation out, and send its items in input',
};

const refused = (path: keyof typeof without, why: string) =>
  refusal('invalid_request', [{ path, message: `${why}; ${without[path]}` }]);

/** The error for a request that asks for something to be kept under zero data retention. */
export function zeroRetention(path: keyof typeof without) {
  return refused(path, 'zero data retention holds for this request, so nothing of it is kept');
}

/**
 * Refuses `store: true` and `conversation` where nothing may be kept: before anything is paid for.
 * @throws GatewayError invalid_request (400), unavailable (503)
 */
export async function checkMayKeep(
  deps: KeepingDeps,
  { body, caller }: { body: ResponsesRequest; caller: Caller },
): Promise<void> {
  const field = keepingField(body);
  if (field === null) return;
  const why = await keptFor(deps, caller, body.provider?.zdr === true);
  if (why === 'zero retention') throw zeroRetention(field);
  if (why === 'not wanted')
    throw refused(field, 'this workspace keeps no responses of this caller (is_observability_io_logging_enabled)');
}
