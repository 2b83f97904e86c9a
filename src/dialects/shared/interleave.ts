import { isObject, type Loose } from '../../base/values.ts';
import { signerOf } from './thought-bindings.ts';

/** A thought of an earlier response that goes back. */
export interface PlacedThought {
  /** Its place among the blocks of the response; null: not known. */
  place: number | null;
  /** How much text of the response came before it, in UTF-16 units; null: not known. */
  textStart: number | null;
  /** As the provider takes it. */
  block: Loose;
}

/** Another block of the response. */
export interface PlacedBlock {
  /** Of a text: where it starts in the text of the response. */
  start?: number;
  block: Loose;
}

/** How long the texts are that come before a thought and behind the one before it. */
export interface TextLengths {
  /** A text begins. */
  begin(): void;
  add(length: number): void;
  /** A thought was signed. */
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
 * What the last detail of a thought says beside its signature, where the model binds the thought to itself and to what
 * stands before it: who signed it, and which texts came before. A chat message has one text alone.
 */
export function signedBy(model: unknown, texts: TextLengths): { model?: string; text_lengths?: number[] } {
  const signer = typeof model === 'string' ? signerOf(model) : null;
  if (signer === null) return {};
  const lengths = texts.take();
  return { model: signer, ...(lengths.length > 0 ? { text_lengths: [...lengths] } : {}) };
}

/** Who signed a thought, and how much text came before it; null: not known. */
export interface Signer {
  signer: string | null;
  textStart: number | null;
}

/** Reads what `signedBy` has written, which clients may have left out, of the thoughts of one response in their order. */
export interface SignerReader {
  read(detail: object): Signer;
  /** Where the texts end that came before thoughts. */
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
 * Puts thoughts among the other blocks of an assistant message, each where it stood: Claude refuses thoughts in another
 * order. The places between them go to the others, in their order.
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

/** Whether a block of a message is one of thoughts, in Anthropic's words or in those of Bedrock. */
export function isThought(block: unknown): boolean {
  if (!isObject(block)) return false;
  return block.type === 'thinking' || block.type === 'redacted_thinking' || 'reasoningContent' in block;
}
