import { describe, expect, it } from 'vitest';
import { UpstreamError } from '../../../../src/base/http/upstream-error.ts';
import { cohereChat } from '../../../../src/dialects/cohere-chat/index.ts';
import type { ChatRequest } from '../../../../src/schema/chat/chat.ts';
import { type DialectRequestName, dialectRequests } from '../../../support/dialect-requests.ts';
import { golden } from './golden.ts';

const encode = (request: ChatRequest) =>
  cohereChat.encodeRequest({ request, upstreamModel: 'command-a-03-2025', quirks: {} });

describe('the body that Cohere gets for', () => {
  it.each(Object.keys(golden) as DialectRequestName[])('%s', (name) => {
    const request: ChatRequest = dialectRequests[name];
    const expected = golden[name];
    const before = structuredClone(request);
    if ('refused' in expected) {
      expect(() => encode(request)).toThrow(UpstreamError);
      expect(() => encode(request)).toThrow(expected.refused);
      return;
    }
    const encoded = encode(request);
    expect(request).toEqual(before);
    expect(encoded.path).toBe('/chat');
    expect(encoded.headers).toEqual({
      'content-type': 'application/json',
      accept: request.stream ? 'text/event-stream' : 'application/json',
    });
    expect(encoded.payload).toEqual({ model: 'command-a-03-2025', stream: false, ...expected.payload });
    expect(JSON.parse(encoded.body)).toEqual(encoded.payload);
    expect(encoded.choices).toBe(1);
    expect(encoded.dropped.toSorted()).toEqual((expected.dropped ?? []).toSorted());
    expect(encoded.structuredOutput).toBe(expected.structuredOutput);
    expect(encoded.reading?.outputTool).toBe(expected.outputTool);
  });
});
