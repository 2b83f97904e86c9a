import { describe, expect, it } from 'vitest';
import { chatRequestSchema } from '../../../../src/schema/chat/chat.ts';
import { validationIssues } from '../../../../src/schema/chat/validate.ts';

const messages = [{ role: 'user', content: 'Hello' }];

function issuesOf(body: unknown) {
  const result = chatRequestSchema().safeParse(body);
  return result.success ? [] : validationIssues(result.error);
}

const named = (name: string, more: object = {}) => ({ type: 'function', function: { name, ...more } });
const anyTool =
  'expected "function" or a server tool such as "service:web_search" or one of "web_search", "web_search_preview", "web_search_preview_2025_03_11", "web_search_2025_08_26"';

describe('tools', () => {
  it.each<[string, object]>([
    ['a function by its name alone', named('f')],
    ['a name of 256 characters', named('f'.repeat(256))],
    ['a whole function', named('f', { description: 'd', parameters: { type: 'object' }, strict: true })],
    ['null strict', named('f', { strict: null })],
    ['unknown fields at either level', { ...named('f', { own: 1 }), own: [2] }],
    ['cache control', { ...named('f'), cache_control: { type: 'ephemeral', ttl: '5m' } }],
    ['a server tool', { type: 'service:web_search', parameters: { engine: 'exa', max_results: 5 } }],
    ['a server tool without parameters', { type: 'service:datetime' }],
    ['a server tool under another brand', { type: 'openrouter:image_generation', parameters: { model: 'a/b' } }],
    ['a server tool under a brand with a hyphen', { type: 'acme-ai:bash', own: 1 }],
    ['an experimental server tool', { type: 'service:experimental__search_models' }],
    ['web search in short', { type: 'web_search' }],
    [
      'web search in short, whole',
      {
        type: 'web_search_2025_08_26',
        engine: 'exa',
        max_results: 3,
        max_total_results: 9,
        max_characters: 100,
        search_context_size: 'low',
        allowed_domains: ['a.org'],
        excluded_domains: ['b.org'],
        user_location: { type: 'approximate', city: 'Bern' },
      },
    ],
    ['web search preview', { type: 'web_search_preview' }],
    ['a dated web search preview', { type: 'web_search_preview_2025_03_11' }],
  ])('accept %s', (_name, tool) => {
    const body = { messages, tools: [tool] };
    expect(chatRequestSchema().parse(body)).toEqual(body);
  });

  it.each<[string, unknown, string, string]>([
    ['null', null, '', 'expected object'],
    ['a string', 'web_search', '', 'expected object'],
    ['no type', {}, '.type', anyTool],
    ['an unknown type', { type: 'functoin', function: { name: 'f' } }, '.type', anyTool],
    ['a server tool without brand', { type: ':bash' }, '.type', anyTool],
    ['a server tool without name', { type: 'service:' }, '.type', anyTool],
    ['a server tool with blanks', { type: 'service:a b' }, '.type', anyTool],
    ['no function', { type: 'function' }, '.function', 'expected object'],
    ['no name', { type: 'function', function: {} }, '.function.name', 'expected string'],
    ['a name of 257 characters', named('f'.repeat(257)), '.function.name', 'expected at most 256 characters'],
    ['a description that is no string', named('f', { description: 1 }), '.function.description', 'expected string'],
    ['parameters as a string', named('f', { parameters: '{}' }), '.function.parameters', 'expected object'],
    ['parameters as a list', named('f', { parameters: [] }), '.function.parameters', 'expected object'],
    ['null parameters', named('f', { parameters: null }), '.function.parameters', 'expected object'],
    ['strict as a string', named('f', { strict: 'true' }), '.function.strict', 'expected boolean'],
    ['server tool parameters as a list', { type: 'service:bash', parameters: [] }, '.parameters', 'expected object'],
    ['web search results as a string', { type: 'web_search', max_results: '5' }, '.max_results', 'expected integer'],
    [
      'an unknown context size',
      { type: 'web_search', search_context_size: 'xl' },
      '.search_context_size',
      'expected one of "low", "medium", "high"',
    ],
  ])('refuse %s', (_name, tool, path, message) => {
    expect(issuesOf({ messages, tools: [named('ok'), tool] })).toEqual([{ path: `tools[1]${path}`, message }]);
  });
});

describe('tool_choice', () => {
  it.each<unknown>([
    'none',
    'auto',
    'required',
    { type: 'function', function: { name: 'f' } },
    { type: 'service:web_search' },
    { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } },
  ])('accepts %j', (choice) => {
    const body = { messages, tool_choice: choice };
    expect(chatRequestSchema().parse(body)).toEqual(body);
  });

  it.each<[unknown, string, string]>([
    ['any', 'tool_choice', 'expected one of "none", "auto", "required" or object'],
    [1, 'tool_choice', 'expected one of "none", "auto", "required" or object'],
    [{}, 'tool_choice.type', 'expected "function" or string'],
    [{ type: 'function' }, 'tool_choice.function', 'expected object'],
    [{ type: 'function', name: 'f' }, 'tool_choice.function', 'expected object'],
    [{ type: 'function', function: { name: 1 } }, 'tool_choice.function.name', 'expected string'],
  ])('refuses %j', (choice, path, message) => {
    expect(issuesOf({ messages, tool_choice: choice })).toEqual([{ path, message }]);
  });
});
