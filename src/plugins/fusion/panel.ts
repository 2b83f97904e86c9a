import pLimit from 'p-limit';
import type { StopSignal } from '../../base/async/stop.ts';
import { turn } from '../../base/async/turns.ts';
import { GatewayError, isGatewayError } from '../../base/errors.ts';
import type { Generate } from '../../call/hooks.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import { answerOf } from './answer.ts';
import type { Cast } from './cast.ts';
import type { PanelAnswer } from './prompts.ts';
import { panelRequest } from './requests.ts';
import type { FusionSettings, PanelTools } from './settings.ts';
import { type FusionStage, failureOf } from './stage.ts';
import { noTools } from './tools.ts';

interface PanelInput {
  generate: Generate;
  request: ChatRequest;
  cast: Pick<Cast, 'analysisModels' | 'toolsOf'>;
  settings: Pick<FusionSettings, 'concurrency' | 'minAnswers'>;
  /** The signal of the call. */
  signal: StopSignal;
  /** The workspace whose turns of the event loop are taken. */
  workspaceId: string;
  stage: FusionStage;
}

/**
 * Asks the analysis models in parallel.
 * @returns the answers, in the order of the models; at least `minAnswers`
 * @throws GatewayError as soon as too many have failed: the gateway stops the others when the call ends. The kind of
 *         all failures where they have one, else upstream_failed (502); the reason of the signal after an abort
 */
export async function askPanel({ generate, request, cast, settings, signal, workspaceId, stage }: PanelInput) {
  const { analysisModels: models, toolsOf } = cast;
  const needed = Math.min(settings.minAnswers, models.length);
  const limit = pLimit(settings.concurrency);
  const failures: { model: string; error: GatewayError }[] = [];
  let isOver = false;

  const ask = async (model: string, tools: PanelTools): Promise<PanelAnswer | null> => {
    // A long conversation is planned and encoded for each model: others are served in between.
    await turn(workspaceId);
    // The result may not be wanted any more.
    if (isOver) return null;
    signal.throwIfAborted();
    const own = panelRequest(request, model, tools);
    const failed = stage.asks('analysis', model, own);
    try {
      const text = await answerOf(await generate(own));
      stage.answered();
      return { model, text };
    } catch (error) {
      // The provider refused the request as it was: perhaps it does not take tools that nobody has named.
      if (mayFail(error, signal) && isRefusal(error) && tools.tools.length > 0 && !tools.isNamed)
        return ask(model, noTools);
      failed(error);
      if (!mayFail(error, signal)) throw error;
      failures.push({ model, error });
      if (models.length - failures.length < needed) throw panelFailed(failures, models.length, needed);
      return null;
    }
  };

  try {
    const answers = await Promise.all(models.map((model, at) => limit(ask, model, toolsOf[at] ?? noTools)));
    return answers.filter((answer) => answer !== null);
  } finally {
    isOver = true;
  }
}

/** true: a provider has refused a request as it was. */
export function isRefusal({ status }: GatewayError): boolean {
  return [400, 404, 422].includes(status);
}

/** true: the others can go on. They cannot where the call is stopped, or where the fault is in the gateway. */
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
