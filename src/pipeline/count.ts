import { isGatewayError } from '../base/errors.ts';
import { UpstreamError } from '../base/http/upstream-error.ts';
import { type Ask, withRequest } from '../call/ask.ts';
import { type Call, callFor } from '../call/call.ts';
import type { Plan } from '../call/plan.ts';
import { nothingImposed } from '../guardrails/stored.ts';
import { estimatePrompt } from '../pricing/estimate.ts';
import { countAt } from './attempt/counts/count.ts';
import { askAt } from './attempt/prepared.ts';
import { CallRun } from './call/run.ts';
import { withoutWithheld } from './call/withheld.ts';
import type { PipelineDeps } from './deps.ts';
import { screen } from './hooks/before.ts';
import { isLimited } from './money/afford.ts';
import { gather } from './plan/gather.ts';
import { planOf } from './plan/plan-of.ts';
import { offerServerTools, offersServerTools } from './server-tools/offer.ts';

/** The number of tokens of a prompt. */
export interface PromptCount {
  tokens: number;
  /** `provider`: the provider of the planned first endpoint has counted. `estimated`: the gateway has. */
  by: 'provider' | 'estimated';
  /** true: the provider has a count, and gave none. */
  hasFailed: boolean;
}

/**
 * Counts the tokens of a prompt: asks the provider of the planned first endpoint where it has a count, else estimates.
 * Guardrails act on the request before anything leaves. No plugin does, and no money is held.
 * @throws GatewayError, the refusal of a guardrail; the reason of the call's signal when the client left
 */
export async function countPrompt(deps: PipelineDeps, call: Call): Promise<PromptCount> {
  const estimated = (ask: Ask, hasFailed = false): PromptCount => ({
    tokens: estimatePrompt(withFunctions(deps, ask).request),
    by: 'estimated',
    hasFailed,
  });
  if (!deps.countsAtProviders) return estimated(call.ask);
  const ask = withFunctions(deps, await screened(deps, call));
  const target = await firstTarget(deps, call, ask);
  if (target === null) return estimated(ask);
  try {
    const input = { ask: askAt(ask, target.first), isLimited: target.isLimited, signal: call.signal };
    const tokens = await countAt(deps, input, target.first);
    return tokens === null ? estimated(ask) : { tokens, by: 'provider', hasFailed: false };
  } catch (error) {
    call.signal.throwIfAborted();
    if (!(error instanceof UpstreamError)) throw error;
    return estimated(ask, true);
  }
}

/** Gives the request to the guardrails alone: a plugin may search or ask a model, which costs money. */
async function screened(deps: PipelineDeps, call: Call): Promise<Ask> {
  const imposed = await (deps.imposedOn?.(call.caller) ?? nothingImposed);
  // The operation is recorded as one that asks no model.
  const run = new CallRun({ ...deps, plugins: [], record: null, follow: null }, call, imposed.guardrails);
  try {
    const ask = await screen(run);
    // A guardrail that is asked beside a response has its say before the request leaves, too.
    await run.judged(Promise.resolve());
    run.finish({ outcome: 'ok', status: 200, error: null });
    return ask;
  } catch (error) {
    run.finish({ outcome: 'failed', status: 500, error: null });
    throw isGatewayError(error) ? withoutWithheld(run.hooks, error) : error;
  }
}

function withFunctions({ serverTools }: Pick<PipelineDeps, 'serverTools'>, ask: Ask): Ask {
  return offersServerTools(ask.request) ? withRequest(ask, offerServerTools(ask.request, serverTools).request) : ask;
}

/** @returns null: no endpoint would serve the request */
async function firstTarget(
  deps: PipelineDeps,
  call: Call,
  ask: Ask,
): Promise<{ first: Plan['targets'][number]; isLimited: boolean } | null> {
  try {
    // A scorer of the host app may ask a model, which costs money.
    const free = { ...deps, difficulty: undefined };
    const gathered = await gather(free, callFor(call, ask), ask.request);
    const [first] = planOf(free, ask, gathered).targets;
    return first === undefined ? null : { first, isLimited: isLimited(call, gathered.budgets) };
  } catch (error) {
    call.signal.throwIfAborted();
    // An estimate needs no endpoint.
    if (isGatewayError(error)) return null;
    throw error;
  }
}
