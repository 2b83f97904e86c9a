import type { ReasoningDetail } from '../../schema/chat/message.ts';
import { type PlacedThought, type Signer, signerReader } from '../shared/interleave.ts';

/** The `format` of reasoning details of Claude, on every host. */
export const thoughtFormat = 'anthropic-claude-v1';

/** A block of an earlier response that goes back, as Anthropic sent it. */
export type ThoughtBlock = PlacedThought & Signer;

interface OpenThought extends Signer {
  place: number | null;
  thinking: string;
  signature: string;
}

/** The thoughts of an earlier response. */
export interface ThoughtBlocks {
  blocks: ThoughtBlock[];
  /** false: some details are another provider's, or lack the signature without which Anthropic refuses them. */
  isComplete: boolean;
  /** The places where the texts end that stood before thoughts. */
  textEnds: readonly number[];
}

/**
 * Makes blocks again of the reasoning details that came from them. Clients keep the details of a stream as they came:
 * each may hold a few letters, and the last of a block its signature.
 * @see https://platform.claude.com/docs/en/build-with-claude/extended-thinking "Preserving thinking blocks"
 */
export function thoughtBlocks(details: readonly ReasoningDetail[]): ThoughtBlocks {
  const signers = signerReader();
  const blocks: ThoughtBlock[] = [];
  let isComplete = true;
  let open: OpenThought | null = null;
  const close = () => {
    if (open === null) return;
    const { thinking, signature, ...rest } = open;
    if (signature === '') isComplete = false;
    else blocks.push({ ...rest, block: { type: 'thinking', thinking, signature } });
    open = null;
  };
  for (const detail of details) {
    const place = typeof detail.index === 'number' ? detail.index : null;
    if (detail.format !== thoughtFormat || detail.type === 'reasoning.summary') {
      isComplete = false;
      continue;
    }
    if (detail.type === 'reasoning.encrypted') {
      close();
      blocks.push({ place, ...signers.read(detail), block: { type: 'redacted_thinking', data: detail.data } });
      continue;
    }
    // A signature ends a block. Another one may stand at the same place: agents keep the thought of a response that broke
    // off, and send it back before that of the response which took its place.
    if (open !== null && (open.place !== place || (open.signature !== '' && saysMore(detail, open, place)))) close();
    open ??= { place, thinking: '', signature: '', signer: null, textStart: null };
    open.thinking += detail.text ?? '';
    if (detail.signature) Object.assign(open, signers.read(detail), { signature: detail.signature });
  }
  close();
  return { blocks, isComplete, textEnds: signers.textEnds };
}

/** Tells whether a detail behind the signature of a block is of another block. */
function saysMore({ text, signature }: ReasoningDetail, open: OpenThought, place: number | null): boolean {
  return place === null || Boolean(text) || (Boolean(signature) && signature !== open.signature);
}
