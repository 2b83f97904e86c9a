import { isGatewayError } from '../base/errors.ts';
import { nanoToUsd } from '../base/money.ts';
import type { StopSignal } from '../base/stop.ts';
import { StopSwitch } from '../base/stop.ts';
import type { Call } from '../call/call.ts';
import type { Expense, PluginContext } from '../call/hooks.ts';
import type { FoundPages, SearchRequest, SearchResult } from '../call/search.ts';
import type { Guardrail } from '../guardrails/guardrail.ts';
import { sumUsage } from '../pricing/sum-usage.ts';
import { describeRoute } from '../routing/describe.ts';
import type { ChatRequest, Usage } from '../schema/chat.ts';
import type { PipelineStage, ServiceMetadata } from '../schema/envelope.ts';
import type { Admission } from '../stores/rates/limiter.ts';
import type { SafeFollower } from '../telemetry/follow.ts';
import { type ActiveHook, activeHooks, namesFusion } from './active-hooks.ts';
import { tokensUsed } from './admission.ts';
import type { Annotation } from './annotate.ts';
import { CallHold } from './call-hold.ts';
import type { ContentCapture } from './content-capture.ts';
import type { PipelineDeps, WorkspaceDefaults } from './deps.ts';
import { GenerationState } from './generation.ts';
import { spentOnFailures } from './hold-share.ts';
import { namedModels } from './named-models.ts';
import { planNow } from './plan-of.ts';
import { begunCallOf, type CallEnd, recordOf } from './record-of.ts';
import { priceOfSearch, searchWeb } from './search.ts';
import { mayNeedSearch } from './server-tools/hosted-search.ts';
import { offersServerTools } from './server-tools/offer.ts';

/**
 * One client call on its way through the pipeline: its hold, its generations, what plugins did, and one record at its
 * end. The call is over when it was finished and the last of its generations is settled.
 */
export class CallRun {
  readonly deps: PipelineDeps;
  readonly call: Call;
  readonly hold: CallHold;
  /** What rate limits count for it; null: nothing limits it. */
  admission: Admission | null = null;
  /** In the order they began. */
  readonly generations: GenerationState[] = [];
  readonly hooks: readonly ActiveHook[];
  /** What is seen of its texts; null: nothing. */
  capture: ContentCapture | null = null;
  /** Whether what is seen is kept beside the record. */
  keepsContent = false;
  /** What the workspace wants to be told of its calls; null: not known. */
  switches: WorkspaceDefaults | null = null;
  /** Who follows the call while it runs; null: nobody. */
  readonly follower: SafeFollower | null;
  /** Annotations that plugins have added and nobody has delivered yet. */
  readonly annotations: Annotation[] = [];
  /** What plugins and guardrails did. */
  readonly stages: PipelineStage[] = [];
  /** Bodies that were sent upstream, one for each attempt, for a caller who asked to see them. */
  readonly sentBodies: Record<string, unknown>[] = [];
  /** Calls of server tools: those that models made, and those that were run. */
  readonly toolCalls = { requested: 0, executed: 0 };
  /** What searches of this call have found. */
  readonly foundPages: SearchResult[] = [];
  /** Searches that the gateway has made. */
  webSearches = 0;
  /** Aborted when the call is, and when it ends with generations left over. */
  readonly signal: StopSignal;
  /** Of its own where plugins may leave generations over. */
  readonly #ownSwitch: StopSwitch | null;
  /** Generations in flight. */
  #unsettled = 0;
  /** What plugins have paid for and settled, integer nano-USD. */
  #expensesNanoUsd = 0;
  /** Settles what plugins have held: what is never settled is booked as it was held. */
  readonly #openExpenses: (() => void)[] = [];
  #end: CallEnd | null = null;
  #isClosed = false;

  /** @param imposed  guardrails of the store */
  constructor(deps: PipelineDeps, call: Call, imposed: readonly Guardrail[] = []) {
    this.deps = deps;
    this.call = call;
    this.hooks = activeHooks(deps, call, imposed);
    const mayLeaveOver = this.hooks.some(({ hooks }) => hooks.wrap !== undefined);
    const mayUseTools = offersServerTools(call.request) || mayNeedSearch(deps, call.request);
    this.hold = new CallHold(deps, call, this.hooks.length > 0 || mayUseTools);
    this.#ownSwitch = mayLeaveOver ? linkedSwitch(call.signal) : null;
    this.signal = this.#ownSwitch ?? call.signal;
    this.follower = deps.follow ? deps.follow(begunCallOf(call)) : null;
  }

  /** A generation begins. */
  begin(request: ChatRequest): GenerationState {
    this.#unsettled++;
    const generation = new GenerationState(this.deps, request, () => {
      this.#unsettled--;
      this.#close();
    });
    this.generations.push(generation);
    return generation;
  }

  /** Tells who wants to know that a budget has refused the call. */
  noteRefusal(error: unknown): void {
    const { budgetWatch } = this.deps;
    if (!budgetWatch || !isGatewayError(error) || error.kind !== 'payment_required') return;
    const { workspaceId, apiKeyHash } = this.call.caller;
    budgetWatch.refused({ workspaceId, apiKeyHash, metadata: error.metadata ?? {}, atMs: this.call.receivedAtMs });
  }

