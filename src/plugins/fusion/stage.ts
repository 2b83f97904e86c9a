import { type GatewayError, isGatewayError } from '../../base/errors.ts';
import { nanoToUsd } from '../../base/money.ts';
import { fusionMarkOf } from '../../call/fusion-mark.ts';
import type { GenerationLog } from '../../call/generation.ts';
import type { ChatRequest } from '../../schema/chat.ts';
import type { PipelineStage } from '../../schema/envelope.ts';
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
 * What the metadata and the record say of a fusion. Written only where somebody reads it, so that the stage knows the
 * cost of the response that is still being streamed when the stage is added. No text of a model is in it: records have
 * none.
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

  /** A generation begins. @returns what is told that it failed */
  asks(purpose: Purpose, model: string, request: ChatRequest): (error: unknown) => void {
    const asked: Asked = { purpose, model, request, failure: null };
    this.#asked.push(asked);
    return (error) => {
      // What was stopped from outside did not fail: its log says so.
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

  /** As it is at the moment when it is read. */
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
    return `${this.#answers} of ${count} analysis model${count === 1 ? '' : 's'} answered; ${model} compares and writes`;
  }

  #data(): Record<string, unknown> {
    const { analysisModels, model, unavailable, preset } = this.#cast;
    const given = this.#request as Record<string, unknown>;
    // `service/fusion` is no model that is left out: it asks for the plugin.
    const asksForIt = this.#request.model?.endsWith('/fusion') === true;
    const dropped = ['model', 'models', 'route'].filter((name) => given[name] && !(name === 'model' && asksForIt));
    const failed = this.#asked.filter(({ purpose, failure }) => purpose === 'analysis' && failure !== null);
    return {
      ...(preset === null ? {} : { preset }),
      model,
      analysis_models: [...analysisModels],
      ...(unavailable.length > 0 ? { unavailable_models: [...unavailable] } : {}),
      ...(failed.length > 0 ? { failed_models: failed.map((one) => ({ model: one.model, ...one.failure })) } : {}),
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
      cost_usd: usdOf(logs),
    };
  }

  /** Another plugin may stand between, and make another request of one, or several. */
  #logsOf(request: ChatRequest): readonly GenerationLog[] {
    const mark = fusionMarkOf(request);
    return this.#generations.filter((log) => fusionMarkOf(log.request) === mark);
  }
}

/** null: what one of them cost is not known. */
function usdOf(logs: readonly GenerationLog[]): number | null {
  let nanoUsd = 0;
  for (const { receipt } of logs) {
    if (receipt?.costNanoUsd === null) return null;
    nanoUsd += receipt?.costNanoUsd ?? 0;
  }
  return nanoToUsd(nanoUsd);
}

/** Type and status alone: a message may hold words of a provider. */
export function failureOf({ errorType, status }: GatewayError): { error: string; status_code: number } {
  return { error: errorType, status_code: status };
}

function countsOf(judgement: Judgement): Record<string, unknown> {
  if (judgement.form === 'prose') return { form: 'prose' };
  const counts = Object.entries(judgement.comparison).map(([name, list]) => [name, list.length]);
  return { form: 'json', ...Object.fromEntries(counts) };
}
