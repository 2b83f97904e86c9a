import { type Ask, type Revised, revised } from '../../call/ask.ts';
import type { Generation, ModelResponse } from '../../call/generation.ts';
import type { ActiveHook } from '../call/active-hooks.ts';
import type { CallRun } from '../call/run.ts';
import { HookOfCall } from './context.ts';

/**
 * Asks a plugin for a response. Where it fails before it has generated anything, and may be skipped, asks the next one
 * inside it instead, once.
 * @throws GatewayError; the error of the plugin; the reason of the call's signal, without waiting for the plugin
 */
export async function wrapped(
  run: CallRun,
  hook: ActiveHook,
  inner: (ask: Ask) => Promise<ModelResponse>,
  ask: Ask,
): Promise<ModelResponse> {
  const { signal } = run.call;
  signal.throwIfAborted();
  const asked = new HookOfCall(run, hook, 'wrap', ask);
  let hasGenerated = false;
  const generate = async (made: Revised): Promise<Generation> => {
    asked.throwIfGivenUp();
    hasGenerated = true;
    const asking = revised(ask, made);
    return (await inner({ ...asking, askedFor: [...ask.askedFor, asking.request] })) as Generation;
  };
  try {
    const response = await asked.followed(() =>
      asked.whileWanted(() => hook.hooks.wrap?.(generate, ask.request, asked.context)),
    );
    asked.hasSucceeded();
    return response as ModelResponse;
  } catch (error) {
    signal.throwIfAborted();
    // A second generation would be paid for as well.
    if (hasGenerated) throw error;
    asked.skip(error);
    return inner(ask);
  }
}
