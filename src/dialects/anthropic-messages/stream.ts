import { addAll, isIndex, isObject, type Loose } from '../../base/values.ts';
import type { ChatChunk, ChunkDelta } from '../../schema/chunk.ts';
import type { Reading, StreamDecoder, StreamPart } from '../dialect.ts';
import { eventObject } from '../shared/events.ts';
import { badResponse, toolCallIds } from '../shared/values.ts';
import { annotationOf, hiddenThought, inputText, refusalIn, thoughtDetail } from './blocks.ts';
import { errorIn } from './errors.ts';
import { finishReasonOf } from './finish-reason.ts';
import type { MessagesQuirks } from './quirks.ts';
import { mergeUsage, readUsage, serviceTierOf } from './usage.ts';

/** A block that has begun and not ended. */
interface OpenBlock {
  kind: 'text' | 'thinking' | 'call' | 'output' | 'other';
  /** Its place among the blocks of the response. */
  place: number;
  /** Of a call: which of the calls. */
  call: number;
  /** Of a call: the input that the block began with, where it is not empty. */
  input: string;
  /** Whether more of the input has come. */
  hasInput: boolean;
  /** Of a text: where it starts in the content. */
  start: number;
  /** Of a text: what it rests on, which is told when its end is known. */
  citations: unknown[];
}

/**
 * Reads the events of a message. One decoder for one stream.
 * @see https://platform.claude.com/docs/en/build-with-claude/streaming
 */
export function streamDecoder(_quirks: MessagesQuirks = {}, { outputTool }: Reading = {}): StreamDecoder {
  const blocks = new Map<number, OpenBlock>();
  const ids = toolCallIds();
  const usage: Loose = {};
  let tier: string | null = null;
  let calls = 0;
  /** How long the content is, in UTF-16 units. */
  let length = 0;
  let hasOutput = false;
  /** What is said where a tool may still bring output of a form, of which it would be no part. */
  let heldBack = '';
  let isFinished = false;

  function decode(data: string, name: string): StreamPart[] {
    const event = eventObject(data);
    const type = event.type ?? name;
    const error = errorIn(event);
    if (error) return [{ kind: 'error', error }];
    if (typeof type !== 'string' || type === '') throw badResponse('The provider sent a stream event of no type.');
    if (type === 'content_block_delta') return readDelta(event);
    if (type === 'content_block_start') return begin(event);
    if (type === 'content_block_stop') return end(event);
    if (type === 'message_start') return readStart(event);
    if (type === 'message_delta') return readEnd(event);
    return type === 'message_stop' ? [{ kind: 'done' }] : [];
  }

  function readStart({ message }: Loose): StreamPart[] {
    const head = isObject(message) ? message : {};
    tier = serviceTierOf(head.usage);
    const parts = [chunkPart({ role: 'assistant', content: '' }, tier), ...readCounts(head.usage)];
    // A response that goes on where another one paused may begin with its blocks.
    const content = Array.isArray(head.content) ? head.content : [];
    for (const [index, block] of content.entries())
      parts.push(...begin({ index, content_block: block }), ...end({ index }));
    return parts;
  }

  function begin({ index, content_block: raw }: Loose): StreamPart[] {
    if (!isIndex(index) || !isObject(raw)) return [];
    const block = openBlock(index);
    blocks.set(index, block);
    if (raw.type === 'text') {
      block.kind = 'text';
      if (Array.isArray(raw.citations)) addAll(block.citations, raw.citations);
      return addText(raw.text);
    }
    if (raw.type === 'thinking') {
      block.kind = 'thinking';
      return [...addThought(raw.thinking, index), ...addSignature(raw.signature, index)];
    }
    if (raw.type === 'redacted_thinking') {
      const detail = hiddenThought(raw, index);
      return detail ? [chunkPart({ reasoning_details: [detail] })] : [];
    }
    return raw.type === 'tool_use' ? beginCall(block, raw) : [];
  }

  function openBlock(place: number): OpenBlock {
    return { kind: 'other', place, call: -1, input: '', hasInput: false, start: length, citations: [] };
  }

  function beginCall(block: OpenBlock, { id, name, input }: Loose): StreamPart[] {
    if (typeof name !== 'string' || name === '')
      throw badResponse('The provider sent a tool call that names no function.');
    block.input = inputText(input);
    if (name === outputTool) {
      // A second call of it would put a second value behind the first.
      block.kind = hasOutput ? 'other' : 'output';
      hasOutput = true;
      return [];
    }
    block.kind = 'call';
    block.call = calls++;
    const call = { index: block.call, id: ids.take(id) ?? ids.make(block.call), type: 'function' as const };
    return [chunkPart({ tool_calls: [{ ...call, function: { name, arguments: '' } }] })];
  }

  function readDelta({ index, delta }: Loose): StreamPart[] {
    if (!isObject(delta) || !isIndex(index)) return [];
    switch (delta.type) {
      case 'text_delta':
        return addText(delta.text);
      case 'thinking_delta':
        return addThought(delta.thinking, index);
      case 'signature_delta':
        return addSignature(delta.signature, index);
      case 'input_json_delta':
        return addInput(blocks.get(index), delta.partial_json);
      case 'citations_delta':
        blocks.get(index)?.citations.push(delta.citation);
        return [];
      default:
        return [];
    }
  }

  function addText(text: unknown): StreamPart[] {
    if (typeof text !== 'string' || text === '') return [];
    if (outputTool !== undefined) {
      heldBack += text;
      return [];
    }
    length += text.length;
    return [chunkPart({ content: text })];
  }

  function addInput(block: OpenBlock | undefined, text: unknown): StreamPart[] {
    if (!block) throw badResponse('The provider sent the input of a tool call that has not begun.');
    if (typeof text !== 'string' || text === '') return [];
    block.hasInput = true;
    return inputPart(block, text);
  }

  function end({ index }: Loose): StreamPart[] {
    const block = isIndex(index) ? blocks.get(index) : undefined;
    if (!block) return [];
    blocks.delete(block.place);
    if (block.kind === 'text') return endText(block);
    // Clients read the input as JSON, which no text at all is not.
    return block.hasInput ? [] : inputPart(block, block.input || '{}');
  }

  function endText({ citations, start }: OpenBlock): StreamPart[] {
    if (citations.length === 0 || outputTool !== undefined) return [];
    const annotations = citations.map((one) => annotationOf(one, start, length)).filter((one) => one !== null);
    return annotations.length === 0 ? [] : [chunkPart({ annotations })];
  }

  function readEnd({ delta, usage: counts }: Loose): StreamPart[] {
    const parts: StreamPart[] = [];
    const last = isObject(delta) ? delta : {};
    const native = last.stop_reason;
    if (typeof native === 'string' && native !== '' && !isFinished) {
      isFinished = true;
      for (const index of [...blocks.keys()]) parts.push(...end({ index }));
      const refusal = refusalIn(last);
      const text = hasOutput ? '' : heldBack;
      heldBack = '';
      if (text !== '' || refusal !== null)
        parts.push(chunkPart({ ...(text === '' ? {} : { content: text }), ...(refusal === null ? {} : { refusal }) }));
      parts.push(finishPart(native, calls > 0));
    }
    return [...parts, ...readCounts(counts)];
  }

  /** Each report is cumulative. Before the end, it lets a broken stream be paid for. */
  function readCounts(counts: unknown): StreamPart[] {
    mergeUsage(usage, counts);
    const read = isObject(counts) ? readUsage(usage) : null;
    return read ? [{ kind: 'usage', usage: read }] : [];
  }

  return { decode };
}

