import { describe, expect, it } from 'vitest';
import { openaiResponses } from '../../../../src/dialects/openai-responses/index.ts';
import { type DialectRequestName, dialectRequests } from '../../../support/dialect-requests.ts';
import { golden } from './golden.ts';

const names = Object.keys(dialectRequests) as DialectRequestName[];

describe('the request of', () => {
  it.each(names)('%s', (name) => {
    const wanted = golden[name];
    const before = structuredClone(dialectRequests[name]);
    const encode = () =>
      openaiResponses.encodeRequest({ request: dialectRequests[name], upstreamModel: 'gpt-5', quirks: {} });
    if ('refusal' in wanted) {
      expect(encode).toThrow(expect.objectContaining({ message: wanted.refusal, fault: 'caller', isUnsent: true }));
      return;
    }
    const { payload, dropped = [], structuredOutput } = wanted;
    const isStream = payload.stream === true;
    const encoded = encode();
    expect(JSON.parse(encoded.body)).toEqual(payload);
    expect(encoded).toEqual({
      path: '/responses',
      headers: { 'content-type': 'application/json', accept: isStream ? 'text/event-stream' : 'application/json' },
      payload,
      body: JSON.stringify(encoded.payload),
      choices: 1,
      dropped,
      ...(structuredOutput === undefined ? {} : { structuredOutput }),
    });
    expect(dialectRequests[name]).toEqual(before);
  });
});
