import type { ReasoningDetail } from '../../schema/chat/chat.ts';
import { reasoningDetailsSchema } from '../../schema/responses/result.ts';
import { pack, unpack } from './packed.ts';

/** The most depth of details. They are flat; the fields that a provider adds nest little. */
const maxDepth = 32;
/** The most details. A response has fewer. Checking many costs more than reading them. */
const mostDetails = 10_000;

/**
 * Packs reasoning details, for `encrypted_content` of a reasoning item. Agents send that field back as it is, and leave
 * out `signature` and `format`, without which the provider refuses its own reasoning.
 */
export function packReasoning(details: readonly ReasoningDetail[]): string {
  return pack('reasoning', details);
}

/** @returns null: the text is of another maker, or was damaged */
export function unpackReasoning(text: string): ReasoningDetail[] | null {
  const details = unpack('reasoning', text, maxDepth);
  if (!Array.isArray(details) || details.length > mostDetails) return null;
  return reasoningDetailsSchema().safeParse(details).data ?? null;
}
