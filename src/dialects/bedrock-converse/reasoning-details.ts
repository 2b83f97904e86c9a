import { fromBase64, toBase64 } from '../../base/base64.ts';
import { isObject, type Loose } from '../../base/values.ts';
import type { ReasoningDetail } from '../../schema/chat/message.ts';
import type { Reading } from '../dialect.ts';
import { type PlacedThought, type Signer, signedBy, signerReader, type TextLengths } from '../shared/interleave.ts';
import { readsThoughtsOf } from '../shared/thought-bindings.ts';
import type { ModelTraits } from './model.ts';

type Format = ModelTraits['reasoningFormat'];

const encoder = new TextEncoder();
/** The id of a secret in a form that nobody knows: secrets of other providers have the same format. */
const ownId = 'bedrock-converse';

/** Returns the format of a model's thoughts, as its request gives it. */
export function formatOf({ reasoningFormat }: Reading): Format {
  return reasoningFormat === 'anthropic-claude-v1' ? reasoningFormat : 'unknown';
}

/** The place of a thought in a response. */
export interface ThoughtPlace {
  /** The index among the thoughts. */
  index: number;
  /** The lengths of the texts since the last thought. */
  texts: TextLengths;
}

/** Makes the detail of the text of a thought, or of a part of it. */
export function textDetail(
  text: string | null,
  signature: string | null,
  reading: Reading,
  { index, texts }: ThoughtPlace,
): ReasoningDetail {
  return {
    type: 'reasoning.text',
    ...(text === null ? {} : { text }),
    ...(signature === null ? {} : { signature, ...signedBy(reading.signer, texts) }),
    format: formatOf(reading),
    index,
  };
}

/**
 * Makes the detail of a thought that the provider keeps secret. Claude's is a text of its own, which Bedrock sends as
 * base64. Without that second layer, Claude takes the thought back at any provider that serves next.
 */
export function secretDetail(redacted: string, reading: Reading, { index, texts }: ThoughtPlace): ReasoningDetail {
  const format = formatOf(reading);
  const inner = format === 'unknown' ? null : innerText(redacted);
  return inner === null
    ? { type: 'reasoning.encrypted', id: ownId, data: redacted, format: 'unknown', index }
    : { type: 'reasoning.encrypted', data: inner, ...signedBy(reading.signer, texts), format, index };
}

/** Blocks of earlier reasoning, and whether all of it could become one. */
export interface ReplayedReasoning {
  blocks: PlacedThought[];
  isComplete: boolean;
  /** The places where the texts end that stood before thoughts. */
  textEnds: readonly number[];
}

interface Thought extends Signer {
  text: string;
  signature: string;
  index: unknown;
}

/**
 * Makes the provider's own blocks again of the details that clients kept of a response. Clients keep the pieces of a
 * stream as they came: each may hold a few letters, the last one the signature. Details that the model cannot read are
 * left out.
 */
export function reasoningBlocks(
  details: readonly ReasoningDetail[],
  traits: ModelTraits,
  upstreamModel: string,
): ReplayedReasoning {
  const blocks: (PlacedThought | null)[] = [];
  const signers = signerReader();
  const put = (block: Loose | null, { signer, textStart }: Signer) => {
    const isRead = block !== null && (signer === null || readsThoughtsOf(upstreamModel, signer));
    blocks.push(isRead ? { place: 0, textStart, block } : null);
  };
  let thought: Thought | null = null;
  for (const detail of details as readonly unknown[]) {
    if (!isObject(detail)) continue;
    const isText = detail.type === 'reasoning.text' && isOwn(detail, traits);
    if (thought !== null && !(isText && goesOn(thought, detail))) {
      put(textBlock(thought, traits), thought);
      thought = null;
    }
    if (!isText) put(isOwn(detail, traits) ? secretBlock(detail, traits) : null, signers.read(detail));
    else {
      thought ??= { text: '', signature: '', index: detail.index, signer: null, textStart: null };
      thought.text += textOf(detail.text);
      thought.signature += textOf(detail.signature);
      if (textOf(detail.signature) !== '') Object.assign(thought, signers.read(detail));
    }
  }
  if (thought !== null) put(textBlock(thought, traits), thought);
  const own = blocks.filter((block) => block !== null);
  return { blocks: own, isComplete: own.length === blocks.length, textEnds: signers.textEnds };
}

/**
 * true: a piece continues a thought. Text behind a signature is another thought. A piece without an index continues the
 * one before it.
 */
function goesOn(open: Thought, { text, index }: Loose): boolean {
  if (open.signature !== '' && textOf(text) !== '') return false;
  return typeof index !== 'number' || index === open.index;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** true: a detail is of this provider. One without a format may be: clients leave it out. */
function isOwn({ type, format, id }: Loose, { replay, reasoningFormat }: ModelTraits): boolean {
  if (replay === null) return false;
  if (format === 'unknown') return type === 'reasoning.encrypted' ? id === ownId : (id ?? null) === null;
  return format === undefined || format === null || format === reasoningFormat;
}

function textBlock({ text, signature }: Thought, { replay }: ModelTraits): Loose | null {
  if (signature !== '') return { reasoningContent: { reasoningText: { text, signature } } };
  return replay === 'plain' && text !== '' ? { reasoningContent: { reasoningText: { text } } } : null;
}

function secretBlock({ type, data, format }: Loose, { reasoningFormat }: ModelTraits): Loose | null {
  if (type !== 'reasoning.encrypted' || typeof data !== 'string' || data === '') return null;
  const isPlain = format === 'unknown' || reasoningFormat === 'unknown';
  return { reasoningContent: { redactedContent: isPlain ? data : toBase64(encoder.encode(data)) } };
}

const printable = /^[ -~]+$/;

/** Decodes base64 into its text; null where it is none, or could not be written the same way again. */
function innerText(base64: string): string | null {
  const bytes = fromBase64(base64);
  if (bytes === null || bytes.length === 0) return null;
  const text = new TextDecoder().decode(bytes);
  return printable.test(text) && toBase64(bytes) === base64 ? text : null;
}
