import { UpstreamError } from '../../base/upstream-error.ts';
import { isObject, type Loose } from '../../base/values.ts';
import type { ChatChoice } from '../../schema/chat.ts';
import type { DecodedResult, Reading } from '../dialect.ts';
import { argumentsText, badResponse, type ToolCallIds, toolCallIds } from '../shared/values.ts';
import { annotationsOf } from './citations.ts';
import { errorIn } from './errors.ts';
import { finishReasonOf } from './finish-reason.ts';
import { readLogprobs } from './logprobs.ts';
import type { CohereQuirks } from './quirks.ts';
import { thoughtDetail } from './reasoning.ts';
import { readUsage } from './usage.ts';

/**
 * Reads a complete response.
 * @see https://docs.cohere.com/reference/chat
 */
export function decodeResult(body: unknown, quirks: CohereQuirks = {}, reading: Reading = {}): DecodedResult {
  if (!isObject(body)) throw badResponse('The provider responded with something that is no chat response.');
  const usage = readUsage(body.usage, quirks);
  try {
    return {
      result: {
        id: '',
        object: 'chat.completion',
        created: 0,
        model: '',
        choices: [decodeChoice(body, reading)],
        system_fingerprint: null,
      },
      usage,
    };
  } catch (error) {
    // A response that is of no use may have been paid for.
    throw usage && error instanceof UpstreamError ? error.with({ usage }) : error;
  }
}

function decodeChoice(body: Loose, { outputTool }: Reading): ChatChoice {
  const { message, finish_reason: native } = body;
  const error = errorIn(body);
  if (error) throw error;
  if (!isObject(message)) throw badResponse('The provider responded without a message.');
  // Without a reason why it ended, a response may have been broken off.
  if (typeof native !== 'string' || native === '')
    throw badResponse('The provider sent a response without a finish_reason.');
  const calls = callsOf(message);
  const output = outputTool === undefined ? undefined : calls.find((call) => call.name === outputTool);
  const own = calls.filter((call) => call !== output);
  const finishReason = finishReasonOf(native, own.length > 0);
  if (finishReason === 'error') throw badResponse(`The provider broke off its response (${native}).`, native);
  return {
    index: 0,
    message: decodeMessage(message, own, output?.arguments ?? null),
    finish_reason: finishReason,
    native_finish_reason: native,
    logprobs: readLogprobs(body.logprobs),
  } as ChatChoice;
}

/** @param output  what the model wrote as the arguments of the tool that stands for structured output */
function decodeMessage(raw: Loose, calls: readonly Call[], output: string | null): Loose {
  const { text, thoughts, offsets } = readContent(raw.content);
  const details: Loose[] = thoughts.map((thought, at) => thoughtDetail('thinking', thought, at));
  const plan = typeof raw.tool_plan === 'string' && raw.tool_plan !== '' ? raw.tool_plan : null;
  if (plan !== null) details.push(thoughtDetail('plan', plan, details.length));
  const beside = output !== null && text !== null ? [text] : [];
  const reasoning = [...thoughts, ...(plan === null ? [] : [plan]), ...beside].join('');
  const message: Loose = { role: 'assistant', content: output ?? text, refusal: null };
  if (reasoning !== '') message.reasoning = reasoning;
  if (details.length > 0) message.reasoning_details = details;
  if (calls.length > 0)
    message.tool_calls = calls.map(({ id, name, arguments: text }) => ({
      id,
      type: 'function',
      function: { name, arguments: text },
    }));
  const annotations = Array.isArray(raw.citations)
    ? raw.citations.flatMap((citation) => annotationsOf(citation, offsetOf(citation, offsets)))
    : [];
  if (annotations.length > 0) message.annotations = annotations;
  return message;
}

interface Content {
  /** null: there is no text. */
  text: string | null;
  thoughts: string[];
  /** How much text stands before each block. */
  offsets: number[];
}

function readContent(raw: unknown): Content {
  if (typeof raw === 'string') return { text: raw, thoughts: [], offsets: [0] };
  let text: string | null = null;
  const thoughts: string[] = [];
  const offsets: number[] = [];
  for (const block of Array.isArray(raw) ? raw : []) {
    offsets.push(text?.length ?? 0);
    if (!isObject(block)) continue;
    if (typeof block.thinking === 'string') thoughts.push(block.thinking);
    else if (typeof block.text === 'string') text = (text ?? '') + block.text;
  }
  return { text, thoughts, offsets };
}

/** Citations name their block only where there are several. */
function offsetOf(citation: unknown, offsets: readonly number[]): number {
  const index = isObject(citation) ? citation.content_index : undefined;
  return typeof index === 'number' ? (offsets[index] ?? 0) : 0;
}

interface Call {
  id: string;
  name: string;
  arguments: string;
}

function callsOf({ tool_calls: calls }: Loose): Call[] {
  if (!Array.isArray(calls)) return [];
  const ids = toolCallIds();
  // Knows every id that the provider gave, so that none is given twice.
  const given = calls.map((call) => (isObject(call) ? ids.take(call.id) : null));
  return calls.map((call, position) => decodeCall(call, given[position] ?? null, ids, position));
}

function decodeCall(raw: unknown, id: string | null, ids: ToolCallIds, position: number): Call {
  const called = isObject(raw) && isObject(raw.function) ? raw.function : {};
  if (typeof called.name !== 'string')
    throw badResponse('The provider responded with a tool call that names no function.');
  return { id: id ?? ids.make(position), name: called.name, arguments: completeArguments(called.arguments) };
}

/** For a tool without parameters, Cohere writes `null`, or nothing; clients expect an object. */
export function completeArguments(value: unknown): string {
  const text = argumentsText(value);
  return text.trim() === '' || text.trim() === 'null' ? '{}' : text;
}
