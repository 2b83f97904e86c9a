import { addAll, isIndex, isObject, type Loose } from '../../base/values.ts';
import type { NativeEvent } from '../../call/native-events.ts';
import type { ChunkDelta } from '../../schema/chat/chunk.ts';
import type { ReasoningDetail } from '../../schema/chat/message.ts';
import { signedBy, type TextLengths, textLengths } from '../shared/interleave.ts';
import { argumentsText, badResponse, type ToolCallIds } from '../shared/values.ts';
import { thoughtFormat } from './thoughts.ts';

/** A block that has begun and not ended. */
interface OpenBlock {
  kind: 'text' | 'thinking' | 'call' | 'output' | 'other';
  /** The place of the block among the blocks of the response. */
  place: number;
  /** The number of a call among the calls. */
  call: number;
  /** The input that a call began with, where it is not empty. */
  input: string;
  /** true: more of the input has come. */
  hasInput: boolean;
  /** The place where a text starts in the content. */
  start: number;
  /** The citations of a text, which are told when its end is known. */
  citations: unknown[];
}

/**
 * Reads the blocks of one message, in pieces as a stream has them, or each at once. Blocks of the provider's own tools
 * are of no use to the caller: their results are in the text.
 */
export interface BlockReader {
  /** Begins a block, empty or with all of its content. */
  begin(index: unknown, block: unknown): ChunkDelta[];
  /** Adds to a block. */
  more(index: unknown, delta: unknown): ChunkDelta[];
  /** Ends a block. */
  end(index: unknown): ChunkDelta[];
  /** Ends the message, with blocks that have not ended. @param last  holds `stop_reason` and `stop_details` */
  finish(last: Loose): ChunkDelta[];
  /** The text that a block adds to: a field of a delta, or the number of a call; undefined: none. */
  textOf(index: unknown): NativeEvent['ends'];
  /** true: a block that has begun adds to none. */
  isUnseen(index: unknown): boolean;
  /** true: there are calls for the caller. */
  hasCalls(): boolean;
}

/** The facts of a message that its reader must know. */
export interface BlockReading {
  /** The ids that the provider gave. */
  ids: ToolCallIds;
  /** The provider's own name for the model; changed where a stream tells of it. */
  model: unknown;
  /** The tool whose input is the content. */
  outputTool: string | undefined;
}

export function blockReader(reading: BlockReading): BlockReader {
  const { ids, outputTool } = reading;
  const blocks = new Map<number, OpenBlock>();
  /** The lengths of the texts since the last thought. */
  const texts = textLengths();
  let calls = 0;
  /** The length of the content, in UTF-16 units. */
  let length = 0;
  let hasOutput = false;
  /** The text that is held back while a tool may still bring output of a form, to which the text would not belong. */
  let heldBack = '';
  let heldNotes: Annotation[] = [];

  function begin(index: unknown, raw: unknown): ChunkDelta[] {
    if (!isIndex(index) || !isObject(raw)) return [];
    const block: OpenBlock = {
      kind: 'other',
      place: index,
      call: -1,
      input: '',
      hasInput: false,
      start: length,
      citations: [],
    };
    blocks.set(index, block);
    if (raw.type === 'text') {
      block.kind = 'text';
      texts.begin();
      if (Array.isArray(raw.citations)) addAll(block.citations, raw.citations);
      return addText(raw.text);
    }
    if (raw.type === 'thinking') {
      block.kind = 'thinking';
      return addThought(raw, index);
    }
    if (raw.type === 'redacted_thinking') {
      const detail = hiddenThought(raw, index, reading.model, texts);
      return detail ? [{ reasoning_details: [detail] }] : [];
    }
    return raw.type === 'tool_use' ? beginCall(block, raw) : [];
  }

  function beginCall(block: OpenBlock, { id, name, input }: Loose): ChunkDelta[] {
    if (typeof name !== 'string' || name === '')
      throw badResponse('The provider sent a tool call that names no function.');
    block.input = inputText(input);
    if (name === outputTool) {
      // The value of a second call of it would stand behind that of the first.
      block.kind = hasOutput ? 'other' : 'output';
      hasOutput = true;
      return [];
    }
    block.kind = 'call';
    block.call = calls++;
    const call = { index: block.call, id: ids.take(id) ?? ids.make(block.call), type: 'function' as const };
    return [{ tool_calls: [{ ...call, function: { name, arguments: '' } }] }];
  }

  function more(index: unknown, delta: unknown): ChunkDelta[] {
    if (!isObject(delta) || !isIndex(index)) return [];
    switch (delta.type) {
      case 'text_delta':
        return addText(delta.text);
      case 'thinking_delta':
        return addThought({ thinking: delta.thinking }, index);
      case 'signature_delta':
        return addThought({ signature: delta.signature }, index);
      case 'input_json_delta':
        return addInput(blocks.get(index), delta.partial_json);
      case 'citations_delta':
        blocks.get(index)?.citations.push(delta.citation);
        return [];
      default:
        return [];
    }
  }

  /** Adds a thought, its signature, or both. */
  function addThought({ thinking: text, signature }: Loose, place: number): ChunkDelta[] {
    const isText = typeof text === 'string' && text !== '';
    const isSigned = typeof signature === 'string' && signature !== '';
    if (!isText && !isSigned) return [];
    const detail = thoughtDetail(
      {
        ...(typeof text === 'string' ? { text } : {}),
        ...(isSigned ? { signature, ...signedBy(reading.model, texts) } : {}),
      },
      place,
    );
    return [{ ...(isText ? { reasoning: text } : {}), reasoning_details: [detail] }];
  }

  function addText(text: unknown): ChunkDelta[] {
    if (typeof text !== 'string' || text === '') return [];
    length += text.length;
    texts.add(text.length);
    if (outputTool === undefined) return [{ content: text }];
    heldBack += text;
    return [];
  }

  function addInput(block: OpenBlock | undefined, text: unknown): ChunkDelta[] {
    if (!block) throw badResponse('The provider sent the input of a tool call that has not begun.');
    if (typeof text !== 'string' || text === '') return [];
    block.hasInput = true;
    return inputDelta(block, text);
  }

  function end(index: unknown): ChunkDelta[] {
    const block = isIndex(index) ? blocks.get(index) : undefined;
    if (!block) return [];
    blocks.delete(block.place);
    if (block.kind === 'text') return endText(block);
    // Clients read the input as JSON, and an empty text is no JSON.
    return block.hasInput ? [] : inputDelta(block, block.input || '{}');
  }

  function endText({ citations, start }: OpenBlock): ChunkDelta[] {
    const annotations = citations.map((one) => annotationOf(one, start, length)).filter((one) => one !== null);
    if (annotations.length > 0 && outputTool === undefined) return [{ annotations }];
    addAll(heldNotes, annotations);
    return [];
  }

  function finish(last: Loose): ChunkDelta[] {
    const deltas = [...blocks.keys()].flatMap(end);
    if (!hasOutput && heldBack !== '') deltas.push({ content: heldBack });
    if (!hasOutput && heldNotes.length > 0) deltas.push({ annotations: heldNotes });
    heldBack = '';
    heldNotes = [];
    const refusal = refusalIn(last);
    if (refusal !== null) deltas.push({ refusal });
    return deltas;
  }

  function textOf(index: unknown): NativeEvent['ends'] {
    const block = isIndex(index) ? blocks.get(index) : undefined;
    if (block?.kind === 'call') return block.call;
    return block?.kind === 'text' ? 'content' : block?.kind === 'thinking' ? 'reasoning' : undefined;
  }

  const isUnseen = (index: unknown): boolean => isIndex(index) && blocks.get(index)?.kind === 'other';

  return { begin, more, end, finish, textOf, isUnseen, hasCalls: () => calls > 0 };
}

