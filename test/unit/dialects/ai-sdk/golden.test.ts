import { describe, expect, it } from 'vitest';
import { aiSdk } from '../../../../src/dialects/ai-sdk/index.ts';
import type { ChatRequest } from '../../../../src/schema/chat/chat.ts';
import { type DialectRequestName, dialectRequests } from '../../../support/dialect-requests.ts';
import { golden } from './golden.ts';

describe('what a language model of the AI SDK is called with for', () => {
  it.each(Object.keys(golden) as DialectRequestName[])('%s', (name) => {
    const request: ChatRequest = dialectRequests[name];
    const before = structuredClone(request);
    const encoded = aiSdk.encodeRequest({ request, upstreamModel: 'm-1', quirks: {} });
    expect(request).toEqual(before);
    expect(encoded.path).toBe('/language-model');
    expect(encoded.headers.accept).toBe(request.stream ? 'text/event-stream' : 'application/json');
    expect(encoded.payload).toEqual({ model: 'm-1', stream: false, ...golden[name].payload });
    expect(JSON.parse(encoded.body)).toEqual(encoded.payload);
    expect(encoded.choices).toBe(1);
    expect(encoded.dropped.toSorted()).toEqual((golden[name].dropped ?? []).toSorted());
    expect([encoded.structuredOutput, encoded.reading]).toEqual([golden[name].structuredOutput, undefined]);
  });
});
