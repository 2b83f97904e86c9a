import { parseExact } from '../../../base/exact-json.ts';
import { type JsonExtent, jsonExtent } from '../../../base/json-extent.ts';
import { isObject, type Loose } from '../../../base/values.ts';
import { outputItemOf } from '../../../call/output-item.ts';
import type { ReasoningDetail } from '../../../schema/chat/chat.ts';
import type { ChunkDelta, ChunkToolCall } from '../../../schema/chat/chunk.ts';
import { joinedDetails } from '../../reasoning.ts';
import { isOwnToolBlock } from '../server-tools.ts';
import { ownFormat, sealThought } from '../thoughts.ts';

/** Takes the events of blocks, in their order: one block is open at a time, and indexes rise by one. */
export interface BlockSink {
  start(index: number, block: Loose): void;
  delta(index: number, delta: Loose): void;
  stop(index: number): void;
}

/** A block that waits for its turn, or is open. */
interface Block {
  kind: 'text' | 'thought' | 'call' | 'tool';
  /** The complete block of a tool that the gateway has run; `{}`: it is no such block. */
  own: Loose;
  /** The number of a call among the calls of the chat message. */
  call: number;
  id: string;
  name: string;
  /** The visible text, or the arguments, that the client has not been sent. */
  waiting: string;
  /** The end of the arguments of a call. */
  extent: JsonExtent;
  /** All arguments of a call so far. */
  args: string;
  /** The first sign of these that is no white space. */
  sign: string;
  /** true: these are an object; null: nobody has looked. */
  isObject: boolean | null;
  details: ReasoningDetail[];
  citations: Loose[];
  index: number | null;
}

/**
 * Makes blocks of the deltas of a chat message. A chat message may mix the pieces of several calls; here, one block is
 * open at a time, so the pieces of a later one wait until the open one is complete.
 */
export class BlockBuilder {
  readonly #sink: BlockSink;
  readonly #showsThoughts: boolean;
  readonly #blocks: Block[] = [];
  readonly #calls = new Map<number, Block>();
  #next = 0;
  #hasCalls = false;
  /** The pages that the gateway has fetched, and its searches. */
  readonly ownTools = { searches: 0, fetches: 0 };

  /** @param showsThoughts  false: the text of thoughts is not sent, and goes along in the signature */
  constructor(sink: BlockSink, showsThoughts: boolean) {
    this.#sink = sink;
    this.#showsThoughts = showsThoughts;
  }

  /** true: the response calls tools. */
  get hasCalls(): boolean {
    return this.#hasCalls;
  }

  add(delta: ChunkDelta): void {
    const { content, refusal, reasoning, reasoning_details: details, tool_calls: calls, annotations } = delta;
    const shown = outputItemOf(delta);
    if (shown?.isOpaque === true) {
      if (isOwnToolBlock(shown.item)) this.#addTool(shown.item);
      return;
    }
    if (details && details.length > 0) for (const detail of details) this.#addThought(detail);
    else if (typeof reasoning === 'string' && reasoning !== '')
      this.#addThought({ type: 'reasoning.text', text: reasoning });
    if (typeof content === 'string') this.#addText(content);
    if (typeof refusal === 'string') this.#addText(refusal);
    for (const annotation of annotations ?? []) this.#addCitation(annotation);
    for (const call of calls ?? []) this.#addCall(call);
  }

  /**
   * Returns the name of a call whose arguments begin as an object and are none; null: there is none. Closed, it would be a
   * call without arguments to clients of this wire, which run it.
   */
  brokenCall(): string | null {
    const broken = this.#blocks.find((block) => block.kind === 'call' && block.sign === '{' && !hasObject(block));
    return broken?.name ?? null;
  }

