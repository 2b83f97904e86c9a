import { expect, it } from 'vitest';
import { aiSdk } from '../../src/dialects/ai-sdk/index.ts';
import type { Transport } from '../../src/entries/testing.ts';
import { drawUsed, nativeProviders, promptOfTurns, textBytes, type Used } from '../support/bill/native.ts';
import { type Draw, drawFrom } from '../support/bill/world.ts';
import { withBudget } from '../support/booked.ts';
import { dialects } from '../support/dialects.ts';
import { randomFrom } from '../support/race/random.ts';
import { runs } from '../support/runs.ts';

const firstSeed = Number(process.env.BILL_SEED ?? 1);
const seeds = runs(300, 3_000);

const names = Object.keys(nativeProviders) as [string, ...string[]];
const upstreamModels: Record<string, [string, ...string[]]> = {
  'openai-chat': ['m'],
  'openai-responses': ['gpt-5', 'gpt-4.1'],
  'anthropic-messages': ['claude-3-5-haiku-20241022', 'claude-sonnet-4-5', 'claude-opus-4-6', 'claude-opus-5', 'other'],
  'google-generate-content': ['gemini-2.0-flash', 'gemini-2.5-pro', 'gemini-3-pro', 'gemma-3-27b'],
  'bedrock-converse': [
    'anthropic.claude-sonnet-4-5-v1:0',
    'amazon.nova-2-lite',
    'openai.gpt-oss-120b',
    'qwen.q',
    'x.y',
  ],
  'cohere-chat': ['command-a', 'command-a-reasoning'],
};

const tool = {
  type: 'function',
  function: {
    name: 'look',
    description: 'Looks.',
    parameters: { type: 'object', properties: { 'é"\\': {} } },
    strict: true,
  },
};

function drawRequest(draw: Draw): Record<string, unknown> {
  const mark = { type: 'ephemeral', ...(draw.isTrue(0.5) ? { ttl: '1h' } : {}) };
  const some = <T>(share: number, value: () => T) => (draw.isTrue(share) ? [value()] : []);
  const text = draw.oneOf(['word ', 'ß', '"\\', '漢字 ', '  ']).repeat(1 + draw.upTo(draw.isTrue(0.3) ? 40_000 : 100));
  const field = (share: number, name: string, value: () => unknown) => (draw.isTrue(share) ? { [name]: value() } : {});
  const called = {
    id: 'a b',
    type: 'function',
    function: { name: 'look', arguments: draw.oneOf(['{"a":1}', '', '{']) },
  };
  return {
    model: 'acme/m',
    messages: [
      ...some(0.3, () => ({ role: 'system', content: [{ type: 'text', text, cache_control: mark }] })),
      { role: 'user', content: draw.oneOf<unknown>([text, [{ type: 'text', text, cache_control: mark }]]) },
      ...(draw.isTrue(0.3)
        ? [
            { role: 'assistant', content: null, reasoning: 'So.', tool_calls: [called] },
            { role: 'tool', tool_call_id: 'a b', content: text },
          ]
        : []),
      ...some(0.1, () => ({ role: 'developer', content: 'Be brief.' })),
    ],
    ...field(0.5, 'max_tokens', () => 1 + draw.upTo(draw.oneOf([20, 2_000, 100_000]))),
    ...field(0.2, 'max_completion_tokens', () => 1 + draw.upTo(5_000)),
    ...field(0.1, 'n', () => 1 + draw.upTo(3)),
    ...field(0.4, 'tools', () => [tool]),
    ...field(0.2, 'tool_choice', () => draw.oneOf(['auto', 'none', 'required'])),
    ...field(0.3, 'reasoning', () =>
      draw.oneOf<unknown>([
        { effort: 'high' },
        { max_tokens: draw.upTo(200_000) },
        { enabled: true },
        { effort: 'none' },
      ]),
    ),
    ...field(0.1, 'reasoning_effort', () => draw.oneOf(['low', 'xhigh'])),
    ...field(0.2, 'response_format', () =>
      draw.oneOf<unknown>([
        { type: 'json_object' },
        {
          type: 'json_schema',
          json_schema: { name: 'a', schema: { type: 'object', properties: { a: { minimum: 1 } } } },
        },
      ]),
    ),
    ...field(0.2, 'cache_control', () => mark),
    ...field(0.1, 'service_tier', () => draw.oneOf(['flex', 'default', 'auto'])),
    ...field(0.1, 'verbosity', () => 'high'),
    ...field(0.25, 'web_search_options', () =>
      draw.oneOf<unknown>([{}, { search_context_size: 'high', filters: { allowed_domains: ['example.com'] } }]),
    ),
    ...field(0.1, 'max_tool_calls', () => 1 + draw.upTo(30)),
  };
}

