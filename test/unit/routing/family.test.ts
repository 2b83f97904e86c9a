import { describe, expect, it } from 'vitest';
import type { Model } from '../../../src/call/model.ts';
import { snapshot } from '../../../src/catalog/snapshot.ts';
import { authorOf, familyOf, newestFirst } from '../../../src/routing/family.ts';
import type { ModelSettings } from '../../../src/setup/options/model.ts';
import { excludedBy, modelOf, modelsOf, order, planFor, refusalOf, type World } from '../../support/routing.ts';

const named = (slug: string, known: Partial<Model> = {}) => modelOf(slug, { a: {} }, known);

describe('the families of the built-in models', () => {
  const models = (JSON.parse(snapshot) as ModelSettings[]).map(({ slug }) => named(slug));
  const families = Map.groupBy(models, (model) => `~${authorOf(model.slug)}/${familyOf(model)}-latest`);

  it('are these, the newest first', () => {
    const table = [...families].map(([family, members]) => {
      const names = newestFirst(members).map(({ slug }) => slug.slice(slug.indexOf('/') + 1));
      return `${family}: ${names.join(', ')}`;
    });
    expect(table.sort()).toEqual([
      '~amazon/nova-lite-latest: nova-2-lite-v1',
      '~amazon/nova-pro-latest: nova-pro-v1',
      '~anthropic/claude-haiku-latest: claude-haiku-5.5, claude-haiku-4.5',
      '~anthropic/claude-opus-latest: claude-opus-5.5, claude-opus-4.8',
      '~anthropic/claude-sonnet-latest: claude-sonnet-5.5, claude-sonnet-4.6',
      '~cohere/command-a-latest: command-a',
      '~deepseek/deepseek-flash-latest: deepseek-v4.1-flash, deepseek-v4-flash',
      '~deepseek/deepseek-latest: deepseek-v3.2, deepseek-r1-0528',
      '~deepseek/deepseek-pro-latest: deepseek-v4-pro',
      '~google/gemini-flash-latest: gemini-3.8-flash, gemini-2.5-flash',
      '~google/gemini-flash-lite-latest: gemini-2.5-flash-lite',
      '~google/gemini-pro-latest: gemini-3.1-pro-preview, gemini-2.5-pro',
      '~google/gemma-latest: gemma-4-31b-it',
      '~inception/mercury-latest: mercury-2',
      '~meta-llama/llama-latest: llama-3.3-70b-instruct, llama-3.1-8b-instruct',
      '~meta-llama/llama-maverick-latest: llama-4-maverick',
      '~meta-llama/llama-scout-latest: llama-4-scout',
      '~minimax/minimax-latest: minimax-m3, minimax-m2.7, minimax-m2.5',
      '~mistralai/devstral-latest: devstral-2512',
      '~mistralai/mistral-large-latest: mistral-large-2512',
      '~mistralai/mistral-small-latest: mistral-small-2603',
      '~moonshotai/kimi-latest: kimi-k3, kimi-k2.6, kimi-k2.5',
      '~moonshotai/kimi-thinking-latest: kimi-k2-thinking',
      '~nvidia/nemotron-super-latest: nemotron-3-super-120b-a12b',
      '~openai/gpt-latest: gpt-5.5, gpt-4.1, gpt-4o',
      '~openai/gpt-luna-latest: gpt-6-luna',
      '~openai/gpt-mini-latest: gpt-5.4-mini, gpt-5-mini, gpt-4.1-mini, gpt-4o-mini',
      '~openai/gpt-oss-latest: gpt-oss-120b, gpt-oss-20b',
      '~openai/gpt-sol-latest: gpt-6.1-sol, gpt-6-sol',
      '~openai/o-latest: o3',
      '~perplexity/sonar-latest: sonar',
      '~perplexity/sonar-pro-latest: sonar-pro',
      '~qwen/qwen-coder-latest: qwen3-coder',
      '~qwen/qwen-latest: qwen3.6-35b-a3b, qwen3.5-397b-a17b, qwen3-235b-a22b-2507, qwen3-32b',
      '~qwen/qwen-max-latest: qwen3.7-max',
      '~qwen/qwen-next-latest: qwen3-next-80b-a3b-instruct',
      '~stepfun/step-flash-latest: step-3.5-flash',
      '~x-ai/grok-latest: grok-4.7, grok-4.3',
      '~xiaomi/mimo-pro-latest: mimo-v2.5-pro',
      '~z-ai/glm-air-latest: glm-4.5-air',
      '~z-ai/glm-latest: glm-5.3, glm-5.2, glm-5.1, glm-4.7',
    ]);
  });
});