  /** The call is over for its client. Only the first call counts. */
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

  /** Usage of all generations that served, together, with the cost of all that was spent. */
  usage(): Usage {
    const usages: Usage[] = [];
    let extraNanoUsd = this.#expensesNanoUsd;
    for (const { target, receipt, attempts } of this.generations) {
      if (target !== null && receipt) usages.push(receipt.usage);
      else extraNanoUsd += spentOnFailures(attempts).operatorNanoUsd;
    }
    if (usages.length === 0) usages.push(noTokens);
    // Generations that failed, and what plugins have paid for, are on the bill as well; BYOK attempts are on another.
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

  /** How the call was routed; undefined: the caller did not ask for it. */
  metadata(): ServiceMetadata | undefined {
    if (!this.call.wantsMetadata) return undefined;
    const { request } = this.call;
    const route = describeRoute(this.generations, this.stages, this.deps.region);
    // Where `service/fusion` was asked for, no single route says so.
    const described: ServiceMetadata = namesFusion(request, this.deps.brand)
      ? { ...route, requested: request.model as string, strategy: 'fusion' }
      : route;
    const idle = idlePlugins(request, this.stages);
    return idle.length === 0 ? described : { ...described, dropped: [...(described.dropped ?? []), ...idle] };
  }

  /** Settles the hold and writes the record, once the last generation is settled. */
  #close(): void {
    const end = this.#end;
    // A plugin may ask for a generation when all is over: the generation is refused, and the call stays closed.
    if (end === null || this.#unsettled > 0 || this.#isClosed) return;
    this.#isClosed = true;
    for (const settle of this.#openExpenses) settle();
    this.hold.settle();
    this.admission?.end(tokensUsed(this.generations));
    if (!this.deps.record) return;
    const record = recordOf(this, end, this.deps.clock.now());
    const content = this.capture?.content() ?? null;
    if (content !== null && this.keepsContent) this.deps.keepContent?.(record, content);
    this.follower?.ended(record, content);
    this.deps.record(record);
  }

  /** @param options  what the request says of a plugin */
  contextOf(options: Record<string, unknown>): Omit<PluginContext, 'signal'> {
    return {
      options,
      call: this.call,
      generations: this.generations,
      plan: (request) => planNow(this.deps, this.call, request),
      addStage: (stage) => void this.stages.push(stage),
      addAnnotations: (annotations) => void this.annotations.push(...annotations),
      clock: this.deps.clock,
      fetchUrl: this.deps.fetchUrl,
      models: (request) => namedModels(this.deps, this.call, request),
      priceOfSearch: (request) => priceOfSearch(request, this.deps.searchEngines),
      search: (request) => this.#search(request),
      hold: (nanoUsd) => this.#holdExpense(nanoUsd),
    };
  }

  async #search(request: SearchRequest): Promise<FoundPages> {
    const { searchEngines: engines, clock, timeouts } = this.deps;
    const hold = (nanoUsd: number) => this.#holdExpense(nanoUsd);
    const found = await searchWeb(request, { engines, clock, timeoutMs: timeouts.searchMs, signal: this.signal, hold });
    this.webSearches++;
    this.foundPages.push(...found.results);
    return found;
  }

  async #holdExpense(nanoUsd: number): Promise<Expense> {
    if (!Number.isSafeInteger(nanoUsd) || nanoUsd < 0) throw new TypeError('hold: expected a whole number of nano-USD');
    const share = await this.hold.holdExpense(nanoUsd);
    let isSettled = false;
    const settle = (spentNanoUsd: number) => {
      if (isSettled) return;
      isSettled = true;
      // An amount that is none must not free what was held.
      const operatorNanoUsd = Number.isSafeInteger(spentNanoUsd) && spentNanoUsd >= 0 ? spentNanoUsd : nanoUsd;
      this.#expensesNanoUsd += operatorNanoUsd;
      share.settle({ operatorNanoUsd, byokNanoUsd: 0 });
    };
    this.#openExpenses.push(() => settle(nanoUsd));
    return { settle };
  }
}

/** Settings of routers have no effect where no such router is asked. */
const routerPlugins: ReadonlySet<string> = new Set(['auto-router', 'pareto-router']);

function idlePlugins({ plugins }: ChatRequest, stages: readonly PipelineStage[]): string[] {
  const asked = (plugins ?? []).filter(({ id, enabled }) => enabled !== false && routerPlugins.has(id));
  const idle = asked.filter(({ id }) => !stages.some(({ name }) => name === id));
  return [...new Set(idle.map(({ id }) => `plugins[].${id}`))];
}

/** No tokens, but money. */
function costAlone(nanoUsd: number): Usage {
  return { ...noTokens, cost: nanoToUsd(nanoUsd) };
}

const noTokens: Usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

/** A switch that is aborted when a signal is. */
function linkedSwitch(signal: StopSignal): StopSwitch {
  const own = new StopSwitch();
  if (signal.aborted) own.abort(signal.reason);
  else signal.addEventListener('abort', () => own.abort(signal.reason), { once: true });
  return own;
}
