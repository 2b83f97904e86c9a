// The AI SDK, with its provider for Anthropic's messages.
import { equal } from 'node:assert/strict';
import { createAnthropic } from '@ai-sdk/anthropic';
import * as ai from 'ai';
import { z as zod } from 'zod';
import { aiSdkChecksOf } from '../upstreams/ai-sdk.mjs';
import { apiKey } from '../upstreams/gateway.mjs';

/** @returns checks of one model */
export function aiSdkChecks({ root, upstream, dialect }) {
  const model = createAnthropic({ baseURL: `${root}/v1`, apiKey })(`claude-${dialect}`);
  const settings = { maxOutputTokens: 4_000 };
  const { checks, streamCalls } = aiSdkChecksOf({ ai, zod }, { model, settings, upstream });
  return {
    ...checks,
    async 'a stream that breaks off is an error, and no call of it is run'() {
      upstream.begin({ call: 'cut' });
      const errors = [];
      const said = streamCalls({ onError: ({ error }) => errors.push(error) });
      const types = [];
      for await (const { type } of said.stream) types.push(type);
      equal(errors.length > 0, true, types.join());
      equal(types.includes('tool-result'), false);
    },
  };
}