  /** Closes all blocks: the response is complete. */
  finish(): void {
    const last = this.#blocks.at(-1);
    // Clients take the last block for what was said. A thought without a text behind the end says nothing to them.
    if (last?.kind === 'thought' && last.index === null && last.waiting === '' && this.#next > 0) this.#blocks.pop();
    while (this.#blocks.length > 0) this.#closeFirst();
  }

  #last(kind: Block['kind']): Block {
    const last = this.#blocks.at(-1);
    return last?.kind === kind ? last : this.#begin(kind);
  }

  #begin(
    kind: Block['kind'],
    call: Pick<Block, 'call' | 'id' | 'name'> = { call: -1, id: '', name: '' },
    own: Loose = {},
  ): Block {
    const rest = {
      waiting: '',
      extent: jsonExtent(),
      args: '',
      sign: '',
      isObject: null,
      details: [],
      citations: [],
      index: null,
    };
    const block: Block = { kind, ...call, own, ...rest };
    this.#blocks.push(block);
    this.#advance();
    return block;
  }

  #addText(text: string): void {
    if (text === '') return;
    const isBehindTool = this.#blocks.at(-1)?.kind === 'tool';
    const block = this.#last('text');
    // The gap between the texts of two steps: here, blocks stand between them.
    block.waiting += isBehindTool ? text.replace(/^\n\n/, '') : text;
    this.#flush(block);
  }

  #addTool(own: Loose): void {
    const isUse = own.type === 'server_tool_use';
    if (isUse) this.ownTools[own.name === 'web_search' ? 'searches' : 'fetches']++;
    const block = this.#begin('tool', { call: -1, id: '', name: '' }, own);
    if (isUse) block.waiting = JSON.stringify(own.input);
    this.#flush(block);
  }

  #addThought(detail: ReasoningDetail): void {
    let block = this.#blocks.at(-1);
    if (block?.kind !== 'thought' || isOther(block.details, detail)) block = this.#begin('thought');
    const text = detail.type === 'reasoning.text' ? detail.text : detail.type === 'reasoning.summary' && detail.summary;
    block.details.push(detail);
    if (typeof text !== 'string' || text === '' || !this.#showsThoughts) return;
    block.waiting += text;
    this.#flush(block);
  }

  #addCitation(annotation: Loose): void {
    const block = this.#blocks.at(-1);
    const cited = annotation.url_citation;
    if (block?.kind !== 'text' || !isObject(cited) || typeof cited.url !== 'string') return;
    const title = typeof cited.title === 'string' ? cited.title : null;
    const quoted = typeof cited.content === 'string' ? cited.content : '';
    block.citations.push({
      type: 'web_search_result_location',
      url: cited.url,
      title,
      encrypted_index: '',
      cited_text: quoted,
    });
    this.#flush(block);
  }

  #addCall({ index, id, function: said }: ChunkToolCall): void {
    let block = this.#calls.get(index);
    if (block === undefined) {
      this.#hasCalls = true;
      block = this.#begin('call', { call: index, id: id ?? `toolu_${index}`, name: said?.name ?? '' });
      this.#calls.set(index, block);
    }
    const more = said?.arguments ?? '';
    if (more === '') return;
    block.extent.add(more);
    block.args += more;
    if (block.sign === '') block.sign = more.trimStart().slice(0, 1);
    // What follows a text that is complete and no object makes none of it.
    if (block.isObject === true) block.isObject = null;
    block.waiting += more;
    this.#flush(block);
    if (this.#blocks.length > 1) this.#advance();
  }

  /** Sends what waits, if the block is the first of those that are not closed. */
  #flush(block: Block): void {
    if (block !== this.#blocks[0]) return;
    this.#open(block);
    const index = block.index as number;
    // Arguments that are no object wait for their end: clients take nothing but an object.
    if (block.waiting !== '' && (block.kind !== 'call' || block.sign === '{')) {
      this.#sink.delta(index, deltaOf(block.kind, block.waiting));
      block.waiting = '';
    }
    for (const citation of block.citations.splice(0)) this.#sink.delta(index, { type: 'citations_delta', citation });
  }

  #open(block: Block): void {
    if (block.index !== null) return;
    block.index = this.#next++;
    this.#sink.start(block.index, startOf(block));
  }

  /** Goes on to the next block, for as long as the open one is known to be complete. */
  #advance(): void {
    while (this.#blocks.length > 1 && isComplete(this.#blocks[0] as Block)) this.#closeFirst();
    const [first] = this.#blocks;
    // A thought may turn out to be the last, and silent: it is opened with its first text, or with what follows it.
    if (first !== undefined && first.kind !== 'thought') this.#flush(first);
  }

  #closeFirst(): void {
    const block = this.#blocks[0] as Block;
    if (block.kind === 'call' && block.sign !== '' && block.sign !== '{') {
      block.waiting = JSON.stringify(inputOf(block.args));
      block.sign = '{';
    }
    const hidden = block.kind === 'thought' && block.index === null ? hiddenData(block) : null;
    if (hidden === null) this.#flush(block);
    this.#blocks.shift();
    if (hidden !== null) {
      const index = this.#next++;
      this.#sink.start(index, { type: 'redacted_thinking', data: hidden });
      this.#sink.stop(index);
      return;
    }
    const index = block.index as number;
    if (block.kind === 'thought')
      this.#sink.delta(index, { type: 'signature_delta', signature: sealThought(joinedDetails(block.details)) });
    this.#sink.stop(index);
    if (block.kind === 'call' && this.#calls.get(block.call) === block) this.#calls.delete(block.call);
  }
}

