import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { textGuardrail } from '../../src/guardrails/text-guardrail.ts';
import { textCompletionEventSchema, textCompletionResultSchema } from '../../src/schema/completions/result.ts';
import { nextTurn, type TestGateway, testGateway, testKey } from '../support/gateway.ts';
import { chunk, completion, errorBody, type ScriptedAnswer, sse, textStream } from '../support/upstream.ts';

// biome-ignore lint/suspicious/noExplicitAny: of any response, for a test to look into
type Json = any;

const key = { authorization: `Bearer ${testKey}` };

/** A gateway whose provider answers by the prompt; a prompt without a script gets itself back in capitals. */
function gateway(scripts: Record<string, ScriptedAnswer> = {}, options: Parameters<typeof testGateway>[0] = {}) {
  const asked: string[] = [];
  let running = 0;
  let most = 0;
  const made: TestGateway = testGateway({
    transport: {
      async send(request) {
        const sent = JSON.parse(String(request.body));
        const prompt: string = sent.messages.at(-1).content;
        asked.push(prompt);
        most = Math.max(most, ++running);
        const usual: ScriptedAnswer = {
          body:
            sent.stream === true
              ? textStream(prompt.toUpperCase(), '.')
              : completion({}, { content: prompt.toUpperCase() }),
          afterMs: 10,
        };
        made.upstream.answer(scripts[prompt] ?? usual);
        const response = await made.upstream.transport.send(request).finally(() => {
          running--;
        });
        return response;
      },
    },
    ...options,
  });
  const ask = (more: object, headers: Record<string, string> = {}, path = '/completions') =>
    made.call('POST', path, { model: 'acme/fast', ...more }, { ...key, ...headers });
  const stream = async (more: object, headers: Record<string, string> = {}) => {
    const { status, text } = await made.run(
      made.gateway
        .fetch('http://gateway.test/v1/completions', {
          method: 'POST',
          headers: { ...key, 'content-type': 'application/json', ...headers },
          body: JSON.stringify({ model: 'acme/fast', stream: true, ...more }),
        })
        .then(async (response) => ({ status: response.status, text: await response.text() })),
    );
    const datas = text
      .split('\n\n')
      .filter((frame) => frame.startsWith('data: '))
      .map((frame) => frame.slice('data: '.length));
    const events: Json[] = datas.filter((data) => data !== '[DONE]').map((data) => JSON.parse(data));
    for (const event of events) textCompletionEventSchema().parse(event);
    return { status, text, events, isDone: datas.at(-1) === '[DONE]' };
  };
  return { ...made, ask, stream, sent: made.upstream.sent, asked, mostAtOnce: () => most };
}

/** The texts by index. */
function textsIn(events: readonly Json[]): string[] {
  const texts: string[] = [];
  for (const { choices } of events) for (const { index, text } of choices) texts[index] = (texts[index] ?? '') + text;
  return texts;
}

const three = ['a', 'b', 'c'];