describe('the family of', () => {
  it.each([
    ['claude-3-5-sonnet-20241022', 'claude-sonnet'],
    ['claude-sonnet-4.5', 'claude-sonnet'],
    ['gpt-4o', 'gpt'],
    ['gpt-4o-2024-08-06', 'gpt'],
    ['gpt-5.1-chat', 'gpt'],
    ['gpt-4o-mini', 'gpt-mini'],
    ['o4-mini', 'o-mini'],
    ['gpt-oss-120b', 'gpt-oss'],
    ['gemini-2.5-pro-preview', 'gemini-pro'],
    ['gemini-2.0-flash-001', 'gemini-flash'],
    ['mixtral-8x7b-instruct', 'mixtral'],
    ['qwen3-235b-a22b-2507', 'qwen'],
    ['qwen-2.5-coder-32b-instruct', 'qwen-coder'],
    ['kimi-k2-0905', 'kimi'],
    ['deepseek-chat-v3.1', 'deepseek'],
    ['llama-3.1-405b', 'llama'],
    ['glm-4.5-air', 'glm-air'],
    ['command-a', 'command-a'],
    ['phi-4-mini-instruct', 'phi-mini'],
    ['gpt-4.1:free', 'gpt'],
    ['4', '4'],
  ])('%s is %s', (name, family) => {
    expect(familyOf(named(`acme/${name}`))).toBe(family);
  });
  it('a model is what its owner says', () => {
    expect(familyOf(named('acme/gpt-4', { family: 'our-own' }))).toBe('our-own');
  });
});

describe('of a family the newest is', () => {
  it.each<[string, string[]]>([
    ['of the higher version', ['x-10', 'x-9.1', 'x-9', 'x-2.5.1', 'x-2.5', 'x']],
    ['of the higher version, before the later date', ['x-4.5', 'x-4-20250514', 'x-4', 'x-3-20261231']],
    ['of the later date, where the version is the same', ['x3-235b-2507', 'x3-235b-2504', 'x3-235b']],
    ['of the later day', ['x-4o-2024-11-20', 'x-4o-2024-08-06', 'x-4o']],
    ['not the larger', ['x-3.1-8b', 'x-3-405b', 'x2-70b-a22b', 'x-1-8x22b']],
    ['not the one of more numbers', ['x-5-mini-it', 'x-4.1.9-mini']],
  ])('%s', (_, names) => {
    const models = names.map((name) => named(`acme/${name}`));
    for (const given of [models, [...models].reverse()])
      expect(newestFirst(given).map(({ slug }) => slug)).toEqual(names.map((name) => `acme/${name}`));
  });
  it('the one that came out last, where that is known of all', () => {
    const models = [named('m/x-9', { created: 1 }), named('m/x-1', { created: 3 }), named('m/x-5', { created: 2 })];
    expect(newestFirst(models).map(({ slug }) => slug)).toEqual(['m/x-1', 'm/x-5', 'm/x-9']);
    const unsure = [...models, named('m/x-2')];
    expect(newestFirst(unsure).map(({ slug }) => slug)).toEqual(['m/x-9', 'm/x-5', 'm/x-2', 'm/x-1']);
  });
});

describe('~author/family-latest', () => {
  const models = [
    modelOf('m/x-1', { a: { price: 1 }, b: { price: 2 } }),
    modelOf('m/x-2', { a: { price: 3 }, b: { price: 2 } }),
    modelOf('m/x-2:free', { a: { price: 0 } }),
    modelOf('m/x-mini-7', { a: {} }),
    modelOf('n/x-9', { a: {} }),
    modelOf('m/special', { a: {} }, { family: 'x-pro' }),
  ];
  const world: World = { models };

  it('is the newest of its author’s family', () => {
    const plan = planFor(world, { model: '~m/x-latest' });
    expect([modelsOf(plan), order(plan), plan.strategy, plan.requested, plan.params]).toEqual([
      ['m/x-2'],
      ['b', 'a'],
      'latest',
      '~m/x-latest',
      { version_group: 'm/x' },
    ]);
    expect(plan.router).toBe(null);
  });
  it.each([
    ['~m/x-mini-latest', 'm/x-mini-7'],
    ['~n/x-latest', 'n/x-9'],
    ['~m/x-pro-latest', 'm/special'],
  ])('%s is %s', (model, slug) => {
    expect(modelsOf(planFor(world, { model }))).toEqual([slug]);
  });
  it('is the newest that can be reached', () => {
    const newer = { models: [...models, modelOf('m/x-3', { z: {} }), modelOf('m/x-4', { a: { isDisabled: true } })] };
    expect(modelsOf(planFor({ ...newer, usable: ['a', 'b'] }, { model: '~m/x-latest' }))).toEqual(['m/x-2']);
    const refused = refusalOf({ ...newer, usable: [] }, { model: '~m/x-latest' });
    expect([refused.status, excludedBy(refused.metadata as never)]).toEqual([404, { a: 'disabled' }]);
  });
  it('takes suffixes, and may be one of several', () => {
    expect(order(planFor(world, { model: '~m/x-latest:floor' }))).toEqual(['b', 'a']);
    expect(refusalOf(world, { model: '~m/x-latest:free' }).status).toBe(404);
    const plan = planFor(world, { models: ['n/x-9', '~m/x-latest'] });
    expect([modelsOf(plan), plan.strategy]).toEqual([['n/x-9', 'm/x-2'], 'fallback']);
  });
  it.each(['~m/y-latest', '~z/x-latest', '~m/x', 'm/x-latest', '~m/-latest', '~/x-latest', '~m/x-latest-latest', '~'])(
    '%s is nobody: 400',
    (model) => {
      expect(refusalOf(world, { model }).status).toBe(400);
    },
  );
});
