import { type CreateChatCompletionDeps, createChatCompletion } from './create-chat-completion.ts';
import type { Operation } from './operation.ts';

export type OperationDeps = CreateChatCompletionDeps;

/** Every operation of the interface. */
export function operations(deps: OperationDeps): Operation[] {
  return [createChatCompletion(deps)];
}
