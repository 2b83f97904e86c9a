import type { StopSignal } from '../../base/async/stop.ts';
import { StopSwitch } from '../../base/async/stop.ts';
import { isGatewayError } from '../../base/errors.ts';
import { nanoToUsd } from '../../base/money.ts';
import { type Ask, revised } from '../../call/ask.ts';
import type { Call } from '../../call/call.ts';
import type { Expense, PluginContext } from '../../call/hooks.ts';
import type { FoundPages, SearchRequest, SearchResult } from '../../call/search.ts';
import type { Guardrail } from '../../guardrails/guardrail.ts';
import type { Plugin } from '../../plugins/plugin.ts';
import { sumUsage } from '../../pricing/sum-usage.ts';
import { describeRoute, type Route } from '../../routing/describe.ts';
import type { ChatRequest, Usage } from '../../schema/chat/chat.ts';
import type { PipelineStage, ServiceMetadata } from '../../schema/chat/envelope.ts';
import type { Admission } from '../../stores/rates/limiter.ts';
import type { SafeFollower } from '../../telemetry/follow.ts';
import type { Annotation } from '../citations/annotate.ts';
import type { PipelineDeps, WorkspaceDefaults } from '../deps.ts';
import { GenerationState } from '../generation/state.ts';
import { CallHold } from '../money/hold.ts';
import { spentOnFailures } from '../money/hold-share.ts';
import { namedModels } from '../plan/named-models.ts';
import { planNow, unplanned } from '../plan/plan-of.ts';
import { mayNeedSearch } from '../server-tools/hosted-search.ts';
import { offersServerTools } from '../server-tools/offer.ts';
import { checkOperatorServices, checkServerTools } from '../server-tools/operator-services.ts';
import { type ActiveHook, activeHooks, hasHooks, strategyOf } from './active-hooks.ts';
import { tokensUsed } from './admission.ts';
import type { ContentCapture } from './content-capture.ts';
import { begunCallOf, type CallEnd, type CallersWords, noWords, recordOf, wordsOf } from './record.ts';
import { priceOfSearch, searchWeb } from './search.ts';
import { stageWithoutWithheld } from './withheld.ts';

/**
 * One client call on its way through the pipeline: its hold, its generations, the acts of plugins, and one record at
 * its end. The call is over when it was finished and the last of its generations is settled.
 */
export class CallRun {
  readonly deps: PipelineDeps;
  readonly call: Call;
  readonly hold: CallHold;
  /** The place of the call in the rate limits; null: nothing limits it. */
  admission: Admission | null = null;
  /** The generations, in the order they began. */
  readonly generations: GenerationState[] = [];
  /** The hooks that may act, until the request was screened; then the hooks that do. */
  hooks: readonly ActiveHook[];
  /** Captures the texts of the call; null: nothing is captured. */
  capture: ContentCapture | null = null;
  /** true: the captured texts are kept beside the record. */
  keepsContent = false;
  /** The workspace's switches for reports on its calls; null: not known. */
  switches: WorkspaceDefaults | null = null;
  /** Follows the call while it runs; null: nobody does. */
  readonly follower: SafeFollower | null;
  /** Annotations that plugins have added and nobody has delivered yet. */
  readonly annotations: Annotation[] = [];
  /**
   * The caller's words that records keep: none before guardrails have looked at them. They are in an object of their
   * own, because the follower keeps it for longer than the call.
   */
  readonly #said: { words: CallersWords } = { words: noWords };
  /** The stages of plugins and guardrails. */
  readonly stages: PipelineStage[] = [];
  /** Bodies that were sent upstream, one for each attempt, for a caller who asked to see them. */
  readonly sentBodies: Record<string, unknown>[] = [];
  /** Calls of server tools: those that models made, and those that were run. */
  readonly toolCalls = { requested: 0, executed: 0 };
  /** The pages that searches of this call have found. */
  readonly foundPages: SearchResult[] = [];
  /** Searches that the gateway has made. */
  webSearches = 0;
  /** Aborted when the call is aborted, and when the call ends while generations are still open. */
  readonly signal: StopSignal;
  /** The switch of this call alone, where plugins may leave generations open. */
  readonly #ownSwitch: StopSwitch | null;
  /** Generations in flight. */
  #unsettled = 0;
  /** The amount that plugins have paid and settled, integer nano-USD. */
  #expensesNanoUsd = 0;
  /** Settles the amounts that plugins have held. An amount that is never settled is booked as it was held. */
  readonly #openExpenses: (() => void)[] = [];
  #end: CallEnd | null = null;
  #isClosed = false;

