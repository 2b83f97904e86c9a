import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type ChatRequest, chatRequestSchema } from '../../../../src/schema/chat/chat.ts';
import { contradictions, validationIssues } from '../../../../src/schema/chat/validate.ts';

const user = { role: 'user', content: 'Hello' };

function issuesOf(body: unknown, limit?: number) {
  const result = chatRequestSchema().safeParse(body);
  return result.success ? [] : validationIssues(result.error, limit);
}

describe('validation issues', () => {
  it('name the real fault inside a union, not the union', () => {
    const message = { role: 'user', content: [{ type: 'image_url', image_url: { url: 5 } }] };
    expect(issuesOf({ messages: [user, message] })).toEqual([
      { path: 'messages[1].content[0].image_url.url', message: 'expected string' },
    ]);
  });

  it('come in the order of the contract, all of them', () => {
    expect(issuesOf({ temperature: 3, messages: [{ role: 'user' }, { role: 'x' }], stop: [1], top_p: 'x' })).toEqual([
      { path: 'messages[0].content', message: 'expected string or array' },
      { path: 'messages[1].role', message: 'expected one of "system", "user", "assistant", "tool", "developer"' },
      { path: 'temperature', message: 'expected at most 2' },
      { path: 'top_p', message: 'expected number' },
      { path: 'stop[0]', message: 'expected string' },
    ]);
  });

  it.each<[unknown, string, string]>([
    [{ a: 1 }, 'metadata.a', 'expected string'],
    [{ 'two words': 1 }, 'metadata["two words"]', 'expected string'],
    [{ 'quote"\n': 1 }, 'metadata["quote\\"\\n"]', 'expected string'],
    [{ 0: 1 }, 'metadata["0"]', 'expected string'],
    [{ ['k'.repeat(65)]: 'v' }, `metadata["${'k'.repeat(63)}…"]`, 'expected a key of at most 64 characters'],
    [{ k: 'v'.repeat(513) }, 'metadata.k', 'expected at most 512 characters'],
    [Object.fromEntries(Array.from({ length: 17 }, (_, i) => [i, ''])), 'metadata', 'expected at most 16 keys'],
  ])('write the path of %j', (metadata, path, message) => {
    expect(issuesOf({ messages: [user], metadata })).toEqual([{ path, message }]);
  });

  it.each<[object, string, string]>([
    [{ stop: 1 }, 'stop', 'expected string or array'],
    [{ stop: ['1', '2', '3', '4', '5'] }, 'stop', 'expected at most 4 items'],
    [{ stop: ['1', 2] }, 'stop[1]', 'expected string'],
    [{ seed: 1.5 }, 'seed', 'expected integer'],
    [{ seed: '1' }, 'seed', 'expected integer'],
    [{ seed: 2 ** 60 }, 'seed', 'expected at most 9007199254740991'],
    [{ max_tokens: 0 }, 'max_tokens', 'expected at least 1'],
    [{ route: 'x' }, 'route', 'expected one of "fallback", "sort" or object'],
    [{ image_config: { a: null } }, 'image_config.a', 'expected string or number or array'],
    [{ stop_server_tools_when: [] }, 'stop_server_tools_when', 'expected at least 1 item'],
    [
      { stop_server_tools_when: [{ type: 'max_cost' }] },
      'stop_server_tools_when[0].max_cost_in_dollars',
      'expected number',
    ],
    [{ stop_server_tools_when: { type: 'max_cost' } }, 'stop_server_tools_when.max_cost_in_dollars', 'expected number'],
    [{ response_format: { type: 'grammar' } }, 'response_format.grammar', 'expected string'],
    [{ cache_control: {} }, 'cache_control.type', 'expected "ephemeral"'],
  ])('say what was expected of %j', (fields, path, message) => {
    expect(issuesOf({ messages: [user], ...fields })).toEqual([{ path, message }]);
  });

  describe('never hold a value of the input', () => {
    afterEach(() => {
      z.config({ customError: undefined });
    });

    const secret = 'sk-very-secret';
    const bodies: unknown[] = [
      secret,
      { messages: secret },
      { messages: [{ role: secret, content: 'x' }] },
      { messages: [{ role: 'user', content: [{ type: secret }] }] },
      { messages: [user], temperature: secret, seed: secret, stop: { a: secret }, tool_choice: secret },
      { messages: [user], provider: { sort: secret, data_collection: secret, max_price: { prompt: secret } } },
      { messages: [user], tools: [{ type: secret }, { type: 'function', function: { name: secret.repeat(9) } }] },
      { messages: [user], plugins: [{ id: secret }], metadata: { k: secret.repeat(99) }, reasoning_effort: secret },
    ];

    it.each(bodies)('%j', (body) => {
      expect(issuesOf(body)).not.toEqual([]);
      expect(JSON.stringify(issuesOf(body))).not.toContain(secret);
    });

    it.each(bodies)('%j, not even with an error map that echoes it', (body) => {
      const plain = issuesOf(body);
      z.config({ customError: (issue) => `expected other than ${JSON.stringify(issue.input)}` });
      expect(issuesOf(body)).toEqual(plain);
    });
  });

  it('are bounded where a body fails in a million places', () => {
    const million = new Array(1_000_000).fill(1);
    const bodies = [
      { messages: million },
      { messages: [{ role: 'user', content: million }] },
      { messages: [user], tools: million, plugins: million, models: million, stop: million },
      { messages: [user], logit_bias: Object.fromEntries(million.slice(0, 100_000).map((_, i) => [i, 'x'])) },
      { messages: [user], metadata: Object.fromEntries(million.slice(0, 100_000).map((_, i) => [i, 1])) },
    ];
    for (const body of bodies) {
      const result = chatRequestSchema().safeParse(body);
      expect(result.error?.issues.length).toBeLessThanOrEqual(100);
      expect(issuesOf(body).length).toBeGreaterThan(0);
      expect(issuesOf(body).length).toBeLessThanOrEqual(100);
    }
  });

  it('are listed up to the limit, unknown keys too', () => {
    const provider = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`k${i}`, 1]));
    expect(issuesOf({ messages: [user], provider })).toHaveLength(100);
    expect(issuesOf({ messages: [user], provider }, 3).map(({ path }) => path)).toEqual([
      'provider.k0',
      'provider.k1',
      'provider.k2',
    ]);
  });

  it('of any zod schema are told, not only of ours', () => {
    const schema = z.object({
      id: z.uuid(),
      slug: z.string().regex(/^[a-z]+$/),
      even: z.number().multipleOf(2),
      limit: z.number().positive(),
      when: z.string().refine(() => false, 'leak'),
    });
    const result = schema.safeParse({ id: 'x', slug: 'X', even: 3, limit: 0, when: 'x' });
    expect(result.success ? [] : validationIssues(result.error)).toEqual([
      { path: 'id', message: 'expected a string of the form uuid' },
      { path: 'slug', message: 'expected a string of the form /^[a-z]+$/' },
      { path: 'even', message: 'expected a multiple of 2' },
      { path: 'limit', message: 'expected more than 0' },
      { path: 'when', message: 'expected another value' },
    ]);
  });
});

