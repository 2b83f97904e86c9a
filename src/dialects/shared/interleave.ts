import { isObject, type Loose } from '../../base/values.ts';
import { signerOf } from './thought-bindings.ts';

/** A thought of an earlier response that goes back. */
export interface PlacedThought {
  /** The place among the blocks of the response; null: not known. */
  place: number | null;
  /** The length of the response's text before it, in UTF-16 units; null: not known. */
  textStart: number | null;
  /** The block as the provider takes it. */
  block: Loose;
}

/** Another block of the response. */
export interface PlacedBlock {
  /** The place where a text starts in the text of the response. */
  start?: number;
  block: Loose;
}

/** The lengths of the texts that come before a thought and behind the one before it. */
export interface TextLengths {
  /** Begins a text. */
  begin(): void;
  add(length: number): void;
  /** Returns the lengths, because a thought was signed, and begins anew. */
  take(): readonly number[];
}

export function textLengths(): TextLengths {
  let lengths: number[] = [];
  return {
    begin: () => void lengths.push(0),
    add(length) {
      if (lengths.length === 0) lengths.push(0);
      lengths[lengths.length - 1] = (lengths.at(-1) as number) + length;
    },
    take() {
      const taken = lengths.filter((length) => length > 0);
      lengths = [];
      return taken;
    },
  };
}

/**
 * Returns fields for the last detail of a thought, beside its signature, where the model binds the thought to itself
 * and to the messages before it: the model that signed it, and the texts that came before. A chat message has one text
 * alone.
 */
export function signedBy(model: unknown, texts: TextLengths): { model?: string; text_lengths?: number[] } {
  const signer = typeof model === 'string' ? signerOf(model) : null;
  if (signer === null) return {};
  const lengths = texts.take();
  return { model: signer, ...(lengths.length > 0 ? { text_lengths: [...lengths] } : {}) };
}

/** The model that signed a thought, and the lengths of the texts before it; null: not known. */
export interface Signer {
  signer: string | null;
  textStart: number | null;
}

/**
 * Reads the fields that `signedBy` has written, for the thoughts of one response in their order. Clients may have left
 * them out.
 */
export interface SignerReader {
  read(detail: object): Signer;
  /** The places where the texts end that came before thoughts. */
  readonly textEnds: readonly number[];
}

export function signerReader(): SignerReader {
  const textEnds: number[] = [];
  return {
    textEnds,
    read(detail) {
      const { model, text_lengths: lengths } = detail as Loose;
      if (typeof model !== 'string') return { signer: null, textStart: null };
      for (const length of Array.isArray(lengths) ? lengths : [])
        if (Number.isSafeInteger(length) && length > 0) textEnds.push((textEnds.at(-1) ?? 0) + length);
      return { signer: model, textStart: textEnds.at(-1) ?? 0 };
    },
  };
}

/** Cuts the text of a message into the texts that the response had. */
export function cutText(text: string, textEnds: readonly number[]): { start: number; text: string }[] {
  const starts = [0, ...textEnds.filter((end) => end < text.length)];
  return starts.map((start, at) => ({ start, text: text.slice(start, starts[at + 1]) }));
}

/**
 * Puts thoughts among the other blocks of an assistant message, each at its earlier place: Claude refuses thoughts in
 * another order. The places between them go to the others, in their order.
 */
export function interleave(thoughts: readonly PlacedThought[], others: readonly PlacedBlock[]): Loose[] {
  const blocks: Loose[] = [];
  let next = 0;
  for (const thought of thoughts) {
    while (next < others.length && standsBefore(others[next] as PlacedBlock, thought, blocks.length))
      blocks.push((others[next++] as PlacedBlock).block);
    blocks.push(thought.block);
  }
  return [...blocks, ...others.slice(next).map(({ block }) => block)];
}

function standsBefore({ start }: PlacedBlock, { place, textStart }: PlacedThought, at: number): boolean {
  if (start !== undefined && textStart !== null) return start < textStart;
  return place !== null && at < place;
}

/** true: a block of a message is one of thoughts, in Anthropic's words or in those of Bedrock. */
export function isThought(block: unknown): boolean {
  if (!isObject(block)) return false;
  return block.type === 'thinking' || block.type === 'redacted_thinking' || 'reasoningContent' in block;
}