const pico = (usd: string) => Math.round(Number(usd) * 1e12);

async function play(seed: number) {
  const draw = drawFrom(randomFrom(seed));
  const name = draw.oneOf(names);
  const price = (most: number) => (draw.number() * most).toFixed(10);
  const pricing = {
    prompt: price(0.000003),
    completion: price(0.00002),
    inputCacheRead: price(0.000001),
    inputCacheWrite: price(0.000004),
    inputCacheWrite1h: price(0.000008),
    webSearch: price(0.02),
  };
  const contextLength = draw.oneOf([8_192, 200_000, 1_000_000]);
  const maxCompletionTokens = draw.isTrue(0.5) ? draw.oneOf([1_024, 16_384]) : null;
  const bill = { nanoUsd: 0, searches: 0 };
  const luck = draw.upTo(9);
  const transport: Transport = {
    async send(request) {
      const body = JSON.parse(request.body as string);
      const own = Math.min(maxCompletionTokens ?? contextLength, contextLength);
      const told = (nativeProviders[name] as (typeof nativeProviders)[string]).mostOutput(body);
      // As much as the body allows; where it allows more than the model can, as much as that.
      const most =
        told === null
          ? own * Number(body.n ?? 1)
          : Math.min(told, own * Number(body.n ?? body.generationConfig?.candidateCount ?? 1));
      const { most: mostSearches = 0, inTurns = false } = nativeProviders[name]?.searching?.(body) ?? {};
      const searches = draw.isTrue(0.5) ? mostSearches : draw.upTo(mostSearches);
      const read = textBytes({ ...body, model: null });
      const prompt = inTurns ? promptOfTurns(read, most, searches) : read;
      const used: Used = drawUsed(draw, prompt, most, name, searches);
      bill.searches += searches;
      bill.nanoUsd += billOf(used);
      const text = JSON.stringify((nativeProviders[name] as (typeof nativeProviders)[string]).respond(used));
      const pieces = [new TextEncoder().encode(luck === 0 ? text.slice(0, 20) : text)];
      return {
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: { read: async () => pieces.shift() ?? null, cancel: () => undefined },
      };
    },
  };
  const billOf = ({ plain, cached, written, writtenForHour, output, searches }: Used) =>
    Math.floor(
      (plain * pico(pricing.prompt) +
        cached * pico(pricing.inputCacheRead) +
        written * pico(pricing.inputCacheWrite) +
        writtenForHour * pico(pricing.inputCacheWrite1h) +
        output * pico(pricing.completion) +
        searches * pico(pricing.webSearch)) /
        1000,
    );
  const model = draw.oneOf(upstreamModels[name] as [string, ...string[]]);
  const endpoint = {
    provider: 'up',
    model,
    pricing,
    contextLength,
    ...(maxCompletionTokens === null ? {} : { maxCompletionTokens }),
  };
  const tested = await withBudget(1_000, {
    providers: { up: { baseUrl: 'https://up.test/v1', apiKey: 'sk-a-key-of-the-operator', dialect: name as never } },
    models: [{ slug: 'acme/m', endpoints: [endpoint] }],
    retry: { maxAttempts: 1 },
    transport,
  });
  const { status } = await tested.post(drawRequest(draw));
  const record = tested.records.at(-1);
  const [booked, held] = [record?.costNanoUsd ?? 0, record?.heldNanoUsd ?? 0];
  await tested.gateway.close();
  return {
    seed,
    name,
    model,
    status,
    isPaid: bill.nanoUsd <= booked,
    isWithin: booked <= held,
    bill: bill.nanoUsd,
    searches: bill.searches,
    booked,
    held,
  };
}

it('whatever a request asks for, in each dialect: the true bill of all that its body allows ≤ booked ≤ held', async () => {
  const served: Record<string, number> = {};
  const searched: Record<string, number> = {};
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    const outcome = await play(seed);
    const wrong = !outcome.isPaid || !outcome.isWithin || outcome.status === 500;
    expect(wrong ? outcome : null).toBeNull();
    searched[outcome.name] = (searched[outcome.name] ?? 0) + outcome.searches;
    if (outcome.status === 200) served[outcome.name] = (served[outcome.name] ?? 0) + 1;
  }
  // Each dialect has served, and those that search have searched.
  for (const name of names)
    expect([name, served[name] ?? 0]).toEqual([name, expect.toSatisfy((count: number) => count > 0)]);
  for (const name of ['openai-responses', 'anthropic-messages', 'google-generate-content'])
    expect([name, searched[name] ?? 0]).toEqual([name, expect.toSatisfy((count: number) => count > 0)]);
  expect([...names, aiSdk.name].sort()).toEqual(Object.keys({ ...dialects, [aiSdk.name]: aiSdk }).sort());
}, 600_000);