describe('contradictions', () => {
  const find = (body: object): string[] => contradictions(chatRequestSchema().parse(body)).map(({ path }) => path);
  const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } });
  const asks = (...ids: string[]) => ({ role: 'assistant', content: null, tool_calls: ids.map(call) });
  const answers = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'x' });
  const tools = [{ type: 'function', function: { name: 'f' } }, { type: 'service:bash' }];

  it.each<[string, object]>([
    ['nothing to contradict', { messages: [user] }],
    ['both efforts, the same', { messages: [user], reasoning_effort: 'low', reasoning: { effort: 'low' } }],
    ['one effort', { messages: [user], reasoning_effort: 'low', reasoning: { max_tokens: 5 } }],
    ['a null effort beside another', { messages: [user], reasoning_effort: null, reasoning: { effort: 'low' } }],
    ['a null effort inside', { messages: [user], reasoning_effort: 'low', reasoning: { effort: null } }],
    [
      'results after their calls',
      { messages: [user, asks('a', 'b'), answers('b'), answers('a'), asks('c'), answers('c')] },
    ],
    ['a call without its result', { messages: [user, asks('a')] }],
    ['parallel_tool_calls without tools', { messages: [user], parallel_tool_calls: true }],
    ['tool_choice by name only', { messages: [user], tool_choice: 'required' }],
    [
      'a forced function that is offered',
      { messages: [user], tools, tool_choice: { type: 'function', function: { name: 'f' } } },
    ],
    ['a forced server tool that is offered', { messages: [user], tools, tool_choice: { type: 'service:bash' } }],
    ['the same under a brand', { messages: [user], tools, tool_choice: { type: 'acme:bash' } }],
    [
      'web search, however it is written',
      {
        messages: [user],
        tools: [{ type: 'service:web_search' }],
        tool_choice: { type: 'web_search_preview_2025_03_11' },
      },
    ],
    [
      'web search in short, forced as a server tool',
      { messages: [user], tools: [{ type: 'web_search' }], tool_choice: { type: 'service:web_search' } },
    ],
    [
      'a choice among tools that are offered',
      {
        messages: [user],
        tools,
        tool_choice: {
          type: 'allowed_tools',
          allowed_tools: {
            mode: 'required',
            tools: [{ type: 'function', function: { name: 'f' } }, { type: 'service:bash' }],
          },
        },
      },
    ],
    [
      'a choice among nothing',
      { messages: [user], tools, tool_choice: { type: 'allowed_tools', allowed_tools: null } },
    ],
    ['a choice among what is no list', { messages: [user], tools, tool_choice: { type: 'allowed_tools', tools: {} } }],
  ])('are not found in %s', (_name, body) => {
    expect(find(body)).toEqual([]);
  });

  it.each<[string, object, string[]]>([
    [
      'efforts that differ',
      { messages: [user], reasoning_effort: 'low', reasoning: { effort: 'high' } },
      ['reasoning_effort'],
    ],
    ['a result without any call', { messages: [user, answers('a')] }, ['messages[1].tool_call_id']],
    ['a result before its call', { messages: [answers('a'), asks('a')] }, ['messages[0].tool_call_id']],
    [
      'a result of another call',
      { messages: [user, asks('a'), answers('a'), answers('z')] },
      ['messages[3].tool_call_id'],
    ],
    [
      'a forced function without tools',
      { messages: [user], tool_choice: { type: 'function', function: { name: 'f' } } },
      ['tool_choice.function.name'],
    ],
    [
      'a forced function that is not offered',
      { messages: [user], tools, tool_choice: { type: 'function', function: { name: 'g' } } },
      ['tool_choice.function.name'],
    ],
    [
      'a forced server tool without tools',
      { messages: [user], tool_choice: { type: 'service:web_search' } },
      ['tool_choice.type'],
    ],
    [
      'a forced server tool that is not offered',
      { messages: [user], tools, tool_choice: { type: 'service:f' } },
      ['tool_choice.type'],
    ],
    [
      'a forced hosted tool',
      { messages: [user], tools, tool_choice: { type: 'web_search_preview' } },
      ['tool_choice.type'],
    ],
    [
      'a hosted tool of another interface',
      { messages: [user], tools, tool_choice: { type: 'apply_patch' } },
      ['tool_choice.type'],
    ],
    [
      'a choice among tools that are not offered',
      {
        messages: [user],
        tools,
        tool_choice: {
          type: 'allowed_tools',
          allowed_tools: {
            mode: 'auto',
            tools: [{ type: 'function', function: { name: 'g' } }, { type: 'service:bash' }, null],
          },
        },
      },
      ['tool_choice.allowed_tools.tools[0]', 'tool_choice.allowed_tools.tools[2]'],
    ],
    [
      'several at once',
      { messages: [answers('a')], reasoning_effort: 'low', reasoning: { effort: 'none' } },
      ['reasoning_effort', 'messages[0].tool_call_id'],
    ],
  ])('are found in %s', (_name, body, paths) => {
    expect(find(body)).toEqual(paths);
  });

  it('never hold a value of the request', () => {
    const request: ChatRequest = {
      messages: [{ role: 'tool', tool_call_id: 'sk-secret', content: 'sk-secret' }],
      tool_choice: { type: 'function', function: { name: 'sk-secret' } },
    };
    for (const tool_choice of [request.tool_choice, { type: 'sk-secret' }]) {
      const found = contradictions({ ...request, tool_choice });
      expect(found).toHaveLength(2);
      expect(JSON.stringify(found)).not.toContain('sk-secret');
    }
  });

  it('are bounded too', () => {
    const messages = Array.from({ length: 1000 }, () => ({ role: 'tool' as const, tool_call_id: 'a', content: '' }));
    expect(contradictions({ messages })).toHaveLength(100);
    expect(contradictions({ messages }, 5)).toHaveLength(5);
    const tools = Array.from({ length: 1000 }, (_, at) => ({ type: `t${at}` }));
    const choice = { type: 'allowed_tools', allowed_tools: { tools } };
    expect(contradictions({ messages: [], tool_choice: choice })).toHaveLength(100);
    expect(contradictions({ messages: messages.slice(0, 60), tool_choice: choice })).toHaveLength(100);
  });
});
