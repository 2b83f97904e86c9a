// Loaded beforehand: the prices of built-in providers take time that a manual clock knows nothing of.
import '@pydantic/genai-prices';
import { describe, expect, it } from 'vitest';
import { findFacts, modelFacts } from '../../src/catalog/model-facts/index.ts';
import { refusedBy } from '../../src/catalog/model-facts/use.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { hello, type TestGateway, testGateway } from '../support/gateway.ts';
import { chunk, completion, sse } from '../support/upstream.ts';

type Dialect = NonNullable<NonNullable<GatewayOptions['providers']>[string]>['dialect' & keyof object];

const sampling = { temperature: 0.2, top_p: 0.9 };
const everything = {
  ...sampling,
  frequency_penalty: 0.5,
  presence_penalty: 0.5,
  logprobs: true,
  top_logprobs: 2,
  stop: ['END'],
  seed: 7,
};
const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } };
const forced = { tools: [tool], tool_choice: 'required' };
const ofSampling = ['temperature', 'top_p', 'frequency_penalty', 'presence_penalty', 'logprobs', 'top_logprobs'];

/** A row of the table, tried: a model, who serves it, what is asked, what is not sent, and what is sent instead. */
interface Tried {
  row: string;
  model: string;
  provider?: string;
  ask: Record<string, unknown>;
  dropped: string[];
  sent?: Record<string, unknown>;
}

