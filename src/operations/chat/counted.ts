import type { Call } from '../../call/call.ts';
import type { OperationReply } from '../../call/reply.ts';
import { admitWithoutTokens } from '../../pipeline/call/admission.ts';
import { countPrompt } from '../../pipeline/count.ts';
import type { PipelineDeps } from '../../pipeline/deps.ts';

/**
 * Counts the tokens of the prompt of a call, whatever wire format it came in. It counts as a request for the rate limits,
 * and takes none of their tokens. Headers say who has counted.
 * @param bodyOf  makes the body of the response
 * @throws GatewayError rate_limited (429); else as `countPrompt`
 */
export async function countedReply(
  deps: PipelineDeps,
  call: Call,
  bodyOf: (tokens: number) => object,
): Promise<OperationReply> {
  const admission = await admitWithoutTokens(deps.rates, call);
  try {
    const { tokens, by, hasFailed } = await countPrompt(deps, call);
    const headers = {
      'x-service-token-count': by,
      ...(hasFailed ? { 'x-service-token-count-reason': 'provider_failed' } : {}),
      ...admission?.headers,
    };
    return { kind: 'json', status: 200, headers, body: bodyOf(tokens) };
  } finally {
    admission?.end(0);
  }
}
