import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { describe, expectTypeOf, it } from 'vitest';
import { type AiSdkModel, type AiSdkModels, fromAiSdk, type GatewayOptions } from '../../src/index.ts';

// Checked by the compiler; at run time these tests only say that they were there.
describe('types of models of the AI SDK', () => {
  it('take any language model of version 4, and no other', () => {
    expectTypeOf<LanguageModelV4>().toExtend<AiSdkModel>();
    expectTypeOf<
      Omit<LanguageModelV4, 'specificationVersion'> & { specificationVersion: 'v2' }
    >().not.toExtend<AiSdkModel>();
  });
  it('take providers of the AI SDK, which make models by their names', () => {
    expectTypeOf(createAnthropic({ apiKey: 'k' })).toExtend<AiSdkModels>();
    expectTypeOf(createGoogle({ apiKey: 'k' })).toExtend<AiSdkModels>();
  });
  it('fit into the options of a gateway', () => {
    const claude = fromAiSdk({ slug: 'claude', models: createAnthropic({ apiKey: 'k' }) });
    expectTypeOf({ providers: { claude } }).toExtend<Pick<GatewayOptions, 'providers'>>();
    // @ts-expect-error: one of `model` and `models` is needed
    fromAiSdk({ slug: 'none' });
  });
});
