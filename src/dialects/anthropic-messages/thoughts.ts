import type { Loose } from '../../base/values.ts';
import type { ReasoningDetail } from '../../schema/message.ts';

/** The `format` of reasoning details that are Claude's, whoever hosts it. */
export const thoughtFormat = 'anthropic-claude-v1';

/** A block of an earlier response that goes back. */
export interface ThoughtBlock {
  /** Its place among the blocks of the response; null: not known. */
  place: number | null;
  /** As Anthropic sent it. */
  block: Loose;
}

/**
 * Puts the blocks together again that reasoning details came from. Clients keep the details of a stream as they came:
 * each may hold a few letters, and the last of a block its signature.
 * @returns `isComplete` false: some details are another provider's, or lack the signature without which Anthropic
 *   refuses them
 * @see https://platform.claude.com/docs/en/build-with-claude/extended-thinking "Preserving thinking blocks"
 */
export function thoughtBlocks(details: readonly ReasoningDetail[]): { blocks: ThoughtBlock[]; isComplete: boolean } {
  const blocks: ThoughtBlock[] = [];
  let isComplete = true;
  let open: { place: number | null; thinking: string; signature: string } | null = null;
  const close = () => {
    if (open === null) return;
    const { place, thinking, signature } = open;
    if (signature === '') isComplete = false;
    else blocks.push({ place, block: { type: 'thinking', thinking, signature } });
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
      blocks.push({ place, block: { type: 'redacted_thinking', data: detail.data } });
      continue;
    }
    // Without a place, a signature is what ends a block.
    if (open !== null && (open.place !== place || (place === null && open.signature !== ''))) close();
    open ??= { place, thinking: '', signature: '' };
    open.thinking += detail.text ?? '';
    if (detail.signature) open.signature = detail.signature;
  }
  close();
  return { blocks, isComplete };
}

/**
 * Puts thoughts among the other blocks of an assistant message, each where it stood: Anthropic refuses thoughts in
 * another order. The places between them go to the others, in their order.
 */
export function interleave(thoughts: readonly ThoughtBlock[], others: readonly Loose[]): Loose[] {
  const blocks: Loose[] = [];
  let next = 0;
  for (const { place, block } of thoughts) {
    while (place !== null && blocks.length < place && next < others.length) blocks.push(others[next++] as Loose);
    blocks.push(block);
  }
  return [...blocks, ...others.slice(next)];
}
