import { isIndex, isObject, type Loose } from '../../base/values.ts';
import type { FinishReason } from '../../schema/chat.ts';
import type { ChatChunk } from '../../schema/chunk.ts';
import type { Reading, StreamDecoder, StreamPart } from '../dialect.ts';
import { eventObject } from '../shared/events.ts';
import { argumentsText, badResponse, toolCallIds } from '../shared/values.ts';
import { annotationOf } from './citations.ts';
import { errorOfException } from './errors.ts';
import { normaliseFinishReason } from './finish-reason.ts';
import { imageOf } from './images.ts';
import type { ConverseQuirks } from './quirks.ts';
import { formatOf, secretDetail, textDetail } from './reasoning-details.ts';
import { readUsage } from './usage.ts';

type Kind = 'text' | 'tool' | 'output' | 'hidden';

/** A block of content that is open. */
interface Block {
  kind: Kind;
  /** Of a tool call: its index. */
  tool: number;
  /** Of a tool call: whether it has arguments. */
  hasInput: boolean;
  /** Of a thought: the index of its detail; -1 before there is one. */
  detail: number;
  /** Of a text: where it starts in the content. */
  start: number;
  citations: unknown[];
  imageFormat: unknown;
}

/** The events of a stream, as they are named. */
const eventNames = [
  'messageStart',
  'contentBlockStart',
  'contentBlockDelta',
  'contentBlockStop',
  'messageStop',
  'metadata',
] as const;
type EventName = (typeof eventNames)[number];

/**
 * Reads a stream of `ConverseStream`. It is complete once both its end and its usage are there, in whichever order.
 * @see https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStreamOutput.html
 */
