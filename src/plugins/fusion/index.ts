import type { StopSignal } from '../../base/async/stop.ts';
import type { Generate } from '../../call/hooks.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import { builtInPlugin, type Plugin } from '../plugin.ts';
import { answerOf } from './answer.ts';
import { castOf, type FusionRequest } from './cast.ts';
import { type Judgement, readJudgement } from './comparison.ts';
import { askPanel, isRefusal, mayFail } from './panel.ts';
import { answersJson, finalPrompt, judgementJson, judgePrompt } from './prompts.ts';
import { finalRequest, judgeRequest, panelRequest } from './requests.ts';
import { type FusionOptions, fusionSettings } from './settings.ts';
import { FusionStage } from './stage.ts';
import { noTools, toolsStage } from './tools.ts';

/**
 * Asks several models, lets one compare their answers, and has it write the response.
 * @throws TypeError naming an option that is wrong
 * @see docs/plugins/fusion.md
 */
export function fusion(options: FusionOptions = {}): Plugin {
  const settings = fusionSettings(options);
  const { answerBytes, judgeMaxTokens } = settings;
  return builtInPlugin<FusionRequest>({
    id: 'fusion',
    strategy: 'fusion',
    actsOn: ({ model }, { brand }) => model === 'service/fusion' || model === `${brand}/fusion`,
    async wrap(generate, request, context) {
      const { signal, caller } = context.call;
      const { workspaceId } = caller;
      const cast = await castOf(settings, request, context);
      const stage = new FusionStage(request, cast, context.generations);
      context.addStage(stage.shown);
      const panel = await askPanel({ generate, request, cast, settings, signal, workspaceId, stage });
      const { json: answers, cut } = answersJson(panel, answerBytes);
      stage.bounded(cut);
      const judge = { request, model: cast.model, prompt: judgePrompt(answers), maxTokens: judgeMaxTokens };
      const judgement = await askJudge(generate, judge, signal, stage);
      stage.judged(judgement);
      const compared = judgement === null ? null : judgementJson(judgement, answerBytes);
      const final = finalRequest(request, cast.model, finalPrompt(answers, compared));
      const failed = stage.asks('final', cast.model, final);
      try {
        return await generate(final);
      } catch (error) {
        failed(error);
        throw error;
      }
    },
    async foresee(request, context) {
      const { analysisModels, tools, toolsOf, model } = await castOf(settings, request, context);
      if (tools.tools.length > 0) context.addStage(toolsStage(tools, analysisModels.length, context));
      // Every answer here is so long that it is cut: no real answer takes more room.
      const longest = 'x'.repeat(answerBytes + 1);
      const compared = judgementJson({ form: 'prose', text: longest }, answerBytes);
      const { json } = answersJson(
        analysisModels.map((one) => ({ model: one, text: longest })),
        answerBytes,
      );
      return [
        ...analysisModels.map((one, at) => ({
          purpose: 'analysis',
          request: panelRequest(request, one, toolsOf[at] ?? noTools),
        })),
        { purpose: 'judge', request: judgeRequest(request, model, judgePrompt(json), judgeMaxTokens, true) },
        { purpose: 'final', request: finalRequest(request, model, finalPrompt(json, compared)) },
      ];
    },
  });
}

interface JudgeInput {
  request: ChatRequest;
  model: string;
  prompt: string;
  maxTokens: number;
}

/**
 * Asks for the comparison, as JSON of a schema where the model takes one.
 * @returns null: there is none. The response can be written from the answers alone, which are paid for already
 * @throws the reason of the signal after an abort; an error that is the gateway's own fault
 */
async function askJudge(
  generate: Generate,
  { request, model, prompt, maxTokens }: JudgeInput,
  signal: StopSignal,
  stage: FusionStage,
): Promise<Judgement | null> {
  for (const isForm of [true, false]) {
    signal.throwIfAborted();
    const own = judgeRequest(request, model, prompt, maxTokens, isForm);
    const failed = stage.asks('judge', model, own);
    try {
      return readJudgement(await answerOf(await generate(own)));
    } catch (error) {
      failed(error);
      if (!mayFail(error, signal)) throw error;
      // The provider refused the request as it was: perhaps it does not take the form.
      if (!isRefusal(error)) return null;
    }
  }
  return null;
}