function inputDelta({ kind, call }: OpenBlock, text: string): ChunkDelta[] {
  if (kind === 'output') return [{ content: text }];
  return kind === 'call' ? [{ tool_calls: [{ index: call, function: { arguments: text } }] }] : [];
}

/**
 * Makes the detail of a thought, or of a part of one, as clients send it back. `index` is the place of its block among
 * all of the response.
 */
function thoughtDetail(
  fields: { text?: string; signature?: string; model?: string; text_lengths?: number[] },
  index: number,
): Extract<ReasoningDetail, { type: 'reasoning.text' }> {
  return { type: 'reasoning.text', ...fields, index, format: thoughtFormat };
}

/**
 * Makes the detail of a thought that only Anthropic can read; null: the block holds none.
 * @param model  the model that signed it
 * @param texts  the lengths of the texts that came before it
 */
function hiddenThought(block: Loose, index: number, model: unknown, texts: TextLengths): ReasoningDetail | null {
  const { data } = block;
  if (typeof data !== 'string') return null;
  return { type: 'reasoning.encrypted', data, ...signedBy(model, texts), index, format: thoughtFormat };
}

/** A note on the text. */
type Annotation = Loose & { type: string };

/**
 * Makes an annotation of a citation; null: it is none.
 * @param start  the place where the text that rests on it starts in the content
 * @param end    the place where that text ends
 * @see https://platform.claude.com/docs/en/build-with-claude/citations
 */
function annotationOf(citation: unknown, start: number, end: number): Annotation | null {
  if (!isObject(citation)) return null;
  const quoted = textOr(citation.cited_text, '');
  // Search results that the caller brought name their origin, which may be an address.
  const url = textOr(citation.url, textOr(citation.source, ''));
  if (url !== '') {
    const title = textOr(citation.title, '');
    return { type: 'url_citation', url_citation: { url, title, content: quoted, start_index: start, end_index: end } };
  }
  if (typeof citation.type !== 'string' || quoted === '') return null;
  const name = textOr(citation.document_title, '');
  return { type: 'file', file: { hash: '', name, content: [{ type: 'text', text: quoted }] } };
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}

/** Returns the model's reason to refuse, where Anthropic gives it; null: it does not. */
function refusalIn(holder: Loose): string | null {
  const details = holder.stop_details;
  if (holder.stop_reason !== 'refusal' || !isObject(details)) return null;
  return typeof details.explanation === 'string' && details.explanation !== '' ? details.explanation : null;
}

/**
 * Returns the input of a call as it stands in a block: text of JSON. '': the block is the empty one that a stream
 * begins with.
 */
function inputText(input: unknown): string {
  return isObject(input) && Object.keys(input).length > 0 ? argumentsText(input) : '';
}