describe('several prompts in POST /completions', () => {
  it('have one response, whose texts stand in their order, and a record each', async () => {
    const t = gateway({ a: { body: completion({}, { content: 'A' }), afterMs: 500 } });
    const { status, json, headers, text } = await t.ask({ prompt: three }, { 'x-service-metadata': 'enabled' });
    expect(status, text).toBe(200);
    const result = textCompletionResultSchema().parse(json);
    expect(result.choices.map((one) => [one.index, one.text, one.finish_reason])).toEqual([
      [0, 'A', 'stop'],
      [1, 'B', 'stop'],
      [2, 'C', 'stop'],
    ]);
    expect([json.id, json.usage.total_tokens]).toEqual([headers.get('x-generation-id'), 36]);
    expect(
      json.prompts.map((one: Json) => [one.model, one.usage.total_tokens, one.service_metadata.requested]),
    ).toEqual(Array.from({ length: 3 }, () => ['acme/fast', 12, 'acme/fast']));
    const ids = json.prompts.map((one: Json) => one.id);
    expect([ids[0], new Set(ids).size]).toEqual([json.id, 3]);
    expect(new Set(t.records.map(({ id }) => id))).toEqual(new Set(ids));
    const spent = t.records.reduce((sum, { costNanoUsd }) => sum + (costNanoUsd ?? 0), 0);
    expect(spent).toBe(Math.round(json.usage.cost * 1e9));
  });
  it('have n texts each: those of prompt i begin at i × n', async () => {
    const two = (...texts: string[]) => ({
      body: {
        ...completion(),
        choices: texts.map((content, index) => ({
          index,
          message: { role: 'assistant', content },
          finish_reason: 'stop',
        })),
      },
    });
    // A provider that makes more than it was asked for takes no other prompt's place.
    const t = gateway({ a: two('A', 'AA'), b: two('B', 'BB', 'BBB') });
    const { json } = await t.ask({ prompt: ['a', 'b'], n: 2, echo: true });
    expect(json.choices.map((one: Json) => [one.index, one.text])).toEqual([
      [0, 'aA'],
      [1, 'aAA'],
      [2, 'bB'],
      [3, 'bBB'],
    ]);
    const streams = gateway();
    const { events } = await streams.stream({ prompt: ['a', 'b'], n: 2 });
    expect(Object.keys(textsIn(events))).toEqual(['0', '2']);
  });
  it('come as one stream with one id, whose last event alone has the usage of all', async () => {
    const t = gateway({ b: { body: textStream('B', 'b', 'B'), afterMs: 300 } });
    const { status, events, isDone, text } = await t.stream({ prompt: three }, { 'x-service-metadata': 'enabled' });
    expect([status, isDone, text.match(/\[DONE\]/g)?.length]).toEqual([200, true, 1]);
    expect(textsIn(events)).toEqual(['A.', 'BbB', 'C.']);
    expect(new Set(events.map(({ id }) => id)).size).toBe(1);
    expect(events.filter(({ usage }) => usage !== undefined)).toEqual([events.at(-1)]);
    expect(events.at(-1)).toMatchObject({
      usage: { total_tokens: 36 },
      prompts: three.map(() => ({ usage: { total_tokens: 12 }, service_metadata: { requested: 'acme/fast' } })),
    });
    expect(events.flatMap(({ choices }) => choices).filter((one: Json) => one.finish_reason !== null)).toHaveLength(3);
    expect(t.records.map(({ outcome, streamed }) => [outcome, streamed])).toEqual(three.map(() => ['ok', true]));
  });
  it.each([false, true])(
    'are sent four at a time, none before the money of all is held (stream: %s)',
    async (stream) => {
      const prompt = [...'abcdefghij'];
      const t = gateway();
      const done = stream ? await t.stream({ prompt }) : await t.ask({ prompt });
      expect([done.status, t.asked.length, t.mostAtOnce()]).toEqual([200, 10, 4]);
      const poor = gateway();
      const budget = (usd: number) => poor.call('PUT', '/workspaces/default/budgets/daily', { limit_usd: usd });
      await budget(1);
      const one = await poor.ask({ prompt: 'a' }, {}, '/completions/explain');
      // Enough for two of three.
      await budget(one.json.data.hold_usd * 2.5);
      const refused = await poor.ask({ prompt: three, stream });
      expect([refused.status, refused.json.error.metadata.prompt, poor.asked]).toEqual([402, expect.any(Number), []]);
      const { held_usd: held, spent_usd: spent } = (await poor.ask({ prompt: 'a' }, {}, '/completions/explain')).json
        .data.budgets[0];
      expect([held, spent]).toEqual([0, 0]);
      expect(poor.records).toHaveLength(3);
    },
  );
  it('fail together where one fails, which the error names; those at providers are paid for', async () => {
    const t = gateway({
      b: { status: 400, body: errorBody('Bad prompt') },
      a: { body: completion({}, { content: 'A' }), afterMs: 100 },
    });
    const { status, json } = await t.ask({ prompt: [...'abcdefgh'] });
    expect([status, json.error.message, json.error.metadata.prompt]).toEqual([
      400,
      expect.stringContaining('Bad prompt'),
      1,
    ]);
    expect(t.asked.length).toBeLessThan(8);
    expect(t.records).toHaveLength(8);
    const outcomes = t.records.map(
      ({ outcome, costNanoUsd }) => `${outcome} ${(costNanoUsd ?? 0) > 0 ? 'paid' : 'free'}`,
    );
    expect(outcomes.filter((one) => one === 'failed free')).toHaveLength(1);
    expect(outcomes.filter((one) => one === 'ok paid')).toHaveLength(t.asked.length - 1);
    expect(outcomes.filter((one) => one === 'cancelled free')).toHaveLength(8 - t.asked.length);
  });
  it('end their stream with the error of the first that breaks off, and stop the others', async () => {
    const t = gateway({
      a: { body: [sse(chunk({ content: 'A' })), { waitMs: 50 }] },
      b: { body: [sse(chunk({ content: 'B' })), { hangs: true }] },
    });
    const { events, isDone } = await t.stream({ prompt: ['a', 'b'] });
    expect(isDone).toBe(false);
    expect(events.at(-1)).toMatchObject({ error: { code: 502, metadata: { prompt: 0 } } });
    expect(events.at(-1)).not.toHaveProperty('choices');
    await nextTurn();
    expect(t.sent.map(({ isRead, closedAtMs }) => isRead || closedAtMs !== null)).toEqual([true, true]);
    expect(t.records.map(({ outcome }) => outcome).sort()).toEqual(['cancelled', 'cut']);
    expect(t.records.every(({ costNanoUsd }) => (costNanoUsd ?? 0) > 0)).toBe(true);
  });
  it('are an ordinary error where one fails before the stream, and an event where it fails later', async () => {
    const early = gateway({
      a: { status: 400, body: errorBody('Bad prompt') },
      b: { body: textStream('B'), afterMs: 50 },
    });
    expect((await early.ask({ prompt: ['a', 'b'], stream: true })).status).toBe(400);
    const late = gateway({ a: { status: 400, body: errorBody('Bad prompt'), afterMs: 50 } });
    const { status, events, isDone } = await late.stream({ prompt: ['a', 'b'] });
    expect([status, isDone, events.at(-1).error.code, events.at(-1).error.metadata.prompt]).toEqual([
      200,
      false,
      400,
      0,
    ]);
    const slow = gateway({
      a: { status: 400, body: errorBody('Bad prompt'), afterMs: 40_000 },
      b: { instead: 'hang' },
    });
    const kept = await slow.stream({ prompt: ['a', 'b'] });
    expect([kept.status, kept.isDone, kept.events.at(-1).error.code]).toEqual([200, false, 400]);
    await nextTurn();
    expect(slow.records).toHaveLength(2);
  });
  it('stop all providers when the client leaves', async () => {
    const hangs = { body: [sse(chunk({ content: 'Hi' })), { hangs: true as const }] };
    const t = gateway({ a: hangs, b: hangs, c: hangs });
    const client = new OpenAI({
      baseURL: 'http://gateway.test/v1',
      apiKey: testKey,
      maxRetries: 0,
      fetch: t.gateway.fetch,
    });
    const stream = await client.completions.create({ model: 'acme/fast', prompt: three, stream: true });
    for await (const _ of stream) break;
    await nextTurn();
    expect(t.sent.every(({ closedAtMs }) => closedAtMs !== null)).toBe(true);
    expect(t.records.map(({ outcome }) => outcome)).toEqual(['cancelled', 'cancelled', 'cancelled']);
  });
  it('are `openai` and functions in process', async () => {
    const t = gateway();
    const client = new OpenAI({
      baseURL: 'http://gateway.test/v1',
      apiKey: testKey,
      maxRetries: 0,
      fetch: t.gateway.fetch,
    });
    const made = await t.run(client.completions.create({ model: 'acme/fast', prompt: three }));
    expect(made.choices.map(({ text }) => text)).toEqual(['A', 'B', 'C']);
    const own = await t.run(t.gateway.completions.create({ model: 'acme/fast', prompt: three }));
    expect(own.prompts).toHaveLength(3);
    const read = async () => {
      const events: Json[] = [];
      for await (const event of await t.gateway.completions.create({ model: 'acme/fast', prompt: three, stream: true }))
        events.push(event);
      return textsIn(events);
    };
    expect(await t.run(read())).toEqual(['A.', 'B.', 'C.']);
  });
  it('are each seen by guardrails, and each count for rate limits', async () => {
    const guardrails = [textGuardrail({ id: 'pii', patterns: [{ builtin: 'email', action: 'block' }] })];
    const t = gateway({}, { guardrails });
    expect((await t.ask({ prompt: ['a', 'bob@example.com'] })).json.error).toMatchObject({
      code: 403,
      metadata: { prompt: 1 },
    });
    expect(t.asked).toEqual([]);
    const limited = gateway({}, { rateLimits: { key: { requestsPerMinute: 2 } } });
    expect((await limited.ask({ prompt: three })).status).toBe(429);
    expect(limited.asked).toEqual([]);
  });
  it('are explained together: the money is that of all', async () => {
    const t = gateway();
    await t.call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 1 });
    const one = (await t.ask({ prompt: 'a' }, {}, '/completions/explain')).json.data;
    const all = (await t.ask({ prompt: three }, {}, '/completions/explain')).json.data;
    expect(all.hold_usd).toBeCloseTo(one.hold_usd * 3, 9);
    expect(all.generations.map(({ purpose }: Json) => purpose)).toEqual(['prompt 0', 'prompt 1', 'prompt 2']);
    expect(t.asked).toEqual([]);
  });
  it('are bounded by an option, and none of them is empty', async () => {
    const t = gateway({}, { limits: { completionPrompts: 2 } });
    expect((await t.ask({ prompt: three })).json.error.message).toMatch(/prompt: expected at most 2 texts/);
    expect((await t.ask({ prompt: ['a', ''] })).json.error.message).toMatch(
      /prompt\[1\]: expected a text that is not empty/,
    );
    expect((await t.ask({ prompt: ['a', ''], suffix: '.' })).status).toBe(200);
  });
});
