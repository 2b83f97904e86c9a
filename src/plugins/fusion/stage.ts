import { type GatewayError, isGatewayError } from '../../base/errors.ts';
import { nanoToUsd } from '../../base/money.ts';
import type { Revision } from '../../call/ask.ts';
import type { GenerationLog, ServerToolUse } from '../../call/generation.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import type { PipelineStage } from '../../schema/chat/envelope.ts';
import type { Cast } from './cast.ts';
import type { Judgement } from './comparison.ts';

export type Purpose = 'analysis' | 'judge' | 'final';

/** A generation that the plugin has asked for, or is about to. */
interface Asked {
  purpose: Purpose;
  model: string;
  request: ChatRequest;
  failure: { error: string; status_code: number } | null;
}

/**
 * The stage of a fusion in the metadata and the record. It is written only where somebody reads it, so that it knows
 * the cost of the response that is still being streamed when the stage is added. It holds no text of a model: records
 * have none.
 */
export class FusionStage {
  readonly #request: ChatRequest;
  readonly #cast: Cast;
  readonly #generations: readonly GenerationLog[];
  readonly #asked: Asked[] = [];
  #answers = 0;
  #cutAnswers: readonly string[] = [];
  #judgement: Judgement | null = null;

  constructor(request: ChatRequest, cast: Cast, generations: readonly GenerationLog[]) {
    this.#request = request;
    this.#cast = cast;
    this.#generations = generations;
  }

  /** Notes that a generation begins. @returns a function that is told of its failure */
  asks(purpose: Purpose, model: string, { request }: Revision): (error: unknown) => void {
    const asked: Asked = { purpose, model, request, failure: null };
    this.#asked.push(asked);
    return (error) => {
      // A generation that was stopped from outside did not fail: its log says so.
      if (isGatewayError(error)) asked.failure = failureOf(error);
    };
  }

  answered(): void {
    this.#answers++;
  }

  /** @param cut  models whose answers were too long */
  bounded(cut: readonly string[]): void {
    this.#cutAnswers = cut;
  }

  judged(judgement: Judgement | null): void {
    this.#judgement = judgement;
  }

  /** The stage as it is at the moment when it is read. */
  get shown(): PipelineStage {
    const stage = this;
    return {
      type: 'plugin',
      name: 'fusion',
      get summary() {
        return stage.#summary();
      },
      get data() {
        return stage.#data();
      },
      get cost_usd() {
        return usdOf(stage.#asked.flatMap(({ request }) => stage.#logsOf(request)));
      },
    };
  }

  #summary(): string {
    const { analysisModels, model } = this.#cast;
    const count = analysisModels.length;
    const calls = this.#uses().length;
    const called = calls === 0 ? '' : ` after ${calls} call${calls === 1 ? '' : 's'} of tools`;
    return `${this.#answers} of ${count} analysis model${count === 1 ? '' : 's'} answered${called}; ${model} compares and writes`;
  }

  #data(): Record<string, unknown> {
    const { analysisModels, tools, toolsOf, model, unavailable, preset } = this.#cast;
    const given = this.#request as Record<string, unknown>;
    // `service/fusion` is no model that is left out: it asks for the plugin.
    const asksForIt = this.#request.model?.endsWith('/fusion') === true;
    const dropped = ['model', 'models', 'route'].filter((name) => given[name] && !(name === 'model' && asksForIt));
    const failed = this.#asked.filter(({ purpose, failure }) => purpose === 'analysis' && failure !== null);
    const withoutTools = analysisModels.filter((_, at) => toolsOf[at] !== tools);
    // The number of the pages alone is shown: no guardrail has seen their texts, and their addresses may tell of them.
    const sources = new Set(this.#uses().flatMap((use) => use.sources)).size;
    return {
      ...(preset === null ? {} : { preset }),
      model,
      analysis_models: [...analysisModels],
      ...(unavailable.length > 0 ? { unavailable_models: [...unavailable] } : {}),
      ...(failed.length > 0 ? { failed_models: failed.map((one) => ({ model: one.model, ...one.failure })) } : {}),
      ...(tools.tools.length > 0 ? { tools: tools.tools.map(({ type }) => type), max_tool_calls: tools.maxCalls } : {}),
      ...(tools.unavailable.length > 0 ? { unavailable_tools: [...tools.unavailable] } : {}),
      ...(withoutTools.length > 0 ? { models_without_tools: withoutTools } : {}),
      ...(sources > 0 ? { sources } : {}),
      ...(this.#cutAnswers.length > 0 ? { cut_answers: [...this.#cutAnswers] } : {}),
      ...(this.#judgement === null ? {} : { comparison: countsOf(this.#judgement) }),
      ...(dropped.length > 0 ? { dropped } : {}),
      generations: this.#asked.map((asked) => this.#generation(asked)),
    };
  }

  #generation({ purpose, model, request, failure }: Asked): Record<string, unknown> {
    const logs = this.#logsOf(request);
    const last = logs.at(-1);
    const usages = logs.map((log) => (log.target ? log.receipt?.usage : undefined));
    return {
      purpose,
      model: last?.target?.endpoint.modelSlug ?? model,
      ...(last?.target ? { provider: last.target.providerName } : {}),
      outcome: failure === null ? (last?.outcome ?? 'pending') : 'failed',
      ...(failure ?? {}),
      prompt_tokens: usages.reduce((sum, usage) => sum + (usage?.prompt_tokens ?? 0), 0),
      completion_tokens: usages.reduce((sum, usage) => sum + (usage?.completion_tokens ?? 0), 0),
      ...toolCallsOf(logs),
      cost_usd: usdOf(logs),
    };
  }

  /** Returns the tools that analysis models have called. */
  #uses(): readonly ServerToolUse[] {
    const analyses = this.#asked.filter(({ purpose }) => purpose === 'analysis');
    return analyses.flatMap(({ request }) => this.#logsOf(request)).flatMap(({ serverTools }) => serverTools);
  }

  /** Returns the logs of a request. Another plugin may stand between, and make another request of one, or several. */
  #logsOf(request: ChatRequest): readonly GenerationLog[] {
    return this.#generations.filter(({ askedFor }) => askedFor.includes(request));
  }
}

/** Returns the number of runs of each tool. */
function toolCallsOf(logs: readonly GenerationLog[]): { tool_calls?: Record<string, number> } {
  const calls: Record<string, number> = {};
  for (const { name } of logs.flatMap(({ serverTools }) => serverTools)) calls[name] = (calls[name] ?? 0) + 1;
  return Object.keys(calls).length === 0 ? {} : { tool_calls: calls };
}

/** Returns the cost in USD; null: the cost of one of them is not known. */
function usdOf(logs: readonly GenerationLog[]): number | null {
  let nanoUsd = 0;
  for (const { receipt, serverTools } of logs) {
    if (receipt?.costNanoUsd === null) return null;
    nanoUsd += receipt?.costNanoUsd ?? 0;
    for (const use of serverTools) nanoUsd += use.nanoUsd;
  }
  return nanoToUsd(nanoUsd);
}

/** Returns type and status alone: a message may hold words of a provider. */
export function failureOf({ errorType, status }: GatewayError): { error: string; status_code: number } {
  return { error: errorType, status_code: status };
}

function countsOf(judgement: Judgement): Record<string, unknown> {
  if (judgement.form === 'prose') return { form: 'prose' };
  const counts = Object.entries(judgement.comparison).map(([name, list]) => [name, list.length]);
  return { form: 'json', ...Object.fromEntries(counts) };
}
