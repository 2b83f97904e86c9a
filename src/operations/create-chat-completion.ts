import { generationId, type Ids } from '../base/ids.ts';
import { lazily } from '../base/lazily.ts';
import type { PipelineDeps } from '../pipeline/deps.ts';
import { serve } from '../pipeline/serve.ts';
import { type ChatRequest, chatResultSchema } from '../schema/chat.ts';
import { chatRequestCheck } from '../schema/compiled.ts';
import { checkWithPlugins } from '../schema/plugin-check.ts';
import { contradictions } from '../schema/validate.ts';
import { chatCalls, chatIssues } from './chat/call-of.ts';
import type { Operation } from './operation.ts';

export interface CreateChatCompletionDeps {
  pipeline: PipelineDeps;
  ids: Ids;
  brand: string;
}

/** @see interface document, "POST /chat/completions" */
export function createChatCompletion({ pipeline, ids, brand }: CreateChatCompletionDeps): Operation<ChatRequest> {
  const callOf = chatCalls(ids, brand);
  const check = lazily(() => checkWithPlugins(chatRequestCheck, pipeline.plugins));
  return {
    name: 'createChatCompletion',
    method: 'POST',
    path: '/chat/completions',
    permissions: ['inference'],
    body: () => check()(),
    result: chatResultSchema,
    issues: chatIssues,
    contradictions,
    recordsItself: true,
    generationId: (receivedAtMs) => generationId(ids, receivedAtMs),
    run: (input) => serve(pipeline, callOf(input)),
  };
}
