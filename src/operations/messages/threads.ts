import { isGatewayError } from '../../base/errors.ts';
import type { OperationReply } from '../../call/reply.ts';
import type { MessagesRequest } from '../../schema/messages/request.ts';

/**
 * Names the reason where a request with a thread was refused because its provider keeps none: clients then go on without
 * threads, and send everything each time.
 */
export async function withThreadCode(
  { thread }: MessagesRequest,
  run: () => Promise<OperationReply>,
): Promise<OperationReply> {
  if (thread === undefined || thread === null) return run();
  try {
    return await run();
  } catch (error) {
    if (!isGatewayError(error) || !/\bthread\b/.test(error.message) || error.status !== 400) throw error;
    throw error.with({ metadata: { error_code: 'thread_unsupported_request', unsupported: [] } });
  }
}
