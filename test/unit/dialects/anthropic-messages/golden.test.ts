import { describe, expect, it } from 'vitest';
import { anthropicMessages } from '../../../../src/dialects/anthropic-messages/index.ts';
import type { ChatRequest } from '../../../../src/schema/chat/chat.ts';
import { type DialectRequestName, dialectRequests } from '../../../support/dialect-requests.ts';
import { golden } from './golden.ts';

const upstreamModel = 'claude-sonnet-4-5-20250929';
const cases = Object.entries(dialectRequests) as [DialectRequestName, ChatRequest][];

describe('the body of', () => {
  it.each(cases)('%s', (name, request) => {
    const expected = golden[name];
    const before = structuredClone(request);
    const encode = () => anthropicMessages.encodeRequest({ request, upstreamModel, quirks: {} });
    if ('refused' in expected) {
      expect(encode).toThrow(
        expect.objectContaining({
          message: expect.stringMatching(new RegExp(`^${expected.refused.replace(/[[\].]/g, '\\$&')}`)),
          status: 400,
          fault: 'caller',
          isUnsent: true,
        }),
      );
      return;
    }
    const { path, headers, payload, body, choices, dropped, structuredOutput, reading } = encode();
    expect(payload).toEqual({ model: upstreamModel, max_tokens: 32_000, ...expected.body });
    expect(JSON.parse(body)).toEqual(payload);
    expect([...dropped].sort()).toEqual(expected.dropped ?? []);
    expect(structuredOutput).toBe(expected.structuredOutput);
    expect([path, choices, reading]).toEqual(['/messages', 1, undefined]);
    expect(headers).toEqual({
      'content-type': 'application/json',
      accept: request.stream === true ? 'text/event-stream' : 'application/json',
      'anthropic-version': '2023-06-01',
    });
    // The next target gets the same request.
    expect(request).toEqual(before);
  });
});
