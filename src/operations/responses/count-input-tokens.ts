import * as z from 'zod';
import { chatEncoder } from '../../formats/chat/encoder.ts';
import { askOfResponses } from '../../formats/responses/request/index.ts';
import type { ResponsesRequest } from '../../schema/responses/responses.ts';
import { count } from '../../schema/scalars.ts';
import { completionCalls } from '../chat/call-of.ts';
import { countedReply } from '../chat/counted.ts';
import type { Operation } from '../operation.ts';
import { responsesChecks } from './check.ts';
import type { ResponsesDeps } from './deps.ts';

/**
 * Counts the tokens of a Responses request, without a call of a model: its provider does where it can, else the gateway
 * estimates, which a header says.
 * @see https://platform.openai.com/docs/api-reference/responses/input-tokens
 */
export function countInputTokens(deps: ResponsesDeps): Operation<ResponsesRequest> {
  const callOf = completionCalls(deps.ids, deps.brand, 'countInputTokens');
  const encoder = chatEncoder(deps.brand);
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
    run: (input) =>
      countedReply(deps.pipeline, callOf(input, askOfResponses(input.body), encoder), (tokens) => ({
        object: 'response.input_tokens',
        input_tokens: tokens,
      })),
  };
}
