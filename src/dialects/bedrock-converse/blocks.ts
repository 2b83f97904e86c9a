import { addAll, isIndex, isObject, type Loose } from '../../base/values.ts';
import type { ImageOutput } from '../../schema/chat/chat.ts';
import type { ChunkDelta } from '../../schema/chat/chunk.ts';
import type { Reading } from '../dialect.ts';
import { textLengths } from '../shared/interleave.ts';
import { argumentsText, badResponse, type ToolCallIds } from '../shared/values.ts';
import { type Annotation, annotationOf } from './citations.ts';
import { secretDetail, textDetail } from './reasoning-details.ts';

/** A block of content that is open. */
interface Block {
  kind: 'text' | 'tool' | 'output' | 'hidden';
  /** The index of a tool call. */
  tool: number;
  /** true: a tool call has arguments. */
  hasInput: boolean;
  /** The index of the detail of a thought; -1 before there is one. */
  detail: number;
  /** The place where a text starts in the content. */
  start: number;
  citations: unknown[];
  imageFormat: unknown;
}

/** Reads the blocks of one message, in pieces as a stream has them, or each at once. */
export interface BlockReader {
  /** Begins a block. */
  begin(at: unknown, start: Loose): ChunkDelta[];
  /** Adds to a block, which need not have begun. */
  more(at: unknown, delta: Loose): ChunkDelta[];
  /** Ends a block. */
  end(at: unknown): ChunkDelta[];
  /** Reads a complete block. */
  read(at: number, block: Loose): ChunkDelta[];
  /** Ends the message, with blocks that have not ended. */
  finish(): ChunkDelta[];
  /** true: there are calls of the caller's tools. */
  hasCalls(): boolean;
}

