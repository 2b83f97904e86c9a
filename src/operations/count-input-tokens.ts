import * as z from 'zod';
import { toChatRequest } from '../convert/responses/request.ts';
import { offerServerTools, offersServerTools } from '../pipeline/server-tools/offer.ts';
import { estimatePrompt } from '../pricing/estimate.ts';
import type { ResponsesRequest } from '../schema/responses.ts';
import { count } from '../schema/scalars.ts';
import { jsonReply, type Operation } from './operation.ts';
import type { ResponsesDeps } from './responses/call-of.ts';
import { responsesChecks } from './responses/check.ts';

/**
 * Estimates how many tokens a Responses request has, without a call of a model: the provider's own count may differ.
 * @see https://platform.openai.com/docs/api-reference/responses/input-tokens
 */
export function countInputTokens(deps: ResponsesDeps): Operation<ResponsesRequest> {
  return {
    name: 'countInputTokens',
    method: 'POST',
    path: '/responses/input_tokens',
    permissions: ['inference'],
    ...responsesChecks(deps),
    result: () =>
      z.object({
        /** Always `response.input_tokens`. */
        object: z.literal('response.input_tokens'),
        /** Tokens of the input, the instructions and the tools. */
        input_tokens: count(),
      }),
    async run({ body }) {
      const asked = toChatRequest(body);
      const request = offersServerTools(asked) ? offerServerTools(asked, deps.pipeline.serverTools).request : asked;
      return jsonReply({ object: 'response.input_tokens', input_tokens: estimatePrompt(request) });
    },
  };
}