const tried: Tried[] = [
  {
    row: 'OpenAI: no sampling but its own',
    model: 'gpt-4.1',
    ask: { top_k: 5, min_p: 0.1, temperature: 0.2 },
    dropped: ['top_k', 'min_p'],
    sent: { temperature: 0.2 },
  },
  {
    row: 'OpenAI: o1-mini, o1-preview',
    model: 'o1-mini',
    ask: { ...sampling, messages: [{ role: 'system', content: 'Be brief' }, ...hello] },
    dropped: ['temperature', 'top_p'],
    // A provider without a profile of its own gets turns.
    sent: { messages: [{ role: 'user', content: `Be brief\n\n${hello[0]?.content}` }] },
  },
  {
    row: 'OpenAI: o1',
    model: 'o1',
    ask: { ...everything, tools: [tool], parallel_tool_calls: false },
    dropped: [...ofSampling, 'parallel_tool_calls'],
    sent: { stop: ['END'] },
  },
  {
    row: 'OpenAI: o3, o4',
    model: 'o4-mini-2025-04-16',
    ask: everything,
    dropped: [...ofSampling, 'stop'],
    sent: { seed: 7 },
  },
  {
    row: 'OpenAI: o3, o4',
    model: 'o3',
    ask: { reasoning_effort: 'xhigh', max_tokens: 100 },
    dropped: [],
    sent: { reasoning_effort: 'high', max_completion_tokens: 100 },
  },
  {
    row: 'OpenAI: GPT-5',
    model: 'gpt-5-mini',
    ask: { ...everything, max_tokens: 100 },
    dropped: [...ofSampling, 'stop'],
    sent: { max_completion_tokens: 100 },
  },
  {
    row: 'OpenAI: GPT-5',
    model: 'gpt-5-2025-08-07',
    ask: { reasoning_effort: 'none' },
    dropped: ['reasoning_effort'],
    sent: { reasoning_effort: 'minimal' },
  },
  {
    row: 'OpenAI: GPT-5.1 to 5.4, where they think',
    model: 'gpt-5.2',
    ask: { ...sampling, reasoning_effort: 'high' },
    dropped: ['temperature', 'top_p'],
  },
  { row: 'OpenAI: GPT-5.1 to 5.4, where they think', model: 'gpt-5.4', ask: sampling, dropped: [], sent: sampling },
  {
    row: 'OpenAI: GPT-5.1',
    model: 'gpt-5.1',
    ask: { reasoning_effort: 'xhigh' },
    dropped: [],
    sent: { reasoning_effort: 'high' },
  },
  {
    row: 'OpenAI: GPT-5.2 to 5.5',
    model: 'gpt-5.2',
    ask: { reasoning_effort: 'minimal' },
    dropped: [],
    sent: { reasoning_effort: 'low' },
  },
  {
    row: 'OpenAI: GPT-5.5 and later',
    model: 'gpt-5.6-sol',
    ask: { temperature: 0.3, stop: 'END' },
    dropped: ['temperature', 'stop'],
  },
  { row: 'OpenAI: pro and codex', model: 'gpt-5.3-codex', ask: sampling, dropped: ['temperature', 'top_p'] },
  {
    row: 'OpenAI: GPT-5 pro',
    model: 'gpt-5-pro',
    ask: { reasoning_effort: 'low' },
    dropped: [],
    sent: { reasoning_effort: 'high' },
  },
  {
    row: 'OpenAI: GPT-5.2 pro and later',
    model: 'gpt-5.2-pro',
    ask: { reasoning_effort: 'low' },
    dropped: [],
    sent: { reasoning_effort: 'medium' },
  },
  { row: 'OpenAI: GPT-5.1 chat and later', model: 'gpt-5.2-chat', ask: { temperature: 0 }, dropped: ['temperature'] },
  {
    row: 'Claude: no sampling but its own',
    model: 'anthropic/claude-3-5-haiku',
    ask: { seed: 7, frequency_penalty: 0.5, ...sampling },
    dropped: ['seed', 'frequency_penalty'],
    sent: sampling,
  },
  {
    row: 'Claude 4.1 to 4.6: temperature or top_p',
    model: 'claude-opus-4-1',
    ask: sampling,
    dropped: ['top_p'],
    sent: { temperature: 0.2 },
  },
  {
    row: 'Claude 3.7 to 4.6, where they think',
    model: 'claude-sonnet-4-5',
    ask: { temperature: 0.2, reasoning_effort: 'high', ...forced },
    dropped: ['temperature', 'tool_choice'],
    sent: { tool_choice: 'auto' },
  },
  {
    row: 'Claude 3.7 to 4.6, where they think: no forced tools',
    model: 'claude-opus-4-6',
    ask: { temperature: 0.2, top_p: 0.97, reasoning_effort: 'high', ...forced },
    dropped: ['temperature', 'tool_choice'],
    sent: { top_p: 0.97, tool_choice: 'auto' },
  },
  {
    row: 'Claude 3.7 to 4.6, where they think',
    model: 'claude-sonnet-4',
    ask: { temperature: 1, reasoning_effort: 'high' },
    dropped: [],
    sent: { temperature: 1 },
  },
  {
    row: 'Claude 4.7 and later: no sampling',
    model: 'us.anthropic.claude-opus-4-7-v1:0',
    ask: { ...sampling, top_k: 5 },
    dropped: ['temperature', 'top_p', 'top_k'],
  },
  {
    row: 'Claude 5.5 and later: no forced tools',
    model: 'claude-opus-5-5',
    ask: forced,
    dropped: ['tool_choice'],
    sent: { tool_choice: 'auto' },
  },
  {
    row: 'Gemini 2.5 pro: always thinks',
    model: 'gemini-2.5-pro',
    ask: { reasoning_effort: 'none' },
    dropped: ['reasoning_effort'],
    sent: { reasoning_effort: 'minimal' },
  },
  {
    row: 'Gemini 2.5 flash',
    model: 'google/gemini-2.5-flash',
    ask: { reasoning_effort: 'xhigh' },
    dropped: [],
    sent: { reasoning_effort: 'high' },
  },
  {
    row: 'Gemini 3 pro: two levels',
    model: 'gemini-3-pro-preview',
    ask: { reasoning_effort: 'medium' },
    dropped: [],
    sent: { reasoning_effort: 'high' },
  },
  {
    row: 'Gemini 3.1 pro and later: three levels',
    model: 'gemini-3.1-pro',
    ask: { reasoning_effort: 'minimal' },
    dropped: [],
    sent: { reasoning_effort: 'low' },
  },
  {
    row: 'Gemini 3 flash: four levels',
    model: 'gemini-3-flash-preview',
    ask: { reasoning: { enabled: false } },
    dropped: ['reasoning.enabled'],
    sent: { reasoning_effort: 'minimal' },
  },
  {
    row: 'DeepSeek reasoner',
    model: 'deepseek-reasoner',
    ask: { ...sampling, logprobs: true },
    dropped: ['temperature', 'top_p', 'logprobs'],
  },
  {
    row: 'DeepSeek, where it thinks',
    model: 'deepseek-chat',
    provider: 'deepseek',
    ask: { temperature: 0.2, reasoning_effort: 'high' },
    dropped: ['temperature'],
  },
  {
    row: 'DeepSeek, where it thinks',
    model: 'deepseek-chat',
    provider: 'deepseek',
    ask: { temperature: 0.2 },
    dropped: [],
    sent: { temperature: 0.2 },
  },
  {
    row: 'Grok, where it thinks',
    model: 'grok-4.3',
    ask: { presence_penalty: 0.5, stop: ['END'], temperature: 0.2 },
    dropped: ['presence_penalty', 'stop'],
    sent: { temperature: 0.2 },
  },
  {
    row: 'Grok without effort',
    model: 'grok-4-0709',
    ask: { reasoning_effort: 'high' },
    dropped: ['reasoning_effort'],
  },
  {
    row: 'Grok 3 mini: two efforts',
    model: 'grok-3-mini',
    ask: { reasoning_effort: 'medium' },
    dropped: [],
    sent: { reasoning_effort: 'high' },
  },
  {
    row: 'Grok 4.3: four efforts',
    model: 'grok-4.3',
    ask: { reasoning_effort: 'xhigh' },
    dropped: [],
    sent: { reasoning_effort: 'high' },
  },
  {
    row: 'Grok 4.5 and later: cannot stop thinking',
    model: 'grok-4.5',
    ask: { reasoning_effort: 'none' },
    dropped: ['reasoning_effort'],
    sent: { reasoning_effort: 'low' },
  },
  {
    row: 'Kimi K2.5 and later: fixed sampling',
    model: 'kimi-k2.5',
    provider: 'moonshotai',
    ask: { ...sampling, ...forced },
    dropped: ['temperature', 'top_p', 'tool_choice'],
    sent: { tool_choice: 'auto' },
  },
  {
    row: 'Kimi K2 thinking',
    model: 'kimi-k2-thinking',
    provider: 'moonshotai',
    ask: { temperature: 0.6, ...forced },
    dropped: ['tool_choice'],
    sent: { temperature: 0.6, tool_choice: 'auto' },
  },
  {
    row: 'Magistral: thinks by itself',
    model: 'magistral-medium-latest',
    provider: 'mistral',
    ask: { reasoning_effort: 'high' },
    dropped: ['reasoning_effort'],
  },
  {
    row: 'Mistral small and medium: two efforts',
    model: 'mistral-small-latest',
    provider: 'mistral',
    ask: { reasoning_effort: 'low' },
    dropped: [],
    sent: { reasoning_effort: 'high' },
  },
  {
    row: 'Qwen 3 of open weights, where it thinks: streams only',
    model: 'qwen3-32b',
    provider: 'alibaba',
    ask: { reasoning_effort: 'high' },
    dropped: ['reasoning_effort'],
    sent: { enable_thinking: false },
  },
  {
    row: 'GLM: tools by its own choice, one stop text',
    model: 'glm-4.6',
    provider: 'z-ai',
    ask: { ...forced, stop: ['A', 'B'], frequency_penalty: 1 },
    dropped: ['frequency_penalty', 'tool_choice', 'stop'],
    sent: { stop: ['A'], tool_choice: 'auto' },
  },
];

