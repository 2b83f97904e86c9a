import { isGatewayError } from '../../base/errors.ts';
import type { ModelResponse } from '../../call/generation.ts';
import type { Generate, PluginContext } from '../../call/hooks.ts';
import type { ChatMessage, ChatRequest } from '../../schema/chat.ts';
import type { PipelineStage } from '../../schema/envelope.ts';
import { judge } from './judge.ts';

/** What a response is to be. */
export interface Asked {
  mode: 'json_schema' | 'json_object';
  schema: object | null;
}

export interface ReaskLimits {
  maxChars: number;
  maxRepairChars: number;
}

/**
 * Generates, and where the response cannot be made what was asked for, generates once more: the model gets its response
 * and is told what is wrong with it. The second response counts where it is better.
 */
export async function generateTwice(
  generate: Generate,
  request: ChatRequest,
  asked: Asked,
  limits: ReaskLimits,
  { addStage, signal }: Pick<PluginContext, 'addStage' | 'signal'>,
): Promise<ModelResponse> {
  const first = await generate({ ...request, stream: false });
  const text = answerOf(first, limits);
  const wrong = text === null ? null : judge(text, asked.schema, limits.maxRepairChars);
  if (text === null || wrong === null) return first;
  let second: ModelResponse;
  try {
    second = await generate({ ...again(request, text, wrong), stream: false });
  } catch (error) {
    signal.throwIfAborted();
    if (!isGatewayError(error)) throw error;
    addStage(stageOf(asked, 're-asked: no second response', wrong, false));
    return first;
  }
  const better = answerOf(second, limits);
  const isMet = better !== null && judge(better, asked.schema, limits.maxRepairChars) === null;
  addStage(stageOf(asked, `re-asked: the ${isMet ? 'second response fits' : 'first response stays'}`, wrong, isMet));
  return isMet ? second : first;
}

/** The text of a response that has ended by itself; null: it is none that can be asked for again. */
function answerOf(response: ModelResponse, { maxChars }: ReaskLimits): string | null {
  if (response.kind === 'stream') return null;
  const [choice, ...others] = response.result.choices;
  const content = choice?.message.content;
  if (choice?.finish_reason !== 'stop' || others.length > 0 || typeof content !== 'string') return null;
  return content.trim() === '' || content.length > maxChars ? null : content;
}

function again(request: ChatRequest, text: string, wrong: readonly string[]): ChatRequest {
  const said: ChatMessage = { role: 'assistant', content: text };
  const told: ChatMessage = {
    role: 'user',
    content: `Your response is not the JSON that was asked for:\n${wrong.map((one) => `- ${one}`).join('\n')}\nWrite it again, corrected. Write the JSON alone.`,
  };
  return {
    ...request,
    messages: [...request.messages, said, told],
    // The tools have had their turn.
    ...(request.tools && request.tools.length > 0 ? { tool_choice: 'none' as const } : {}),
  };
}

function stageOf({ mode }: Asked, summary: string, wrong: readonly string[], fits: boolean): PipelineStage {
  return {
    type: 'response_healing',
    name: 'response-healing',
    summary,
    data: { mode, reasked: true, wrong: [...wrong], fits_schema: fits },
  };
}
