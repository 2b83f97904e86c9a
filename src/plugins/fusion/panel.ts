import pLimit from 'p-limit';
import { GatewayError, isGatewayError } from '../../base/errors.ts';
import type { StopSignal } from '../../base/stop.ts';
import type { Generate } from '../../call/hooks.ts';
import type { ChatRequest } from '../../schema/chat.ts';
import { answerOf } from './answer.ts';
import type { PanelAnswer } from './prompts.ts';
import { panelRequest } from './requests.ts';
import type { FusionSettings } from './settings.ts';
import { type FusionStage, failureOf } from './stage.ts';

interface PanelInput {
  generate: Generate;
  request: ChatRequest;
  models: readonly string[];
  settings: Pick<FusionSettings, 'concurrency' | 'minAnswers'>;
  /** Of the call. */
  signal: StopSignal;
  stage: FusionStage;
}

/**
 * Asks the analysis models in parallel.
 * @returns the answers, in the order of the models; at least `minAnswers`
 * @throws GatewayError as soon as too many have failed: the gateway stops the others when the call ends. The kind of
 *         all failures where they have one, else upstream_failed (502); the reason of the signal after an abort
 */
export async function askPanel({ generate, request, models, settings, signal, stage }: PanelInput) {
  const needed = Math.min(settings.minAnswers, models.length);
  const limit = pLimit(settings.concurrency);
  const failures: { model: string; error: GatewayError }[] = [];
  let isOver = false;

  const ask = async (model: string): Promise<PanelAnswer | null> => {
    // It waited for its turn, and meanwhile nobody wants it any more.
    if (isOver) return null;
    signal.throwIfAborted();
    const own = panelRequest(request, model);
    const failed = stage.asks('analysis', model, own);
    try {
      const text = await answerOf(await generate(own));
      stage.answered();
      return { model, text };
    } catch (error) {
      failed(error);
      if (!mayFail(error, signal)) throw error;
      failures.push({ model, error });
      if (models.length - failures.length < needed) throw panelFailed(failures, models.length, needed);
      return null;
    }
  };

  try {
    const answers = await Promise.all(models.map((model) => limit(ask, model)));
    return answers.filter((answer) => answer !== null);
  } finally {
    isOver = true;
  }
}

/** Whether the others can go on: not where the call is stopped, nor where the fault is in the gateway. */
export function mayFail(error: unknown, signal: StopSignal): error is GatewayError {
  return !signal.aborted && isGatewayError(error) && error.kind !== 'internal';
}

function panelFailed(failures: readonly { model: string; error: GatewayError }[], count: number, needed: number) {
  const { error: first } = failures[0] as (typeof failures)[number];
  const isOfOneKind = failures.every(({ error }) => error.kind === first.kind && error.errorType === first.errorType);
  const waits = failures.map(({ error }) => error.retryAfterMs).filter((ms) => ms !== undefined);
  const why = count === 1 || isOfOneKind ? `: ${first.message}` : '';
  return new GatewayError(
    isOfOneKind ? first.kind : 'upstream_failed',
    `${failures.length} of ${count} analysis models failed, and ${needed} must answer${why}`,
    {
      ...(isOfOneKind ? { errorType: first.errorType } : {}),
      ...(isOfOneKind && waits.length > 0 ? { retryAfterMs: Math.min(...waits) } : {}),
      metadata: {
        ...(isOfOneKind ? first.metadata : {}),
        failed_models: failures.map(({ model, error }) => ({ model, ...failureOf(error) })),
      },
      cause: first,
    },
  );
}