function startOf({ kind, id, name, own }: Block): Loose {
  if (kind === 'tool') return own.type === 'server_tool_use' ? { ...own, input: {} } : own;
  if (kind === 'text') return { type: 'text', text: '', citations: null };
  if (kind === 'thought') return { type: 'thinking', thinking: '', signature: '' };
  return { type: 'tool_use', id, name, input: {}, caller: { type: 'direct' } };
}

function deltaOf(kind: Block['kind'], text: string): Loose {
  if (kind === 'text') return { type: 'text_delta', text };
  return kind === 'thought'
    ? { type: 'thinking_delta', thinking: text }
    : { type: 'input_json_delta', partial_json: text };
}

/** true: nothing more of the block will come. The arguments of a call are complete where their brackets are closed. */
function isComplete(block: Block): boolean {
  return block.kind !== 'call' || (block.extent.isWhole() && hasObject(block));
}

/** true: the arguments of a call are an object. */
function hasObject(block: Block): boolean {
  if (!block.extent.isWhole()) return false;
  block.isObject ??= isObject(objectOf(block.args));
  return block.isObject;
}

function objectOf(text: string): unknown {
  try {
    return parseExact(text, deepestInput);
  } catch {
    return null;
  }
}

/** The data of a thought that is hidden by an upstream of this wire; null: it is another thought. */
function hiddenData({ details, waiting }: Block): string | null {
  const [first] = details;
  if (details.length !== 1 || waiting !== '' || first?.type !== 'reasoning.encrypted') return null;
  return first.format === ownFormat ? first.data : null;
}

/** true: the detail belongs to another thought than the details before it, which were signed. */
function isOther(details: readonly ReasoningDetail[], detail: ReasoningDetail): boolean {
  const last = details.at(-1);
  if (last === undefined || last.format !== ownFormat) return false;
  return detail.index !== last.index;
}

/** Collects the blocks of a complete response. */
export function blockList(): BlockSink & { readonly blocks: readonly Loose[] } {
  const blocks: Loose[] = [];
  const inputs: string[] = [];
  return {
    blocks,
    start(_, block) {
      blocks.push({ ...block });
      inputs.push('');
    },
    delta(index, delta) {
      const block = blocks[index] as Loose;
      if (delta.type === 'text_delta') block.text += delta.text as string;
      else if (delta.type === 'thinking_delta') block.thinking += delta.thinking as string;
      else if (delta.type === 'signature_delta') block.signature = delta.signature;
      else if (delta.type === 'input_json_delta') inputs[index] += delta.partial_json as string;
      else if (delta.type === 'citations_delta') block.citations = [...((block.citations as []) ?? []), delta.citation];
    },
    stop(index) {
      if (inputs[index] !== '') (blocks[index] as Loose).input = inputOf(inputs[index] as string);
    },
  };
}

/** An input that nests deeper is shown as a text. */
const deepestInput = 200;

/** The input of a call is an object; a model's text that is none cannot be shown as one. */
function inputOf(text: string): unknown {
  try {
    const value = parseExact(text, deepestInput) ?? (JSON.parse(text) as unknown);
    if (isObject(value)) return value;
    // Some models say so that there are no arguments.
    return value === null ? {} : { value };
  } catch {
    return { invalid_json: text };
  }
}
