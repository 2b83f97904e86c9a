import { UpstreamError } from '../../base/upstream-error.ts';
import { isObject, type Loose } from '../../base/values.ts';
import type { ChatResult, FinishReason } from '../../schema/chat.ts';
import type { DecodedResult, Reading } from '../dialect.ts';
import { badResponse, type ToolCallIds, toolCallIds } from '../shared/values.ts';
import { annotationOf } from './citations.ts';
import { errorOfException, exceptionIn } from './errors.ts';
import { normaliseFinishReason } from './finish-reason.ts';
import { imageOf } from './images.ts';
import type { ConverseQuirks } from './quirks.ts';
import { formatOf, secretDetail, textDetail } from './reasoning-details.ts';
import { readUsage } from './usage.ts';

/** Reads a complete response. A success status proves nothing: the body may be an error, or no message at all. */
export function decodeResult(body: unknown, _quirks: ConverseQuirks, reading: Reading = {}): DecodedResult {
  if (!isObject(body)) throw badResponse('The provider responded with something that is no message.');
  const usage = readUsage(body.usage);
  try {
    return { result: decodeBody(body, reading), usage };
  } catch (error) {
    // A response that is of no use may have been paid for.
    throw usage && error instanceof UpstreamError ? error.with({ usage }) : error;
  }
}

function decodeBody(body: Loose, reading: Reading): ChatResult {
  const exception = exceptionIn(body);
  if (exception !== null) throw errorOfException(exception, body);
  const message = isObject(body.output) ? body.output.message : null;
  if (!isObject(message)) throw badResponse('The provider responded without a message.');
  const native = body.stopReason;
  if (typeof native !== 'string' || native === '')
    throw badResponse('The provider sent a response without a stopReason.');
  const said = readBlocks(Array.isArray(message.content) ? message.content : [], reading);
  const finishReason: FinishReason = normaliseFinishReason(native, said.toolCalls.length > 0);
  if (finishReason === 'error') throw badResponse(`The provider broke off its response (${native}).`, native);
  const tier = isObject(body.serviceTier) ? body.serviceTier.type : null;
  return {
    id: '',
    object: 'chat.completion',
    created: 0,
    model: '',
    choices: [
      {
        index: 0,
        message: messageOf(said),
        finish_reason: finishReason,
        native_finish_reason: native,
        logprobs: null,
      },
    ],
    system_fingerprint: null,
    ...(typeof tier === 'string' ? { service_tier: tier } : {}),
  } as ChatResult;
}

/** What the blocks of a message say. */
interface Said {
  text: string | null;
  reasoning: string | null;
  details: Loose[];
  toolCalls: Loose[];
  annotations: Loose[];
  images: Loose[];
  /** The arguments of the tool by which structured output was asked for. */
  output: string | null;
}

function messageOf({ text, reasoning, details, toolCalls, annotations, images, output }: Said) {
  return {
    role: 'assistant',
    // Beside its output, a model may tell what it does: that is no part of the output.
    content: output ?? text,
    refusal: null,
    ...(reasoning === null ? {} : { reasoning }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
    ...(annotations.length === 0 ? {} : { annotations }),
    ...(images.length === 0 ? {} : { images }),
  };
}

function readBlocks(blocks: readonly unknown[], reading: Reading): Said {
  const said: Said = {
    text: null,
    reasoning: null,
    details: [],
    toolCalls: [],
    annotations: [],
    images: [],
    output: null,
  };
  const ids = toolCallIds();
  for (const block of blocks) if (isObject(block) && isObject(block.toolUse)) ids.take(block.toolUse.toolUseId);
  for (const block of blocks) if (isObject(block)) readBlock(block, said, ids, reading);
  return said;
}

function readBlock(block: Loose, said: Said, ids: ToolCallIds, reading: Reading): void {
  if (typeof block.text === 'string') said.text = (said.text ?? '') + block.text;
  if (isObject(block.citationsContent)) readCitations(block.citationsContent, said);
  if (isObject(block.reasoningContent)) readReasoning(block.reasoningContent, said, reading);
  if (isObject(block.toolUse)) readToolUse(block.toolUse, said, ids, reading);
  const image = isObject(block.image) ? imageOf(block.image.format, block.image.source) : null;
  if (image !== null) said.images.push(image);
}

function readCitations({ content, citations }: Loose, said: Said): void {
  const start = said.text?.length ?? 0;
  let text = said.text ?? '';
  for (const part of Array.isArray(content) ? content : [])
    if (isObject(part) && typeof part.text === 'string') text += part.text;
  said.text = text;
  for (const citation of Array.isArray(citations) ? citations : []) {
    const annotation = annotationOf(citation, start, text.length);
    if (annotation !== null) said.annotations.push(annotation);
  }
}

function readReasoning({ reasoningText, redactedContent }: Loose, said: Said, reading: Reading): void {
  const format = formatOf(reading);
  const index = said.details.length;
  if (typeof redactedContent === 'string') said.details.push(secretDetail(redactedContent, format, index));
  if (!isObject(reasoningText)) return;
  const text = typeof reasoningText.text === 'string' ? reasoningText.text : '';
  const signature = typeof reasoningText.signature === 'string' ? reasoningText.signature : null;
  said.details.push(textDetail(text, signature, format, index));
  said.reasoning = (said.reasoning ?? '') + text;
}

function readToolUse({ toolUseId, name, input, type }: Loose, said: Said, ids: ToolCallIds, reading: Reading): void {
  // The provider has run it itself.
  if (type === 'server_tool_use') return;
  if (typeof name !== 'string') throw badResponse('The provider responded with a tool call that names no function.');
  const text = typeof input === 'string' ? input : JSON.stringify(input ?? {});
  if (name === reading.outputTool) {
    said.output ??= text;
    return;
  }
  const id = typeof toolUseId === 'string' && toolUseId !== '' ? toolUseId : ids.make(said.toolCalls.length);
  said.toolCalls.push({ id, type: 'function', function: { name, arguments: text || '{}' } });
}
