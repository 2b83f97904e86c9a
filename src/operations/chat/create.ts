import { generationId, type Ids } from '../../base/ids.ts';
import { lazily } from '../../base/lazily.ts';
import type { PipelineDeps } from '../../pipeline/deps.ts';
import { serve } from '../../pipeline/serve.ts';
import { type ChatRequest, chatResultSchema } from '../../schema/chat/chat.ts';
import { checkWithPlugins } from '../../schema/chat/plugin-check.ts';
import { checkWithBounds, type RequestBounds } from '../../schema/chat/request-bounds.ts';
import { contradictions } from '../../schema/chat/validate.ts';
import { chatRequestCheck } from '../../schema/compiled.ts';
import type { Operation } from '../operation.ts';
import { chatCalls, chatIssues } from './call-of.ts';

export interface CreateChatCompletionDeps {
  pipeline: PipelineDeps;
  ids: Ids;
  brand: string;
  bounds: RequestBounds;
}

/** @see interface document, "POST /chat/completions" */
export function createChatCompletion({
  pipeline,
  ids,
  brand,
  bounds,
}: CreateChatCompletionDeps): Operation<ChatRequest> {
  const callOf = chatCalls(ids, brand);
  const check = lazily(() => checkWithBounds(checkWithPlugins(chatRequestCheck, pipeline.plugins), bounds));
  return {
    name: 'createChatCompletion',
    method: 'POST',
    path: '/chat/completions',
    permissions: ['inference'],
    wire: 'chat',
    body: () => check()(),
    result: chatResultSchema,
    issues: chatIssues,
    contradictions,
    recordsItself: true,
    generationId: (receivedAtMs) => generationId(ids, receivedAtMs),
    run: (input) => serve(pipeline, callOf(input)),
  };
}