function serving(provider: string, model: string, slug = 'acme/it', more: object = {}): TestGateway {
  const settings =
    provider === 'up' ? { baseUrl: 'https://up.test/v1', ...more } : { apiKey: 'sk-0123456789', ...more };
  return testGateway({
    providers: { [provider]: settings },
    models: [{ slug, endpoints: [{ provider, model }] }],
  });
}

async function asked(gateway: TestGateway, ask: Record<string, unknown>, model = 'acme/it') {
  gateway.upstream.answer({ body: completion() });
  const answer = await gateway.post({ model, messages: hello, ...ask }, { 'x-service-metadata': 'enabled' });
  const metadata = answer.json.service_metadata as { dropped?: string[] } | undefined;
  return { ...answer, dropped: metadata?.dropped ?? [], body: gateway.upstream.sent[0]?.body };
}

describe('a fact of a model', () => {
  it.each(tried)('$row: $model, asked for $ask', async ({ model, provider = 'up', ask, dropped, sent = {} }) => {
    const gateway = serving(provider, model);
    const answer = await asked(gateway, ask);
    expect(answer.status).toBe(200);
    expect([...answer.dropped].sort()).toEqual([...dropped].sort());
    expect(answer.body).toMatchObject(sent);
    const instead = Object.keys(sent);
    for (const name of dropped)
      if (!instead.includes(name)) expect(answer.body).not.toHaveProperty(name.split('.')[0] as string);
  });
  it('Qwen that always thinks: streams only', async () => {
    const gateway = serving('alibaba', 'qwq-plus');
    const refused = await gateway.post({ model: 'acme/it', messages: hello });
    expect([refused.status, refused.json.error.message]).toEqual([400, expect.stringContaining('stream')]);
    gateway.upstream.answer({ body: [sse(chunk({ content: 'Hi' }), chunk({}, 'stop'), '[DONE]')] });
    expect((await gateway.post({ model: 'acme/it', messages: hello, stream: true })).status).toBe(200);
  });
  it('is tried here, every row', () => {
    const rows = new Set([...tried.map(({ row }) => row), 'Qwen that always thinks: streams only']);
    expect([...rows].sort()).toEqual(modelFacts.map(({ name }) => name).sort());
  });
  it('has a day and a source', () => {
    for (const { asOf, source } of modelFacts) {
      expect(asOf).toMatch(/^2026-\d\d-\d\d$/);
      expect(URL.parse(source)?.protocol).toBe('https:');
    }
  });
});

