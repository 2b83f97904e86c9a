import { fromBase64, fromBase64Url, toBase64 } from '../../base/base64.ts';
import type { ReasoningDetail } from '../../schema/chat/chat.ts';
import { isPacked } from '../responses/packed.ts';
import { packReasoning, unpackReasoning } from '../responses/packed-reasoning.ts';

/** The `format` of reasoning details whose signatures Google has made. */
export const googleFormat = 'google-gemini-v1';

/** The beginning of the base64 of every packed thought, which tells it from a signature of Google's at once. */
const beginning = toBase64(new TextEncoder().encode('gateway-')).slice(0, 10);

/**
 * Packs the thoughts of a provider other than Google into a `thoughtSignature`, which clients give back as it is, so that
 * the provider that made them recognises them. The field has bytes, so it is base64.
 */
export function sealThoughts(details: readonly ReasoningDetail[]): string {
  return toBase64(new TextEncoder().encode(packReasoning(details)));
}

/** true: the signature is one that the gateway has made. */
export function isSealed(signature: string): boolean {
  return signature.startsWith(beginning);
}

/** @returns the thoughts in a signature; null: the signature is of another maker, or was damaged */
export function openThoughts(signature: string): readonly ReasoningDetail[] | null {
  if (!isSealed(signature)) return null;
  const bytes = fromBase64(signature) ?? fromBase64Url(signature);
  if (bytes === null) return null;
  const text = new TextDecoder().decode(bytes);
  return isPacked(text) ? unpackReasoning(text) : null;
}
