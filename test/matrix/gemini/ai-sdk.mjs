// The AI SDK, with its provider for Google's generateContent.
import { equal } from 'node:assert/strict';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import * as ai from 'ai';
import { z as zod } from 'zod';
import { aiSdkChecksOf } from '../upstreams/ai-sdk.mjs';
import { apiKey } from '../upstreams/gateway.mjs';

const settings = { providerOptions: { google: { thinkingConfig: { includeThoughts: true } } } };

/** @returns checks of one model */
export function aiSdkChecks({ root, upstream, dialect }) {
  // With a slash in its name: this client then asks for it without `models/`.
  const model = createGoogleGenerativeAI({ baseURL: `${root}/v1beta`, apiKey })(`acme/${dialect}`);
  const { checks, streamCalls } = aiSdkChecksOf({ ai, zod }, { model, settings, upstream });
  return {
    ...checks,
    // This client looks for no error at the end of a stream: it says that the reason of the end is not known.
    async 'a stream that breaks off has no good end, and no call of it is run'() {
      upstream.begin({ call: 'cut' });
      const said = streamCalls();
      const types = [];
      for await (const { type } of said.stream) types.push(type);
      equal(types.includes('tool-call'), false);
      equal(['stop', 'tool-calls', 'length'].includes(await said.finishReason), false);
    },
  };
}
