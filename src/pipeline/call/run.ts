import type { StopSignal } from '../../base/async/stop.ts';
import { StopSwitch } from '../../base/async/stop.ts';
import { disregard } from '../../base/async/tell.ts';
import { nanoToUsd } from '../../base/money.ts';
import type { Ask } from '../../call/ask.ts';
import type { Call } from '../../call/call.ts';
import type { Guardrail } from '../../guardrails/guardrail.ts';
import type { Plugin } from '../../plugins/plugin.ts';
import { sumUsage } from '../../pricing/sum-usage.ts';
import { describeRoute, droppedBy, type Route } from '../../routing/describe.ts';
import type { ChatRequest, Usage } from '../../schema/chat/chat.ts';
import type { PipelineStage, ServiceMetadata } from '../../schema/chat/envelope.ts';
import type { Admission } from '../../stores/rates/limiter.ts';
import type { RequestRecord } from '../../telemetry/record.ts';
import type { PipelineDeps } from '../deps.ts';
import { GenerationState } from '../generation/state.ts';
import { Expenses } from '../money/expenses.ts';
import { CallHold } from '../money/hold.ts';
import { spentOnFailures } from '../money/hold-share.ts';
import { unplanned } from '../plan/plan-of.ts';
import { mayNeedOwnTools } from '../server-tools/hosted-tools.ts';
import { offersServerTools } from '../server-tools/offer.ts';
import { type ActiveHook, activeHooks, hasHooks, strategyOf } from './active-hooks.ts';
import { admit, admitFurther, tokensUsed } from './admission.ts';
import { CallJournal, noTokens } from './journal.ts';
import { type CallEnd, type CallersWords, recordOf } from './record.ts';
import { CallWatch } from './watch.ts';
import { stageWithoutWithheld } from './withheld.ts';

/**
 * One client call on its way through the pipeline: its hold, its generations, the acts of plugins, and one record at
 * its end. The call is over when it was finished and the last of its generations is settled.
 */
export class CallRun {
  readonly deps: PipelineDeps;
  readonly call: Call;
  readonly hold: CallHold;
  readonly expenses: Expenses;
  readonly journal = new CallJournal();
  readonly watch: CallWatch;
  /** The request as guardrails have left it; before that, as it came. */
  screened: Ask;
  /** Aborted when the call is aborted, and when the call ends while generations are still open. */
  readonly signal: StopSignal;
  /** The switch of this call alone, where plugins may leave generations open. */
  readonly #ownSwitch: StopSwitch | null;
  #hooks: readonly ActiveHook[];
  #admission: Admission | null = null;
  readonly #verdicts: Promise<void>[] = [];
  readonly #generations: GenerationState[] = [];
  /** Generations in flight. */
  #unsettled = 0;
  #end: CallEnd | null = null;
  #isClosed = false;

