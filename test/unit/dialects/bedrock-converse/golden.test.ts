import { describe, expect, it } from 'vitest';
import { UpstreamError } from '../../../../src/base/http/upstream-error.ts';
import { bedrockConverse } from '../../../../src/dialects/bedrock-converse/index.ts';
import type { ChatRequest } from '../../../../src/schema/chat/chat.ts';
import { dialectRequests } from '../../../support/dialect-requests.ts';
import { type Golden, golden, goldenModel } from './golden.ts';

const cases = Object.entries(dialectRequests).map(
  ([name, request]) => [name, request as ChatRequest, golden[name as keyof typeof golden]] as const,
);
const sent = cases.flatMap(([name, request, one]) => ('payload' in one ? [[name, request, one] as const] : []));
const refused = cases.flatMap(([name, request, one]) => ('refused' in one ? [[name, request, one] as const] : []));

function encode(request: ChatRequest) {
  return bedrockConverse.encodeRequest({ request, upstreamModel: goldenModel, quirks: {} });
}

describe('Converse gets', () => {
  it.each(sent)('%s', (_, request, one: Extract<Golden, { payload: object }>) => {
    const before = structuredClone(request);
    const encoded = encode(request);
    expect(encoded.payload).toEqual(one.payload);
    expect(JSON.parse(encoded.body)).toEqual(one.payload);
    expect(encoded.dropped).toEqual(one.dropped ?? []);
    expect(encoded.structuredOutput).toBe(one.structuredOutput);
    expect(encoded.choices).toBe(1);
    const operation = one.operation ?? 'converse';
    expect(encoded.path).toBe(`/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/${operation}`);
    expect(encoded.headers).toEqual({
      'content-type': 'application/json',
      accept: operation === 'converse' ? 'application/json' : 'application/vnd.amazon.eventstream',
    });
    expect(request).toEqual(before);
  });

  it.each(refused)('no request at all for %s', (_, request, { refused: why }) => {
    expect(() => encode(request)).toThrow(
      expect.objectContaining({ message: expect.stringContaining(why), status: 400, fault: 'caller', isUnsent: true }),
    );
    expect(() => encode(request)).toThrow(UpstreamError);
  });

  it('a body for each of the requests, or a reason', () => {
    expect(sent.length + refused.length).toBe(Object.keys(dialectRequests).length);
    expect(refused.length).toBe(2);
  });
});