function addThought(text: unknown, place: number): StreamPart[] {
  if (typeof text !== 'string' || text === '') return [];
  return [chunkPart({ reasoning: text, reasoning_details: [thoughtDetail({ text }, place)] })];
}

function addSignature(signature: unknown, place: number): StreamPart[] {
  if (typeof signature !== 'string' || signature === '') return [];
  return [chunkPart({ reasoning_details: [thoughtDetail({ signature }, place)] })];
}

function inputPart({ kind, call }: OpenBlock, text: string): StreamPart[] {
  if (kind === 'output') return [chunkPart({ content: text })];
  return kind === 'call' ? [chunkPart({ tool_calls: [{ index: call, function: { arguments: text } }] })] : [];
}

function chunkPart(delta: ChunkDelta, tier: string | null = null): StreamPart {
  return { kind: 'chunk', chunk: chunkOf({ index: 0, delta, finish_reason: null }, tier) };
}

function finishPart(native: string, callsTools: boolean): StreamPart {
  const reason = finishReasonOf(native, callsTools);
  const choice = { index: 0, delta: {}, finish_reason: reason, native_finish_reason: native };
  return { kind: 'chunk', chunk: chunkOf(choice, null) };
}

function chunkOf(choice: ChatChunk['choices'][number], tier: string | null): ChatChunk {
  return {
    id: '',
    object: 'chat.completion.chunk',
    created: 0,
    model: '',
    choices: [choice],
    ...(tier === null ? {} : { service_tier: tier }),
  };
}