  /** @param imposed  guardrails of the store */
  constructor(deps: PipelineDeps, call: Call, imposed: readonly Guardrail[] = []) {
    this.deps = deps;
    this.call = call;
    this.screened = call.ask;
    this.#hooks = activeHooks(deps, call, imposed);
    const mayLeaveOver = this.#hooks.some(({ hooks, isParallel }) => hooks.wrap !== undefined || isParallel);
    const mayUseTools = offersServerTools(call.ask.request) || mayNeedOwnTools(deps, call.ask);
    this.hold = new CallHold(deps, call, this.#hooks.length > 0 || mayUseTools);
    this.expenses = new Expenses(this.hold);
    this.#ownSwitch = mayLeaveOver ? linkedSwitch(call.signal) : null;
    this.signal = this.#ownSwitch ?? call.signal;
    this.watch = new CallWatch(deps, call, this.isGuarded);
  }

  /** The hooks that may act, until the request was screened; then the hooks that do. */
  get hooks(): readonly ActiveHook[] {
    return this.#hooks;
  }

  /** The generations, in the order they began. */
  get generations(): readonly GenerationState[] {
    return this.#generations;
  }

  /** The headers that tell the caller its rate limits; undefined: nothing limits the call. */
  get rateHeaders(): Admission['headers'] | undefined {
    return this.#admission?.headers;
  }

  /** true: guardrails act on the call. */
  get isGuarded(): boolean {
    return this.#hooks[0]?.isGuardrail === true;
  }

  /**
   * Takes the place of the call in the rate limits. Returns no promise where nothing limits it.
   * @throws GatewayError rate_limited (429), payload_too_large (413), unavailable (503)
   */
  admit(): void | Promise<void> {
    const admitted = (admission: Admission | null) => {
      this.#admission = admission;
    };
    const admitting = admit(this.deps.rates, this.call);
    return admitting instanceof Promise ? admitting.then(admitted) : admitted(admitting);
  }

  /** Takes the tokens of a generation after the first, which was admitted with the call. @throws the errors of `admit` */
  async admitFurther(request: ChatRequest): Promise<void> {
    if (this.#admission !== null) await admitFurther(this.deps.rates, this.call, this.#admission, request);
  }

  /** Leaves only these hooks: the request was screened, and the others do not act on it. */
  act(hooks: readonly ActiveHook[]): void {
    this.#hooks = hooks;
  }

  /** Takes the verdict of a hook that is asked beside the generation: it rejects where the response may not be given. */
  judge(verdict: Promise<void>): void {
    disregard(verdict);
    this.#verdicts.push(verdict);
  }

  /** Resolves with the response once all verdicts are there. @throws the first error of all */
  judged<T>(responding: Promise<T>): Promise<T> {
    if (this.#verdicts.length === 0) return responding;
    return Promise.all([responding, ...this.#verdicts]).then(([response]) => response);
  }

  /** Begins a generation. */
  begin(ask: Ask): GenerationState {
    this.#unsettled++;
    const generation = new GenerationState(this.deps, this.call.time, ask, () => {
      this.#unsettled--;
      this.#close();
    });
    this.#generations.push(generation);
    return generation;
  }

  /** Shows a stage. It may hold words of a model or a service: guardrails look at it. */
  addStage(stage: PipelineStage): void {
    this.journal.addStage(stageWithoutWithheld(this.#hooks, stage));
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
    let extraNanoUsd = this.expenses.settledNanoUsd;
    for (const { target, receipt, attempts } of this.generations) {
      if (target !== null && receipt) usages.push(receipt.usage);
      else extraNanoUsd += spentOnFailures(attempts).operatorNanoUsd;
    }
    if (usages.length === 0) usages.push(noTokens);
    // Failed generations, and the amounts that plugins have paid, are on the bill as well; BYOK attempts are on
    // another.
    if (extraNanoUsd > 0) usages.push(costAlone(extraNanoUsd));
    usages.push(...this.journal.usages());
    return sumUsage(usages);
  }

  /** Returns the route of the call; undefined: the caller did not ask for it. */
  metadata(): ServiceMetadata | undefined {
    if (!this.call.wantsMetadata) return undefined;
    const { request } = this.call.ask;
    const route = describeRoute(this.#routes(), this.journal.stages, this.deps.region);
    const strategy = strategyOf(this.hooks);
    // No single route tells the strategy of a plugin that has chosen the models.
    const described: ServiceMetadata =
      strategy === null ? route : { ...route, requested: request.model ?? route.requested, strategy };
    const idle = this.#idle();
    return idle.length === 0 ? described : { ...described, dropped: [...(described.dropped ?? []), ...idle] };
  }

  /** The fields of the request that had no effect so far: the provider did not get them, or nobody has read them. */
  get dropped(): readonly string[] {
    const dropped = droppedBy(this.#generations.at(-1)?.attempts ?? none);
    const idle = this.#idle();
    return idle.length === 0 ? dropped : [...dropped, ...idle];
  }

  #idle(): readonly string[] {
    const { request } = this.call.ask;
    if (request.plugins === undefined && this.watch.words.droppedTrace.length === 0) return none;
    return [...idlePlugins(this.deps.plugins, request, this.journal.stages), ...idleTrace(this.watch.words)];
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
    this.expenses.settleAll();
    this.hold.settle();
    this.#admission?.end(tokensUsed(this.#generations));
    if (this.deps.record) this.watch.ended(this.#record(end));
  }

  #record(end: CallEnd): RequestRecord {
    const { call, hold, journal, watch } = this;
    const facts = {
      call,
      hold,
      generations: this.#generations,
      stages: journal.stages,
      work: watch.work,
      expenses: this.expenses.settled,
      words: watch.words,
      hooks: this.#hooks,
      switches: watch.switches,
      usage: () => this.usage(),
    };
    return recordOf(facts, end);
  }
}

const none: readonly never[] = [];

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

/** Makes a switch that is aborted together with a signal. */
function linkedSwitch(signal: StopSignal): StopSwitch {
  const own = new StopSwitch();
  if (signal.aborted) own.abort(signal.reason);
  else signal.addEventListener('abort', () => own.abort(signal.reason), { once: true });
  return own;
}
