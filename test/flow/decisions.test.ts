import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/options.ts';
import { decisionsResultSchema } from '../../src/schema/decisions/result.ts';
import { testGateway, testKey, upstreamKeys } from '../support/gateway.ts';

const asCaller = { authorization: `Bearer ${testKey}` };

/** One question of each kind, as `DecisionCreateParams` of openai 7.57 has them. */
const questions = [
  { type: 'predicate', name: 'duplicate', instructions: 'The customer was charged twice.' },
  {
    type: 'choice',
    instructions: [{ type: 'input_text', text: 'The kind of the ticket.' }],
    choices: [{ value: 'billing', description: 'Money' }, { value: 'technical' }, { value: true }],
  },
  { type: 'score', instructions: 'How angry is the customer?', levels: [{ label: 'calm' }, { label: 'angry' }] },
] satisfies OpenAI.DecisionCreateParams['questions'];

/** A response, as `Decision` of openai 7.57 has it. */
const answered = {
  model: 'gpt-6-luna',
  answers: [
    { type: 'predicate', name: 'duplicate', probability: 0.92 },
    {
      type: 'choice',
      name: null,
      choice: true,
      confidence: 0.7,
      probabilities: [
        { value: 'billing', probability: 0.2 },
        { value: 'technical', probability: 0.1 },
        { value: true, probability: 0.7 },
      ],
    },
    { type: 'refusal', name: null },
  ],
  usage: {
    input_tokens: 40,
    input_tokens_details: { cached_tokens: 8, cache_write_tokens: 4 },
    output_tokens: 3,
    output_tokens_details: { reasoning_tokens: 1 },
    total_tokens: 43,
  },
} satisfies OpenAI.Decision;

const withOpenAi: Partial<GatewayOptions> = {
  providers: {
    openai: { apiKey: upstreamKeys.up },
    azure: { apiKey: upstreamKeys.alt, baseUrl: 'https://mine.openai.azure.com' },
  },
  models: [],
};