export function streamDecoder(_quirks: ConverseQuirks, reading: Reading = {}): StreamDecoder {
  const format = formatOf(reading);
  const ids = toolCallIds();
  const blocks = new Map<number, Block>();
  let tools = 0;
  let details = 0;
  let contentLength = 0;
  let hasOutput = false;
  let hasStopped = false;
  let hasUsage = false;
  /** Text before the output's tool is called is no part of the output. Whether it is called is known later. */
  let held = reading.outputTool === undefined ? null : '';

  function decode(data: string, event: string): StreamPart[] {
    const fields = eventObject(data);
    if (event === '') return decodeWrapped(fields);
    return decodeNamed(event, fields);
  }

  /** Without names of frames, each event is an object with its name as the only key. */
  function decodeWrapped(wrapped: Loose): StreamPart[] {
    for (const name in wrapped) {
      const fields = wrapped[name];
      if (isObject(fields)) return decodeNamed(name, fields);
    }
    throw badResponse('The provider sent a stream event that is none of this dialect.');
  }

  function decodeNamed(name: string, fields: Loose): StreamPart[] {
    switch (name as EventName) {
      case 'contentBlockDelta':
        return isObject(fields.delta) ? onDelta(blockAt(fields.contentBlockIndex), fields.delta) : [];
      case 'contentBlockStart':
        return isObject(fields.start) ? onStart(blockAt(fields.contentBlockIndex), fields.start) : [];
      case 'contentBlockStop':
        return onBlockStop(fields.contentBlockIndex);
      case 'messageStart':
        return [chunk({ role: 'assistant', content: '' })];
      case 'messageStop':
        return onStop(fields.stopReason);
      case 'metadata':
        return onMetadata(fields);
      default:
        // Events of a later version are not for us; errors have names of their own.
        return /exception|error|failure|unavailable/i.test(name)
          ? [{ kind: 'error', error: errorOfException(name, fields) }]
          : [];
    }
  }

  function blockAt(at: unknown): Block {
    const index = isIndex(at) ? at : 0;
    let block = blocks.get(index);
    if (block === undefined) {
      block = {
        kind: 'text',
        tool: -1,
        hasInput: false,
        detail: -1,
        start: contentLength,
        citations: [],
        imageFormat: null,
      };
      blocks.set(index, block);
    }
    return block;
  }

  function onStart(block: Block, { toolUse, toolResult, image }: Loose): StreamPart[] {
    if (isObject(image)) block.imageFormat = image.format;
    // The provider has run a tool itself: neither its call nor its result is the caller's.
    if (isObject(toolResult)) block.kind = 'hidden';
    if (!isObject(toolUse)) return [];
    const { name, toolUseId, type } = toolUse;
    if (type === 'server_tool_use') block.kind = 'hidden';
    else if (typeof name !== 'string')
      throw badResponse('The provider responded with a tool call that names no function.');
    else if (name === reading.outputTool) {
      block.kind = hasOutput ? 'hidden' : 'output';
      hasOutput = true;
      held = null;
    } else return [...release(), beginTool(block, name, toolUseId)];
    return [];
  }

  function beginTool(block: Block, name: string, id: unknown): StreamPart {
    block.kind = 'tool';
    block.tool = tools++;
    const call = {
      index: block.tool,
      id: ids.take(id) ?? ids.make(block.tool),
      type: 'function' as const,
      function: { name, arguments: '' },
    };
    return chunk({ tool_calls: [call] });
  }

  function onDelta(block: Block, delta: Loose): StreamPart[] {
    if (block.kind === 'hidden') return [];
    if (typeof delta.text === 'string') return onText(delta.text);
    if (isObject(delta.toolUse)) return onInput(block, argumentsText(delta.toolUse.input));
    if (isObject(delta.reasoningContent)) return onReasoning(block, delta.reasoningContent);
    if (isObject(delta.citation)) block.citations.push(delta.citation);
    const image = isObject(delta.image) ? imageOf(block.imageFormat, delta.image.source) : null;
    return image === null ? [] : [chunk({ images: [image] })];
  }

  function onText(text: string): StreamPart[] {
    // Once the output has begun, nothing else belongs to it.
    if (text === '' || hasOutput) return [];
    contentLength += text.length;
    if (held === null) return [chunk({ content: text })];
    held += text;
    return [];
  }

  function onInput(block: Block, text: string): StreamPart[] {
    if (text === '') return [];
    if (block.kind === 'text') throw badResponse('The provider sent arguments of a tool call that it has not begun.');
    block.hasInput = true;
    return block.kind === 'output'
      ? [chunk({ content: text })]
      : [chunk({ tool_calls: [{ index: block.tool, function: { arguments: text } }] })];
  }

  function onReasoning(block: Block, { text, signature, redactedContent }: Loose): StreamPart[] {
    if (typeof redactedContent === 'string')
      return [chunk({ reasoning_details: [secretDetail(redactedContent, format, details++)] })];
    if (block.detail < 0) block.detail = details++;
    const isText = typeof text === 'string' && text !== '';
    const isSigned = typeof signature === 'string' && signature !== '';
    if (!isText && !isSigned) return [];
    const detail = textDetail(isText ? text : null, isSigned ? signature : null, format, block.detail);
    return [chunk({ ...(isText ? { reasoning: text } : {}), reasoning_details: [detail] })];
  }

  function onBlockStop(at: unknown): StreamPart[] {
    const index = isIndex(at) ? at : 0;
    const block = blocks.get(index);
    blocks.delete(index);
    return block === undefined ? [] : finishBlock(block);
  }

  /** A tool without parameters is called with no arguments at all, which is no JSON. */
  function finishBlock({ kind, hasInput, tool, citations, start }: Block): StreamPart[] {
    if (kind === 'tool' && !hasInput) return [chunk({ tool_calls: [{ index: tool, function: { arguments: '{}' } }] })];
    if (kind === 'output' && !hasInput) return [chunk({ content: '{}' })];
    const annotations = citations.map((one) => annotationOf(one, start, contentLength)).filter((one) => one !== null);
    return annotations.length === 0 ? [] : [chunk({ annotations })];
  }

  function onStop(native: unknown): StreamPart[] {
    if (typeof native !== 'string' || native === '')
      throw badResponse('The provider sent a response without a stopReason.');
    const parts = [...release(), ...[...blocks.values()].flatMap(finishBlock)];
    blocks.clear();
    const reason = normaliseFinishReason(native, tools > 0);
    if (reason === 'error') {
      const error = badResponse(`The provider broke off its response (${native}).`, native);
      return [...parts, { kind: 'error', error, isReported: true }];
    }
    hasStopped = true;
    return [...parts, chunk({}, reason, native), ...(hasUsage ? [{ kind: 'done' } as const] : [])];
  }

  function onMetadata({ usage: raw, serviceTier }: Loose): StreamPart[] {
    const parts: StreamPart[] = [];
    const tier = isObject(serviceTier) ? serviceTier.type : null;
    if (typeof tier === 'string') parts.push({ kind: 'chunk', chunk: { ...empty(), service_tier: tier } });
    const usage = readUsage(raw);
    if (usage !== null) parts.push({ kind: 'usage', usage });
    hasUsage = true;
    if (hasStopped) parts.push({ kind: 'done' });
    return parts;
  }

  /** The output's tool was not called, or not yet: what was held is the response's text. */
  function release(): StreamPart[] {
    const text = held;
    held = null;
    return text === null || text === '' ? [] : [chunk({ content: text })];
  }

  return { decode };
}

function empty(): ChatChunk {
  return { id: '', object: 'chat.completion.chunk', created: 0, model: '', choices: [] };
}

function chunk(delta: Loose, reason: FinishReason | null = null, native?: string): StreamPart {
  const choice = {
    index: 0,
    delta,
    finish_reason: reason,
    ...(native === undefined ? {} : { native_finish_reason: native }),
  };
  return { kind: 'chunk', chunk: { ...empty(), choices: [choice as ChatChunk['choices'][number]] } };
}