  /** @param imposed  guardrails of the store */
  constructor(deps: PipelineDeps, call: Call, imposed: readonly Guardrail[] = []) {
    this.deps = deps;
    this.call = call;
    this.hooks = activeHooks(deps, call, imposed);
    if (!this.isGuarded) this.#said.words = wordsOf(call.sessionId, call.ask.request);
    const mayLeaveOver = this.hooks.some(({ hooks }) => hooks.wrap !== undefined);
    const mayUseTools = offersServerTools(call.ask.request) || mayNeedSearch(deps, call.ask);
    this.hold = new CallHold(deps, call, this.hooks.length > 0 || mayUseTools);
    this.#ownSwitch = mayLeaveOver ? linkedSwitch(call.signal) : null;
    this.signal = this.#ownSwitch ?? call.signal;
    this.follower = deps.follow ? deps.follow(begunCallOf(call, this.#said)) : null;
  }

  /** true: guardrails act on the call. */
  get isGuarded(): boolean {
    return this.hooks[0]?.isGuardrail === true;
  }

  /** Notes that guardrails have let the request pass. @param sessionId  the session as they have left it */
  noteScreened(sessionId: string | null, request: ChatRequest): void {
    this.#said.words = wordsOf(sessionId, request);
  }

  get words(): CallersWords {
    return this.#said.words;
  }

  /** Begins a generation. */
  begin(ask: Ask): GenerationState {
    this.#unsettled++;
    const generation = new GenerationState(this.deps, this.call.time, ask, () => {
      this.#unsettled--;
      this.#close();
    });
    this.generations.push(generation);
    return generation;
  }

  /** Shows a stage. It may hold words of a model or a service: guardrails look at it. */
  addStage(stage: PipelineStage): void {
    this.stages.push(stageWithoutWithheld(this.hooks, stage));
  }

  /** Tells the budget watch that a budget has refused the call. */
  noteRefusal(error: unknown): void {
    const { budgetWatch } = this.deps;
    if (!budgetWatch || !isGatewayError(error) || error.kind !== 'payment_required') return;
    const { workspaceId, apiKeyHash } = this.call.caller;
    budgetWatch.refused({ workspaceId, apiKeyHash, metadata: error.metadata ?? {}, atMs: this.call.receivedAtMs });
  }

  /** Ends the call for its client. Only the first end counts. */
  finish(end: CallEnd): void {
    if (this.#end !== null) return;
    this.#end = end;
    if (this.#unsettled > 0) {
      this.#ownSwitch?.abort(new Error('The call is over'));
      // Streams that a plugin has left open, or that nobody came to deliver.
      for (const generation of this.generations) generation.stop();
    }
    this.#close();
  }

  /** Returns the usage of all generations that served, together, with the cost of everything that was spent. */
  usage(): Usage {
    const usages: Usage[] = [];
    let extraNanoUsd = this.#expensesNanoUsd;
    for (const { target, receipt, attempts } of this.generations) {
      if (target !== null && receipt) usages.push(receipt.usage);
      else extraNanoUsd += spentOnFailures(attempts).operatorNanoUsd;
    }
    if (usages.length === 0) usages.push(noTokens);
    // Failed generations, and the amounts that plugins have paid, are on the bill as well; BYOK attempts are on
    // another.
    if (extraNanoUsd > 0) usages.push(costAlone(extraNanoUsd));
    const { requested, executed } = this.toolCalls;
    if (requested > 0)
      usages.push({
        ...noTokens,
        server_tool_use_details: { tool_calls_requested: requested, tool_calls_executed: executed },
      });
    if (this.webSearches > 0)
      usages.push({ ...noTokens, server_tool_use_details: { web_search_requests: this.webSearches } });
    return sumUsage(usages);
  }

  /** Returns the route of the call; undefined: the caller did not ask for it. */
  metadata(): ServiceMetadata | undefined {
    if (!this.call.wantsMetadata) return undefined;
    const { request } = this.call.ask;
    const route = describeRoute(this.#routes(), this.stages, this.deps.region);
    const strategy = strategyOf(this.hooks);
    // No single route tells the strategy of a plugin that has chosen the models.
    const described: ServiceMetadata =
      strategy === null ? route : { ...route, requested: request.model ?? route.requested, strategy };
    const idle = [...idlePlugins(this.deps.plugins, request, this.stages), ...idleTrace(this.words)];
    return idle.length === 0 ? described : { ...described, dropped: [...(described.dropped ?? []), ...idle] };
  }

  /**
   * Returns the routes. A call that was refused before its first generation was planned shows the models that it asked
   * for.
   */
  #routes(): readonly Route[] {
    const last = this.generations.at(-1);
    if (last !== undefined && last.plan !== null) return this.generations;
    const plan = unplanned(this.deps, last?.request ?? this.call.ask.request, this.deps.defaultModel);
    return [...this.generations.slice(0, -1), { plan, target: null, attempts: last?.attempts ?? [] }];
  }

  /** Settles the hold and writes the record, once the last generation is settled. */
  #close(): void {
    const end = this.#end;
    // A plugin may ask for a generation after the call is over: the generation is refused, and the call stays closed.
    if (end === null || this.#unsettled > 0 || this.#isClosed) return;
    this.#isClosed = true;
    for (const settle of this.#openExpenses) settle();
    this.hold.settle();
    this.admission?.end(tokensUsed(this.generations));
    if (!this.deps.record) return;
    const record = recordOf(this, end);
    const content = this.capture?.content() ?? null;
    if (content !== null && this.keepsContent) this.deps.keepContent?.(record, content);
    this.follower?.ended(record, content);
    this.deps.record(record);
  }

  /**
   * @param ask    the request that is looked at
   * @param hook   the owner of the context
   * @param spent  counts the money that is spent through the context
   */
  contextOf(ask: Ask, hook: ContextOwner, spent: Spent = { nanoUsd: 0 }): Omit<PluginContext, 'signal'> {
    const { options, isAsked, plugin } = hook;
    return {
      options,
      isAsked,
      call: this.call,
      native: ask.native,
      generations: this.generations,
      plan: (made) => planNow(this.deps, this.call, revised(ask, made)),
      addStage: (stage) => this.addStage(stage),
      addAnnotations: (annotations) => void this.annotations.push(...annotations),
      clock: this.deps.clock,
      fetchUrl: this.deps.fetchUrl,
      models: (request) => namedModels(this.deps, this.call, request),
      priceOfSearch: (request) => priceOfSearch(request, { engines: this.deps.searchEngines, plugin }),
      checkOperatorServices: (service) => checkOperatorServices(this.deps, this.call, service),
      checkServerTools: (request) => checkServerTools(this.deps, this.call, request),
      search: (request) => this.#search(request, plugin, spent),
      hold: (nanoUsd) => this.#holdExpense(nanoUsd, spent),
    };
  }

  async #search(request: SearchRequest, plugin: string | null, spent: Spent): Promise<FoundPages> {
    const { searchEngines: engines, clock, timeouts } = this.deps;
    await checkOperatorServices(this.deps, this.call, 'web search');
    const hold = (nanoUsd: number) => this.#holdShare(nanoUsd, spent);
    const timeoutMs = timeouts.searchMs;
    const found = await searchWeb(request, { engines, plugin, clock, timeoutMs, signal: this.signal, hold });
    this.webSearches++;
    this.foundPages.push(...found.results);
    return found;
  }

  async #holdExpense(nanoUsd: number, spent: Spent): Promise<Expense> {
    if (!Number.isSafeInteger(nanoUsd) || nanoUsd < 0) throw new TypeError('hold: expected a whole number of nano-USD');
    await checkOperatorServices(this.deps, this.call, 'paid service');
    return this.#holdShare(nanoUsd, spent);
  }

  async #holdShare(nanoUsd: number, spent: Spent): Promise<Expense> {
    const share = await this.hold.holdExpense(nanoUsd);
    spent.nanoUsd += nanoUsd;
    let isSettled = false;
    const settle = (spentNanoUsd: number) => {
      if (isSettled) return;
      isSettled = true;
      // A value that is no amount must not free the money that was held.
      const operatorNanoUsd = Number.isSafeInteger(spentNanoUsd) && spentNanoUsd >= 0 ? spentNanoUsd : nanoUsd;
      this.#expensesNanoUsd += operatorNanoUsd;
      spent.nanoUsd += operatorNanoUsd - nanoUsd;
      share.settle({ operatorNanoUsd, byokNanoUsd: 0 });
    };
    this.#openExpenses.push(() => settle(nanoUsd));
    return { settle };
  }
}

/** The owner of the context of a call. */
interface ContextOwner {
  /** The id of a plugin; null: a guardrail or a server tool. */
  plugin: string | null;
  /** The settings of the owner in the request. */
  options: Record<string, unknown>;
  isAsked: boolean;
}

/** The money that was spent, integer nano-USD. An amount that is held counts until it is settled. */
interface Spent {
  nanoUsd: number;
}

/**
 * Returns the settings of plugins that do nothing by themselves and whose settings nobody has read: they have no
 * effect.
 */
function idlePlugins(known: readonly Plugin[], { plugins }: ChatRequest, stages: readonly PipelineStage[]): string[] {
  const holdsSettings = (id: string) =>
    known.some((one) => one.id === id && !hasHooks(one) && one.shortener === undefined);
  const asked = (plugins ?? []).filter(({ id, enabled }) => enabled !== false && holdsSettings(id));
  const idle = asked.filter(({ id }) => !stages.some(({ name }) => name === id));
  return [...new Set(idle.map(({ id }) => `plugins[].${id}`))];
}

/** Returns the dropped keys of `trace`. Keys come from the caller: one that is no word is counted, and not shown. */
function idleTrace({ droppedTrace }: CallersWords): string[] {
  return [...new Set(droppedTrace.map((name) => (/^[\w.-]{1,64}$/.test(name) ? `trace.${name}` : 'trace')))];
}

/** Makes a usage of money without tokens. */
function costAlone(nanoUsd: number): Usage {
  return { ...noTokens, cost: nanoToUsd(nanoUsd) };
}

const noTokens: Usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

/** Makes a switch that is aborted together with a signal. */
function linkedSwitch(signal: StopSignal): StopSwitch {
  const own = new StopSwitch();
  if (signal.aborted) own.abort(signal.reason);
  else signal.addEventListener('abort', () => own.abort(signal.reason), { once: true });
  return own;
}
