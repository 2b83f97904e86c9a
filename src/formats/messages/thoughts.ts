import type { ReasoningDetail } from '../../schema/chat/chat.ts';
import { packReasoning, unpackReasoning } from '../responses/packed-reasoning.ts';

/** The `format` of reasoning details whose signatures an upstream of this wire has made. */
export const ownFormat = 'anthropic-claude-v1';

/**
 * Makes the opaque text of a thought, which clients give back as it is: the signature of an upstream of this wire, or all
 * details of the thought, packed, so that the provider that made them recognises them. It is never empty: the next
 * upstream would refuse an empty signature.
 */
export function sealThought(details: readonly ReasoningDetail[]): string {
  const [first] = details;
  if (details.length === 1 && first?.type === 'reasoning.text' && first.format === ownFormat && first.signature)
    return first.signature;
  return packReasoning(details);
}

/** Returns the details of a thought that was given back. */
export function openThought(text: string, signature: string, index: number): readonly ReasoningDetail[] {
  const packed = unpackReasoning(signature);
  if (packed !== null) return packed;
  const signed = signature === '' ? {} : { signature, format: ownFormat };
  return [{ type: 'reasoning.text', text, ...signed, index }];
}

/** Returns the details of a hidden thought that was given back. */
export function openHidden(data: string, index: number): readonly ReasoningDetail[] {
  return unpackReasoning(data) ?? [{ type: 'reasoning.encrypted', data, format: ownFormat, index }];
}
