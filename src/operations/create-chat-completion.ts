import { generationId, type Ids } from '../base/ids.ts';
import type { Call } from '../call/call.ts';
import { newTrace } from '../call/trace.ts';
import { chatWire } from '../convert/chat-wire.ts';
import type { PipelineDeps } from '../pipeline/deps.ts';
import { serve } from '../pipeline/serve.ts';
import { type ChatRequest, chatResultSchema } from '../schema/chat.ts';
import { compiledChatRequest } from '../schema/compiled.ts';
import { contradictions } from '../schema/validate.ts';
import type { Operation, OperationInput } from './operation.ts';

export interface CreateChatCompletionDeps {
  pipeline: PipelineDeps;
  ids: Ids;
  brand: string;
}

const maxSessionIdChars = 256;

/** @see interface document, "POST /chat/completions" */
export function createChatCompletion({ pipeline, ids, brand }: CreateChatCompletionDeps): Operation<ChatRequest> {
  const metadataHeaders = [
    ...new Set([`x-${brand}-metadata`, 'x-service-metadata', 'x-service-experimental-metadata']),
  ];
  const wire = chatWire(brand);

  function callOf({ body, caller, headers, signal, receivedAtMs }: OperationInput<ChatRequest>): Call {
    return {
      id: generationId(ids, receivedAtMs),
      request: body,
      caller,
      signal,
      receivedAtMs,
      created: Math.floor(receivedAtMs / 1000),
      wantsMetadata: metadataHeaders.some((name) => headers.get(name)?.trim().toLowerCase() === 'enabled'),
      sessionId: body.session_id ?? headers.get('x-session-id')?.slice(0, maxSessionIdChars) ?? null,
      wire,
      trace: newTrace(),
    };
  }

  return {
    name: 'createChatCompletion',
    method: 'POST',
    path: '/chat/completions',
    permissions: ['inference'],
    body: compiledChatRequest(),
    result: chatResultSchema,
    contradictions,
    run: (input) => serve(pipeline, callOf(input), input.control),
  };
}
