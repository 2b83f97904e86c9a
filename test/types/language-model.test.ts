import type { LanguageModelV4, LanguageModelV4Content, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { describe, expectTypeOf, it } from 'vitest';
import type { AiSdkModel, Gateway, GatewayLanguageModel } from '../../src/index.ts';

// Checked by the compiler in `npm run check`; at run time these tests only say that they were there.
describe('a language model of the gateway', () => {
  it('is a LanguageModelV4 of the AI SDK, and a model for `fromAiSdk`', () => {
    expectTypeOf<GatewayLanguageModel>().toExtend<LanguageModelV4>();
    expectTypeOf<GatewayLanguageModel>().toExtend<AiSdkModel>();
    type Result = Awaited<ReturnType<GatewayLanguageModel['doGenerate']>>;
    expectTypeOf<Result>().toExtend<Awaited<ReturnType<LanguageModelV4['doGenerate']>>>();
    expectTypeOf<Result['content'][number]>().toExtend<LanguageModelV4Content>();
    type Streamed = Awaited<ReturnType<GatewayLanguageModel['doStream']>>['stream'];
    expectTypeOf<Streamed>().toExtend<ReadableStream<LanguageModelV4StreamPart>>();
    expectTypeOf<LanguageModelV4['doGenerate']>()
      .parameter(0)
      .toExtend<Parameters<GatewayLanguageModel['doGenerate']>[0]>();
  });
  it('has the fields of a request as settings', () => {
    const models = (gateway: Gateway) => [
      gateway.languageModel('acme/fast'),
      gateway.as({ permissions: ['inference'] }).languageModel('acme/fast', {
        models: ['acme/other'],
        provider: { order: ['up'], allow_fallbacks: false },
        session_id: 's-1',
        reasoning: { effort: 'high' },
        headers: { 'x-a': 'b' },
      }),
      // @ts-expect-error the call names the messages
      gateway.languageModel('acme/fast', { messages: [] }),
      // @ts-expect-error a slip
      gateway.languageModel('acme/fast', { sessionId: 's-1' }),
    ];
    expectTypeOf(models).parameters.toEqualTypeOf<[Gateway]>();
  });
});
