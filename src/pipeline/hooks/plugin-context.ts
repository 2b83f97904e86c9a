import { type Ask, revised } from '../../call/ask.ts';
import type { GenerationLog } from '../../call/generation.ts';
import type { Expense, PluginContext } from '../../call/hooks.ts';
import type { FoundPages, SearchRequest } from '../../call/search.ts';
import type { CallRun } from '../call/run.ts';
import { priceOfSearch, searchWeb } from '../call/search.ts';
import type { Spender, Spent } from '../money/expenses.ts';
import { namedModels } from '../plan/named-models.ts';
import { planNow } from '../plan/plan-of.ts';
import { checkOperatorServices, checkServerTools } from '../server-tools/operator-services.ts';

/** The plugin, guardrail or server tool that works with the context of a call. */
export interface ContextOwner {
  /** The id of a plugin; null: a guardrail or a server tool. */
  plugin: string | null;
  spender: Spender;
  /** The settings of the plugin in the request. */
  options: Record<string, unknown>;
  isAsked: boolean;
}

/** The part of a call that the context is made of. */
export interface Run extends Pick<CallRun, 'deps' | 'call' | 'signal' | 'journal' | 'expenses' | 'addStage'> {
  readonly generations: readonly GenerationLog[];
}

/**
 * Makes the context of a call for a plugin, guardrail or server tool.
 * @param ask    the request that is looked at
 * @param spent  the sum of what is spent through the context
 */
export function contextOf(
  run: Run,
  ask: Ask,
  { options, isAsked, plugin, spender }: ContextOwner,
  spent: Spent = { nanoUsd: 0 },
): Omit<PluginContext, 'signal'> {
  const { deps, call, generations, journal, expenses } = run;
  const hold = (nanoUsd: number) => expenses.hold(nanoUsd, spent, spender);
  return {
    options,
    isAsked,
    call,
    native: ask.native,
    generations,
    plan: (made) => planNow(deps, call, revised(ask, made)),
    addStage: (stage) => run.addStage(stage),
    addAnnotations: (annotations) => journal.addAnnotations(annotations),
    clock: deps.clock,
    fetchUrl: deps.fetchUrl,
    models: (request) => namedModels(deps, call, request),
    priceOfSearch: (request) => priceOfSearch(request, { engines: deps.searchEngines, plugin }),
    checkOperatorServices: (service) => checkOperatorServices(deps, call, service),
    checkServerTools: (request) => checkServerTools(deps, call, request),
    search: (request) => search(run, request, plugin, hold),
    hold: (nanoUsd) => holdExpense(run, nanoUsd, hold),
  };
}

type Hold = (nanoUsd: number) => Promise<Expense>;

async function search(run: Run, request: SearchRequest, plugin: string | null, hold: Hold): Promise<FoundPages> {
  const { deps, call, signal, journal } = run;
  const { searchEngines: engines, clock, timeouts } = deps;
  await checkOperatorServices(deps, call, 'web search');
  const found = await searchWeb(request, { engines, plugin, clock, timeoutMs: timeouts.searchMs, signal, hold });
  journal.noteSearch(found.results);
  return found;
}

async function holdExpense({ deps, call }: Run, nanoUsd: number, hold: Hold): Promise<Expense> {
  if (!Number.isSafeInteger(nanoUsd) || nanoUsd < 0) throw new TypeError('hold: expected a whole number of nano-USD');
  await checkOperatorServices(deps, call, 'paid service');
  return hold(nanoUsd);
}
