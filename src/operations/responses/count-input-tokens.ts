import * as z from 'zod';
import { askOfResponses } from '../../formats/responses/request/index.ts';
import { offerServerTools, offersServerTools } from '../../pipeline/server-tools/offer.ts';
import { estimatePrompt } from '../../pricing/estimate.ts';
import type { ResponsesRequest } from '../../schema/responses/responses.ts';
import { count } from '../../schema/scalars.ts';
import { jsonReply, type Operation } from '../operation.ts';
import type { ResponsesDeps } from './call-of.ts';
import { responsesChecks } from './check.ts';

/**
 * Estimates the tokens of a Responses request, without a call of a model: the provider's own count may differ.
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
      const { request: asked } = askOfResponses(body);
      const request = offersServerTools(asked) ? offerServerTools(asked, deps.pipeline.serverTools).request : asked;
      return jsonReply({ object: 'response.input_tokens', input_tokens: estimatePrompt(request) });
    },
  };
}
