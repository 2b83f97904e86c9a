import { describe, expect, it } from 'vitest';
import { googleGenerateContent } from '../../../../src/dialects/google-generate-content/index.ts';
import { chatRequestSchema } from '../../../../src/schema/chat/chat.ts';
import { type DialectRequestName, dialectRequests } from '../../../support/dialect-requests.ts';
import { golden } from './golden.ts';

describe('google-generate-content, a request', () => {
  it.each(Object.keys(golden) as DialectRequestName[])('encodes %s as Google documents it', (name) => {
    const request = chatRequestSchema().parse(dialectRequests[name]);
    const before = structuredClone(request);
    const encoded = googleGenerateContent.encodeRequest({ request, upstreamModel: 'gemini-2.5-flash', quirks: {} });
    const { headers, ...expected } = golden[name];
    const { body, headers: sent, ...rest } = encoded;
    expect(rest).toEqual({
      path: '/models/gemini-2.5-flash:generateContent',
      choices: 1,
      dropped: [],
      ...expected,
    });
    expect(sent).toEqual({ 'content-type': 'application/json', accept: 'application/json', ...headers });
    expect(JSON.parse(body)).toEqual(encoded.payload);
    expect(request).toEqual(before);
  });

  it('has a golden body for each', () => {
    expect(Object.keys(golden).sort()).toEqual(Object.keys(dialectRequests).sort());
  });
});
