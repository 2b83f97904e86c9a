import { describe, expectTypeOf, it } from 'vitest';
import * as z4 from 'zod';
import * as z3 from 'zod/v3';
import {
  type BuiltInSlug,
  builtInProviders,
  defineOperation,
  definePlugin,
  type EndpointOptions,
  type GatewayOptions,
  type ModelOptions,
  type PluginContext,
  type ProviderOptions,
} from '../../src/index.ts';

// Checked by the compiler; at run time most of these tests only say that they were there.
describe('types of the options', () => {
  it('have names that fit together', () => {
    const endpoint: EndpointOptions = { provider: 'openai', model: 'gpt-4.1' };
    const model: ModelOptions = { slug: 'openai/gpt-4.1', endpoints: [endpoint] };
    const local: ProviderOptions = { baseUrl: 'http://127.0.0.1:11434/v1' };
    const options: GatewayOptions = { models: [model], providers: { openai: { apiKey: 'sk' }, local } };
    expectTypeOf(options.models).toEqualTypeOf<GatewayOptions['models']>();
  });
  it('know the slugs that are built in, each of them, and take any other', ({ expect }) => {
    const known: Record<BuiltInSlug, true> = Object.fromEntries(
      builtInProviders.map(({ slug }) => [slug, true]),
    ) as never;
    expect(Object.keys(known)).toContain('sandbox');
    expectTypeOf<'openai'>().toExtend<BuiltInSlug>();
    expectTypeOf<'mine'>().not.toExtend<BuiltInSlug>();
    expectTypeOf<string>().not.toExtend<BuiltInSlug>();
    expectTypeOf<'mine'>().toExtend<EndpointOptions['provider']>();
    expectTypeOf<{ endpoints: [] }>().not.toExtend<ModelOptions>();
  });
  it('name a workspace by a plain string', () => {
    const apiKeys: GatewayOptions['apiKeys'] = [{ key: 'sk-change-me-please', workspaceId: 'some-id' }];
    expectTypeOf(apiKeys).toExtend<GatewayOptions['apiKeys']>();
  });
});

describe('schemas of the host app', () => {
  it('give their types to the operation', () => {
    const rest = { name: 'vote', method: 'POST', path: '/votes', permissions: ['inference'] } as const;
    const four = z4.object({ score: z4.number() });
    const three = z3.object({ score: z3.number() });
    defineOperation({
      ...rest,
      body: () => four,
      result: () => four,
      async run({ body }) {
        expectTypeOf(body.score).toEqualTypeOf<number>();
        return { kind: 'json', status: 200, body };
      },
    });
    defineOperation<{ score: number }>({
      ...rest,
      body: () => three,
      result: () => three,
      async run({ body }) {
        expectTypeOf(body.score).toEqualTypeOf<number>();
        return { kind: 'json', status: 200, body };
      },
    });
  });
  it('give their types to the plugin', () => {
    definePlugin({
      id: 'shout',
      options: () => z3.object({ times: z3.number() }),
      steps(context) {
        expectTypeOf(context).toEqualTypeOf<PluginContext<{ times: number }>>();
        return [];
      },
    });
  });
});
