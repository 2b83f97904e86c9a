import { isGatewayError } from '../../base/errors.ts';
import { cleanName } from '../../base/text/clean-text.ts';
import type { ModelResponse } from '../../call/generation.ts';
import type { Generate, PluginContext } from '../../call/hooks.ts';
import type { ChatMessage, ChatRequest } from '../../schema/chat/chat.ts';
import type { PipelineStage } from '../../schema/chat/envelope.ts';
import { heal, readJson } from './heal.ts';
import { Uncheckable, type Wrong, wrongIn } from './schema-check.ts';
import { OutOfSteps, type Steps } from './steps.ts';

/** The most faults that are named: a model that is told more would not do more. */
const mostNamed = 10;

/** The faults of a text. */
interface Verdict {
  /** The faults in words, for the model that wrote the text. */
  told: string[];
  /** The kinds of faults: keywords of the schema, or `not_json`. They hold nothing that the model wrote. */
  kinds: string[];
}

/** The form that was asked for. */
export interface Asked {
  mode: 'json_schema' | 'json_object';
  schema: object | null;
}

export interface ReaskLimits {
  maxChars: number;
  maxSteps: number;
}

/**
 * Generates, and where the response cannot be healed, generates once more: the model gets its response and its faults.
 * The second response counts where it is better.
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
  const wrong = text === null ? null : await judge(text, asked.schema, limits.maxSteps);
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
  const isMet = better !== null && (await judge(better, asked.schema, limits.maxSteps)) === null;
  addStage(stageOf(asked, `re-asked: the ${isMet ? 'second response fits' : 'first response stays'}`, wrong, isMet));
  return isMet ? second : first;
}

/** Returns the text of a response that has ended by itself; null: it cannot be asked for again. */
function answerOf(response: ModelResponse, { maxChars }: ReaskLimits): string | null {
  if (response.kind === 'stream') return null;
  const [choice, ...others] = response.result.choices;
  const content = choice?.message.content;
  if (choice?.finish_reason !== 'stop' || others.length > 0 || typeof content !== 'string') return null;
  return content.trim() === '' || content.length > maxChars ? null : content;
}

function again(request: ChatRequest, text: string, { told: wrong }: Verdict): ChatRequest {
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

function stageOf({ mode }: Asked, summary: string, { kinds }: Verdict, fits: boolean): PipelineStage {
  return {
    type: 'response_healing',
    name: 'response-healing',
    summary,
    data: { mode, reasked: true, wrong: kinds, fits_schema: fits },
  };
}

/**
 * Returns the faults of a text, also after it was healed.
 * @returns null: there are none, or it would take more steps than it may to tell
 */
async function judge(text: string, schema: object | null, maxSteps: number): Promise<Verdict | null> {
  const steps: Steps = { left: maxSteps };
  const healed = await heal(text, schema, steps);
  const isMet = healed === null || (healed.kind === 'healed' && healed.fitsSchema !== false);
  if (isMet || (healed.kind === 'left' && healed.reason === 'steps')) return null;
  try {
    const value = readJson(healed.kind === 'healed' ? healed.text : text, steps);
    if (value === undefined) return { told: ['it is not JSON'], kinds: ['not_json'] };
    const wrong = schema === null ? [] : wrongIn(value, schema, steps).slice(0, mostNamed);
    return wrong.length === 0 ? null : verdictOf(wrong);
  } catch (error) {
    if (error instanceof OutOfSteps || error instanceof Uncheckable) return null;
    throw error;
  }
}

function verdictOf(wrong: readonly Wrong[]): Verdict {
  return {
    told: wrong.map(({ path, what }) => cleanName(`${path}: ${what}`, 160)),
    kinds: [...new Set(wrong.map(({ keyword }) => keyword))],
  };
}