describe('what is known of a model', () => {
  it.each<[string, string, RegExp | null]>([
    ['acme/it', 'gpt-5', /^OpenAI: GPT-5$/],
    ['acme/it', 'openai/gpt-5:online', /^OpenAI: GPT-5$/],
    ['acme/it', 'openai.gpt-5.5', /GPT-5.5/],
    ['openai/gpt-5', 'my-deployment', /^OpenAI: GPT-5$/],
    ['acme/it', 'gpt-35-turbo', /^OpenAI: no sampling/],
    ['acme/it', 'gpt-5-chat-latest', /^OpenAI: no sampling/],
    ['acme/it', 'gpt-oss-120b', null],
    ['acme/it', 'llama-3.3-70b', null],
    ['acme/it', 'accounts/x/models/deepseek-r1', null],
    ['acme/it', 'claude-opus-4@20250514', /^Claude 3.7/],
    ['acme/it', 'grok-4.20-non-reasoning', null],
    ['acme/it', 'kimi-k2.6', null],
    ['acme/it', 'mistral.magistral-small', null],
    ['acme/it', 'o', null],
    ['acme/it', 'olmo-3', null],
  ])('%s, at the provider %s: %s', (slug, upstream, expected) => {
    const rows = findFacts('up', slug, upstream)?.rows ?? null;
    if (expected === null) expect(rows).toBeNull();
    else expect(rows?.some((row) => expected.test(row))).toBe(true);
  });

  it.each<[string, Dialect]>([
    ['openai-chat', 'openai-chat' as Dialect],
    ['openai-responses', 'openai-responses' as Dialect],
  ])('holds in the dialect %s', async (_, dialect) => {
    const gateway = serving('up', 'gpt-5-mini', 'acme/it', { dialect });
    gateway.upstream.answer({ body: completion() });
    await gateway.post({ model: 'acme/it', messages: hello, ...sampling });
    expect(gateway.upstream.sent[0]?.body).not.toHaveProperty('temperature');
    expect(gateway.upstream.sent[0]?.body).not.toHaveProperty('top_p');
  });

  it('is in the listings: what a model refuses is not among its parameters', async () => {
    const supportedParameters = ['temperature', 'top_p', 'stop', 'tools', 'tool_choice', 'max_tokens', 'seed'];
    const gateway = testGateway({
      models: [
        { slug: 'acme/five', supportedParameters, endpoints: [{ provider: 'up', model: 'gpt-5-mini' }] },
        { slug: 'acme/any', supportedParameters, endpoints: [{ provider: 'up', model: 'any' }] },
      ],
    });
    const { json } = await gateway.call('GET', '/models');
    const of = (id: string) => json.data.find((one: { id: string }) => one.id === id).supported_parameters;
    expect(of('acme/five')).toEqual(['tools', 'tool_choice', 'max_tokens', 'seed']);
    expect(of('acme/any')).toEqual(supportedParameters);
  });
  it('excludes an endpoint where all parameters are required', async () => {
    const gateway = serving('up', 'gpt-5-mini');
    const answer = await gateway.post({
      model: 'acme/it',
      messages: hello,
      temperature: 0.2,
      provider: { require_parameters: true },
    });
    expect(answer.status).toBe(404);
  });
  it('lists exactly what it never sends', () => {
    expect(refusedBy('up', 'acme/it', 'any')).toEqual([]);
    expect(refusedBy('up', 'acme/it', 'claude-opus-5-5')).toContain('tool_choice');
  });
});

describe('a value that asks for what happens anyway', () => {
  it('is left out without a word', async () => {
    const answer = await asked(serving('up', 'gpt-5'), {
      temperature: 1,
      top_p: 1,
      presence_penalty: 0,
      logprobs: false,
    });
    expect([answer.status, answer.dropped]).toEqual([200, []]);
    expect(answer.body).not.toHaveProperty('temperature');
  });
});
