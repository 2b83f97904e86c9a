import { expect } from 'vitest';
import type { EncodedRequest } from '../../../../src/dialects/dialect.ts';
import { encodeFitted } from '../../../../src/dialects/fit/index.ts';
import { googleGenerateContent } from '../../../../src/dialects/google-generate-content/index.ts';
import type { GoogleQuirks } from '../../../../src/dialects/google-generate-content/quirks.ts';
import type { ChatRequest } from '../../../../src/schema/chat/chat.ts';

export const ask = { role: 'user' as const, content: 'Hi' };

/** Encodes a question, with these fields in addition. */
export function encode(
  request: Partial<ChatRequest>,
  upstreamModel = 'gemini-2.5-flash',
  quirks: GoogleQuirks = {},
): EncodedRequest {
  return googleGenerateContent.encodeRequest({ request: { messages: [ask], ...request }, upstreamModel, quirks });
}

/** The same behind the stage that fits a request to the provider. */
export function encodeAsSent(
  request: Partial<ChatRequest>,
  upstreamModel = 'gemini-2.5-flash',
  quirks: GoogleQuirks = {},
): EncodedRequest {
  return encodeFitted(googleGenerateContent, { request: { messages: [ask], ...request }, upstreamModel, quirks });
}

export function partsOf({ payload }: EncodedRequest, at: number): unknown[] | undefined {
  return (payload.contents as { parts: unknown[] }[])[at]?.parts;
}

/** What a function throws; null: nothing. */
export function failure(make: () => unknown): unknown {
  try {
    make();
  } catch (error) {
    return error;
  }
  return null;
}

/** An error that sends the request to the next endpoint, or says to the caller what is wrong. */
export function refusal(message: string): unknown {
  return expect.objectContaining({ message, status: 400, fault: 'caller', isUnsent: true });
}