describe('POST /decisions', () => {
  it('answers typed questions at OpenAI, for the price of the input alone', async () => {
    const t = testGateway(withOpenAi);
    t.upstream.answer({ body: answered });
    const asked = {
      model: 'openai/gpt-6-luna',
      input: 'I was charged twice',
      questions,
      safety_identifier: 'user-1',
      prompt_cache_options: { mode: 'explicit' },
      session_id: 's',
      user: 'u',
    };
    const { status, json } = await t.call('POST', '/decisions', asked, asCaller);
    expect([status, json.error]).toEqual([200, undefined]);
    expect(decisionsResultSchema().parse(json)).toMatchObject({
      model: 'openai/gpt-6-luna',
      answers: answered.answers,
      // 0.10 USD a million tokens of input.
      usage: { ...answered.usage, cost: 0.000004 },
    });
    expect(t.upstream.sent.map(({ url }) => url)).toEqual(['https://api.openai.com/v1/decisions']);
    const { session_id: _, user: __, ...sent } = asked;
    expect(t.upstream.sent[0]?.body).toEqual({ ...sent, model: 'gpt-6-luna' });
    expect(t.records[0]).toMatchObject({ operation: 'createDecisions', costNanoUsd: 4_000 });
  });

  it('answers the client of openai, with a conversation of tools, pictures and JSON', async () => {
    const t = testGateway(withOpenAi);
    t.upstream.answer({ body: { ...answered, answers: answered.answers.slice(0, 1) } });
    const client = new OpenAI({ apiKey: testKey, baseURL: 'http://gateway.test/v1', fetch: t.gateway.fetch });
    const input = [
      { role: 'system', content: 'You judge.' },
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'See', prompt_cache_breakpoint: { mode: 'explicit' } },
          { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'low' },
          { type: 'input_json', data: { order: 17 } },
        ],
      },
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }], phase: 'commentary' },
      { type: 'function_call', call_id: 'c', name: 'look', arguments: '{"id":17}' },
      { type: 'function_call_output', call_id: 'c', output: 'paid twice' },
      { type: 'custom_tool_call', call_id: 'd', name: 'grep', input: 'paid' },
      { type: 'custom_tool_call_output', call_id: 'd', output: [{ type: 'input_text', text: 'twice' }] },
    ] satisfies OpenAI.DecisionCreateParams['input'];
    const decision = await t.run(
      client.decisions.create({ model: 'openai/gpt-6-luna', input, questions: questions.slice(0, 1) }),
    );
    expect(decision.answers).toEqual([{ type: 'predicate', name: 'duplicate', probability: 0.92 }]);
    expect(t.upstream.sent[0]?.body).toEqual({ model: 'gpt-6-luna', input, questions: questions.slice(0, 1) });
  });

  it('holds every text against a budget, and books no more than was held where the provider counts more', async () => {
    const t = testGateway(withOpenAi);
    await t.call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 1 });
    t.upstream.answer({ body: { ...answered, usage: { ...answered.usage, input_tokens: 1_000_000_000 } } });
    const { json } = await t.call(
      'POST',
      '/decisions',
      { model: 'openai/gpt-6-luna', input: 'Hi', questions },
      asCaller,
    );
    expect(json.usage.estimated).toBe(true);
    const [record] = t.records;
    expect(record?.costNanoUsd).toBeLessThanOrEqual(record?.heldNanoUsd as number);
    expect(record?.heldNanoUsd).toBeGreaterThan(0);
  });

  it.each([
    ['fewer answers than questions', answered.answers.slice(1)],
    ['an answer to another kind of question', [answered.answers[1], answered.answers[1], answered.answers[2]]],
    [
      'a choice that was not offered',
      [answered.answers[0], { ...answered.answers[1], choice: 'true' }, answered.answers[2]],
    ],
    ['a probability that is a text', [{ type: 'predicate', probability: '1' }, ...answered.answers.slice(1)]],
  ])('refuses %s', async (_, answers) => {
    const t = testGateway(withOpenAi);
    t.upstream.always({ body: { ...answered, answers } });
    const { status } = await t.call(
      'POST',
      '/decisions',
      { model: 'openai/gpt-6-luna', input: 'Hi', questions },
      asCaller,
    );
    expect(status).toBe(502);
  });

  it.each([
    ['no question', { input: 'Hi', questions: [] }, 'questions'],
    [
      'a choice of one',
      { input: 'Hi', questions: [{ ...questions[1], choices: [{ value: 'a' }] }] },
      'questions[0].choices',
    ],
    ['an empty input', { input: '', questions }, 'input'],
    ['a field that nobody knows', { input: 'Hi', questions, temperature: 1 }, 'temperature'],
    ['401 questions', { input: 'Hi', questions: Array.from({ length: 401 }, () => questions[0]) }, 'questions'],
  ])('refuses %s, and says where', async (_, body, place) => {
    const t = testGateway(withOpenAi);
    const { status, json } = await t.call('POST', '/decisions', { model: 'openai/gpt-6-luna', ...body }, asCaller);
    expect([status, t.upstream.sent]).toEqual([400, []]);
    expect(json.error.message).toContain(place);
  });

  it('shows guardrails every text, and sends what they make of it', async () => {
    const seen: string[] = [];
    const t = testGateway({
      ...withOpenAi,
      guardrails: [
        {
          id: 'names',
          name: 'names',
          before: ({ messages, ...request }) => {
            const clean = (text: string) => {
              seen.push(text);
              return text.replaceAll('SECRET', 'gone');
            };
            return {
              ...request,
              messages: messages.map((message) => ({
                ...message,
                content:
                  typeof message.content === 'string'
                    ? clean(message.content)
                    : (message.content as { type: string; text: string }[]).map((part) =>
                        part.type === 'text' ? { ...part, text: clean(part.text) } : part,
                      ),
              })) as typeof messages,
            };
          },
        },
      ],
    });
    t.upstream.answer({
      body: { ...answered, answers: [{ ...answered.answers[1], choice: 'b gone' }, answered.answers[2]] },
    });
    const asked = {
      model: 'openai/gpt-6-luna',
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: '1 SECRET' },
            { type: 'input_json', data: { '2': 'SECRET' } },
          ],
        },
        { role: 'assistant', content: '3 SECRET' },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '4 SECRET' },
        { type: 'function_call_output', call_id: 'c', output: '5 SECRET' },
        { type: 'custom_tool_call', call_id: 'd', name: 'f', input: '6 SECRET' },
      ],
      questions: [
        {
          type: 'choice',
          name: '7 SECRET',
          instructions: '8 SECRET',
          choices: [{ value: 'a', description: '9 SECRET' }, { value: 'b SECRET' }],
        },
        { type: 'score', instructions: 'x', levels: [{ label: 'c SECRET', description: 'd SECRET' }, { label: 'e' }] },
      ],
    };
    const { status } = await t.call('POST', '/decisions', asked, asCaller);
    expect(status).toBe(200);
    const sent = JSON.stringify(t.upstream.sent[0]?.body);
    expect(sent).not.toContain('SECRET');
    expect(JSON.parse(sent)).toEqual({
      ...JSON.parse(JSON.stringify(asked).replaceAll('SECRET', 'gone')),
      model: 'gpt-6-luna',
    });
    expect(seen.filter((text) => text.includes('SECRET'))).toHaveLength(12);
  });

  it('is listed by its output, and explained without a call', async () => {
    const t = testGateway(withOpenAi);
    const { json } = await t.call('GET', '/models?output_modalities=decisions', undefined, asCaller);
    expect(json.data.map(({ id }: { id: string }) => id)).toEqual(['openai/gpt-6-luna']);
    const asked = { model: 'openai/gpt-6-luna', input: 'Hi', questions };
    const explained = (await t.call('POST', '/decisions/explain', asked, asCaller)).json.data;
    expect(JSON.stringify(explained)).toContain('azure');
    expect(t.upstream.sent).toEqual([]);
  });

  it('is answered by the sandbox', async () => {
    const t = testGateway({ providers: { sandbox: {} }, models: [] });
    const asked = { model: 'sandbox/decisions', input: 'The bill is about billing and I am angry', questions };
    const { status, json } = await t.call('POST', '/decisions', asked, asCaller);
    expect(status).toBe(200);
    const { answers } = decisionsResultSchema().parse(json);
    expect(answers.map(({ type }) => type)).toEqual(['predicate', 'choice', 'score']);
    expect(answers[1]).toMatchObject({ choice: 'billing' });
    expect((answers[2] as { score: number }).score).toBeGreaterThan(0.5);
  });
});
