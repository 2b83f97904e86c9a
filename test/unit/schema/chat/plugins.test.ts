import { describe, expect, it } from 'vitest';
import { chatRequestSchema } from '../../../../src/schema/chat/chat.ts';
import { pluginDefaults, pluginIds, pluginSchema } from '../../../../src/schema/chat/plugins.ts';
import { validationIssues } from '../../../../src/schema/chat/validate.ts';

const messages = [{ role: 'user', content: 'Hello' }];

function issuesOf(plugin: unknown) {
  const result = chatRequestSchema().safeParse({ messages, plugins: [plugin] });
  return result.success ? [] : validationIssues(result.error);
}

const tools = (count: number) =>
  Array.from({ length: count }, () => ({ type: 'service:web_fetch', parameters: { a: 1 } }));
const slugs = (count: number) => Array.from({ length: count }, (_, i) => `a/m${i}`);

describe('plugins', () => {
  it('are the nine of the contract', () => {
    expect([...pluginIds].sort()).toEqual(
      [
        'auto-router',
        'moderation',
        'web',
        'web-fetch',
        'file-parser',
        'response-healing',
        'context-compression',
        'pareto-router',
        'fusion',
      ].sort(),
    );
    expect(
      pluginSchema()
        .options.map((option) => option.shape.id.value)
        .sort(),
    ).toEqual([...pluginIds].sort());
  });

  it('have the defaults of the contract, beside the request', () => {
    expect(pluginDefaults).toEqual({
      'auto-router': { cost_quality_tradeoff: 7 },
      web: { max_results: 5 },
      'context-compression': { engine: 'middle-out' },
      fusion: { max_tool_calls: 8 },
    });
    for (const id of pluginIds) expect(pluginSchema().parse({ id })).toEqual({ id });
  });

  for (const id of pluginIds) {
    it(`${id}: takes enabled and fields of its own making, refuses another enabled`, () => {
      expect(issuesOf({ id })).toEqual([]);
      expect(pluginSchema().parse({ id, enabled: false, own: { a: 1 } })).toEqual({
        id,
        enabled: false,
        own: { a: 1 },
      });
      expect(issuesOf({ id, enabled: 'no' })).toEqual([{ path: 'plugins[0].enabled', message: 'expected boolean' }]);
      expect(issuesOf({ id, enabled: null })).toEqual([{ path: 'plugins[0].enabled', message: 'expected boolean' }]);
    });
  }

  it.each<object>([
    { id: 'auto-router', allowed_models: ['anthropic/*', 'a/b'], cost_quality_tradeoff: 0 },
    { id: 'auto-router', cost_quality_tradeoff: 10 },
    { id: 'web', engine: 'native' },
    { id: 'web', engine: 'exa' },
    { id: 'web', engine: 'firecrawl' },
    { id: 'web', engine: 'parallel' },
    { id: 'web', engine: 'perplexity', max_results: 1, max_uses: 1, search_prompt: 's' },
    { id: 'web', include_domains: ['a.org'], exclude_domains: [], user_location: { type: 'approximate', city: null } },
    { id: 'web-fetch', allowed_domains: ['a.org'], blocked_domains: [], max_content_tokens: 1, max_uses: 1 },
    { id: 'file-parser', pdf: {} },
    { id: 'file-parser', pdf: { engine: 'mistral-ocr' } },
    { id: 'file-parser', pdf: { engine: 'native' } },
    { id: 'file-parser', pdf: { engine: 'cloudflare-ai' } },
    { id: 'file-parser', pdf: { engine: 'pdf-text' } },
    { id: 'context-compression', engine: 'middle-out' },
    { id: 'pareto-router', min_coding_score: 0 },
    { id: 'pareto-router', min_coding_score: 1 },
    { id: 'fusion', model: 'a/b', analysis_models: slugs(1), max_tool_calls: 1, preset: 'general-high', tools: [] },
    { id: 'fusion', analysis_models: slugs(8), max_tool_calls: 16, preset: 'general-budget', tools: tools(8) },
    { id: 'fusion', preset: 'general-fast' },
  ])('accept %j', (plugin) => {
    expect(pluginSchema().parse(plugin)).toEqual(plugin);
  });

  it.each<[object, string, string]>([
    [{ id: 'auto-router', allowed_models: 'a/b' }, '.allowed_models', 'expected array'],
    [{ id: 'auto-router', allowed_models: [1] }, '.allowed_models[0]', 'expected string'],
    [{ id: 'auto-router', cost_quality_tradeoff: -1 }, '.cost_quality_tradeoff', 'expected at least 0'],
    [{ id: 'auto-router', cost_quality_tradeoff: 11 }, '.cost_quality_tradeoff', 'expected at most 10'],
    [{ id: 'auto-router', cost_quality_tradeoff: 1.5 }, '.cost_quality_tradeoff', 'expected integer'],
    [
      { id: 'web', engine: 'bing' },
      '.engine',
      'expected one of "native", "exa", "firecrawl", "parallel", "perplexity"',
    ],
    [{ id: 'web', max_results: '5' }, '.max_results', 'expected integer'],
    [{ id: 'web', max_results: 0 }, '.max_results', 'expected at least 1'],
    [{ id: 'web', max_uses: 0.5 }, '.max_uses', 'expected integer'],
    [{ id: 'web', include_domains: 'a.org' }, '.include_domains', 'expected array'],
    [{ id: 'web', user_location: { city: 'Bern' } }, '.user_location.type', 'expected "approximate"'],
    [{ id: 'web', user_location: { type: 'approximate', city: 1 } }, '.user_location.city', 'expected string'],
    [{ id: 'web-fetch', max_content_tokens: 0 }, '.max_content_tokens', 'expected at least 1'],
    [{ id: 'web-fetch', blocked_domains: [null] }, '.blocked_domains[0]', 'expected string'],
    [{ id: 'file-parser', pdf: 'native' }, '.pdf', 'expected object'],
    [
      { id: 'file-parser', pdf: { engine: 'x' } },
      '.pdf.engine',
      'expected one of "mistral-ocr", "native", "cloudflare-ai", "pdf-text"',
    ],
    [{ id: 'context-compression', engine: 'zip' }, '.engine', 'expected "middle-out"'],
    [{ id: 'pareto-router', min_coding_score: -0.01 }, '.min_coding_score', 'expected at least 0'],
    [{ id: 'pareto-router', min_coding_score: 1.01 }, '.min_coding_score', 'expected at most 1'],
    [{ id: 'fusion', model: 1 }, '.model', 'expected string'],
    [{ id: 'fusion', analysis_models: [] }, '.analysis_models', 'expected at least 1 item'],
    [{ id: 'fusion', analysis_models: slugs(9) }, '.analysis_models', 'expected at most 8 items'],
    [{ id: 'fusion', max_tool_calls: 0 }, '.max_tool_calls', 'expected at least 1'],
    [{ id: 'fusion', max_tool_calls: 17 }, '.max_tool_calls', 'expected at most 16'],
    [{ id: 'fusion', preset: 'x' }, '.preset', 'expected one of "general-high", "general-budget", "general-fast"'],
    [{ id: 'fusion', tools: tools(9) }, '.tools', 'expected at most 8 items'],
    [{ id: 'fusion', tools: [{}] }, '.tools[0].type', 'expected string'],
    [{ id: 'nope' }, '.id', `expected one of ${pluginIds.map((id) => `"${id}"`).join(', ')}`],
    [{}, '.id', `expected one of ${pluginIds.map((id) => `"${id}"`).join(', ')}`],
  ])('refuse %j', (plugin, path, message) => {
    expect(issuesOf(plugin)).toEqual([{ path: `plugins[0]${path}`, message }]);
  });
});