/** @param ids  the ids that the provider gave */
export function blockReader(ids: ToolCallIds, reading: Reading): BlockReader {
  /** The lengths of the texts since the last thought. */
  const texts = textLengths();
  /** The block that had text last. */
  let lastText: Block | null = null;
  const blocks = new Map<number, Block>();
  let tools = 0;
  let details = 0;
  let contentLength = 0;
  let hasOutput = false;
  /** The text that is held back while a tool may still bring output of a form, to which the text would not belong. */
  let heldBack = '';
  let heldNotes: Annotation[] = [];

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

  function begin(at: unknown, { toolUse, toolResult, image }: Loose): ChunkDelta[] {
    const block = blockAt(at);
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
    } else return [beginTool(block, name, toolUseId)];
    return [];
  }

  function beginTool(block: Block, name: string, id: unknown): ChunkDelta {
    block.kind = 'tool';
    block.tool = tools++;
    const call = {
      index: block.tool,
      id: ids.take(id) ?? ids.make(block.tool),
      type: 'function' as const,
      function: { name, arguments: '' },
    };
    return { tool_calls: [call] };
  }

  function more(at: unknown, delta: Loose): ChunkDelta[] {
    const block = blockAt(at);
    if (block.kind === 'hidden') return [];
    if (typeof delta.text === 'string') return delta.text === '' ? [] : addText(block, delta.text);
    if (isObject(delta.toolUse)) return addInput(block, argumentsText(delta.toolUse.input));
    if (isObject(delta.reasoningContent)) return addThought(block, delta.reasoningContent);
    if (isObject(delta.citation)) block.citations.push(delta.citation);
    const image = isObject(delta.image) ? imageOf(block.imageFormat, delta.image.source) : null;
    return image === null ? [] : [{ images: [image] }];
  }

  function addText(block: Block, text: string): ChunkDelta[] {
    // No other content belongs to the output once it has begun.
    if (hasOutput) return [];
    if (block !== lastText) texts.begin();
    lastText = block;
    texts.add(text.length);
    contentLength += text.length;
    if (reading.outputTool === undefined) return [{ content: text }];
    heldBack += text;
    return [];
  }

  function addInput(block: Block, text: string): ChunkDelta[] {
    if (text === '') return [];
    if (block.kind === 'text') throw badResponse('The provider sent arguments of a tool call that it has not begun.');
    block.hasInput = true;
    return block.kind === 'output'
      ? [{ content: text }]
      : [{ tool_calls: [{ index: block.tool, function: { arguments: text } }] }];
  }

  function addThought(block: Block, { text, signature, redactedContent }: Loose): ChunkDelta[] {
    if (typeof redactedContent === 'string')
      return [{ reasoning_details: [secretDetail(redactedContent, reading, { index: details++, texts })] }];
    const isText = typeof text === 'string' && text !== '';
    const isSigned = typeof signature === 'string' && signature !== '';
    if (block.detail < 0) block.detail = details++;
    if (!isText && !isSigned) return [];
    const place = { index: block.detail, texts };
    const detail = textDetail(typeof text === 'string' ? text : null, isSigned ? signature : null, reading, place);
    return [{ ...(isText ? { reasoning: text } : {}), reasoning_details: [detail] }];
  }

  function end(at: unknown): ChunkDelta[] {
    const index = isIndex(at) ? at : 0;
    const block = blocks.get(index);
    blocks.delete(index);
    return block === undefined ? [] : finishBlock(block);
  }

  /** Ends a block. A tool without parameters is called with no arguments at all, which is no JSON. */
  function finishBlock({ kind, hasInput, tool, citations, start }: Block): ChunkDelta[] {
    if (kind === 'tool' && !hasInput) return [{ tool_calls: [{ index: tool, function: { arguments: '{}' } }] }];
    if (kind === 'output' && !hasInput) return [{ content: '{}' }];
    const annotations = citations.map((one) => annotationOf(one, start, contentLength)).filter((one) => one !== null);
    if (annotations.length > 0 && reading.outputTool === undefined) return [{ annotations }];
    addAll(heldNotes, annotations);
    return [];
  }

  function read(at: number, block: Loose): ChunkDelta[] {
    const { text, citationsContent: cited, reasoningContent: thought, toolUse, image } = block;
    const deltas = begin(at, block);
    const open = blockAt(at);
    if (typeof text === 'string') addAll(deltas, addText(open, text));
    if (isObject(cited)) {
      const texts = Array.isArray(cited.content) ? cited.content.filter(isObject) : [];
      for (const part of texts) if (typeof part.text === 'string') addAll(deltas, addText(open, part.text));
      if (Array.isArray(cited.citations)) addAll(open.citations, cited.citations);
    }
    if (isObject(thought)) {
      const { reasoningText, redactedContent } = thought;
      if (typeof redactedContent === 'string') addAll(deltas, addThought(open, { redactedContent }));
      if (isObject(reasoningText))
        addAll(deltas, addThought(open, { text: reasoningText.text, signature: reasoningText.signature }));
    }
    if (isObject(toolUse) && open.kind !== 'hidden') addAll(deltas, addInput(open, argumentsText(toolUse.input)));
    const made = isObject(image) ? imageOf(open.imageFormat, image.source) : null;
    if (made !== null) deltas.push({ images: [made] });
    return [...deltas, ...end(at)];
  }

  function finish(): ChunkDelta[] {
    const deltas = [...blocks.values()].flatMap(finishBlock);
    blocks.clear();
    if (!hasOutput && heldBack !== '') deltas.push({ content: heldBack });
    if (!hasOutput && heldNotes.length > 0) deltas.push({ annotations: heldNotes });
    heldBack = '';
    heldNotes = [];
    return deltas;
  }

  return { begin, more, end, read, finish, hasCalls: () => tools > 0 };
}

/** Returns an image that the model made, as a data URL; null: it is none. */
function imageOf(format: unknown, source: unknown): ImageOutput | null {
  if (!isObject(source) || typeof source.bytes !== 'string' || source.bytes === '') return null;
  const type = typeof format === 'string' && /^[a-z]{3,5}$/.test(format) ? format : 'png';
  return { type: 'image_url', image_url: { url: `data:image/${type};base64,${source.bytes}` } };
}
