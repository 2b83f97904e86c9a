import { askOf } from '../../call/ask.ts';
import type { ChatChunk } from '../../schema/chat/chunk.ts';
import { guardedSteps } from '../hooks/plugin-steps.ts';
import { StepChain } from '../hooks/step-chain.ts';
import type { TaskRun } from './run.ts';
import type { MakeGuard, Task, TextGuard } from './task.ts';

/**
 * Returns the maker of guards for the texts of a response. The guardrails of the call read them as they read the content
 * of a chat completion; the first guard also feeds what keeps the contents of responses.
 * @returns null: nobody reads them
 */
export function textGuardsOf(run: TaskRun, task: Task): MakeGuard | null {
  const { hooks, watch } = run;
  const isRead = hooks.some(({ hooks: { steps, restore } }) => steps !== undefined || restore !== undefined);
  if (!isRead && watch.step === null) return null;
  const ask = askOf(task.view());
  const stepsOf = (name: 'steps' | 'restore') =>
    hooks.toReversed().flatMap((hook) => guardedSteps(run, hook, name, ask));
  let keeping = watch.step;
  return () => {
    const kept = keeping === null ? [] : [keeping];
    keeping = null;
    return guardOf(run, new StepChain([...stepsOf('steps'), ...kept, ...stepsOf('restore')]));
  };
}

function guardOf({ call }: TaskRun, chain: StepChain): TextGuard {
  const chunk = (content: string, finish: 'stop' | null): ChatChunk => ({
    id: call.id,
    object: 'chat.completion.chunk',
    created: call.created,
    model: call.ask.request.model ?? '',
    choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: finish }],
  });
  const through = async (work: () => Promise<readonly ChatChunk[]>): Promise<string> => {
    try {
      return textOf(await work());
    } catch (error) {
      chain.abandon({ kind: 'failed', error });
      throw error;
    }
  };
  return {
    push: (text) => through(() => chain.push([chunk(text, null)])),
    end: () =>
      through(async () => [...(await chain.push([chunk('', 'stop')])), ...(await chain.end({ kind: 'complete' }))]),
  };
}

function textOf(chunks: readonly ChatChunk[]): string {
  return chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
}
