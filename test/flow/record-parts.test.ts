import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/base/errors.ts';
import type { PluginHooks } from '../../src/call/hooks.ts';
import type { Guardrail } from '../../src/guardrails/guardrail.ts';
import { definePlugin } from '../../src/plugins/plugin.ts';
import { generationSchema } from '../../src/schema/records/generation.ts';
import { defineServerTool } from '../../src/server-tools/server-tool.ts';
import { hello, nextTurn, type TestGateway, testGateway } from '../support/gateway.ts';
import { completion, errorBody } from '../support/upstream.ts';

const ask = { model: 'acme/fast', messages: hello, max_tokens: 100 };

/** The kept record of the last request. */
async function recordOf({ call, records }: TestGateway) {
  await nextTurn();
  return (await call('GET', `/generation?id=${records.at(-1)?.id}`)).json.data;
}

const sumOf = (parts: Record<string, number>) => Object.values(parts).reduce((sum, nanoUsd) => sum + nanoUsd, 0);

describe('the cost of a record', () => {
  it('is told by part: the prompt, its cached and written tokens, the response and its reasoning', async () => {
    const tested = testGateway({ records: { enabled: true } });
    tested.upstream.answer({
      body: completion({
        usage: {
          prompt_tokens: 100,
          completion_tokens: 30,
          total_tokens: 130,
          prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 20 },
          completion_tokens_details: { reasoning_tokens: 10 },
        },
      }),
    });
    await tested.post(ask);
    const record = await recordOf(tested);
    // Nano-USD for a token: 2,000 in, 500 cached, 2,500 written, 8,000 out, 10,000 reasoning.
    expect(record.cost_parts_nano_usd).toEqual({
      input: 40 * 2_000,
      cached: 40 * 500,
      cache_writes: 20 * 2_500,
      output: 20 * 8_000,
      reasoning: 10 * 10_000,
    });
    expect(sumOf(record.cost_parts_nano_usd)).toBe(record.cost_nano_usd);
  });

  it('has what failed attempts, plugins, guardrails and tools have spent as parts', async () => {
    const paid = (nanoUsd: number): PluginHooks => ({
      before: async (request, { hold }) => {
        (await hold(nanoUsd)).settle(nanoUsd - 1_000);
        return request;
      },
    });
    const dice = defineServerTool({
      name: 'dice',
      description: 'Rolls.',
      parameters: {},
      async run(_args, { hold }) {
        (await hold(70_000)).settle(60_000);
        return '4';
      },
    });
    const tested = testGateway({
      records: { enabled: true },
      plugins: [definePlugin({ id: 'payer', ...paid(31_000) })],
      guardrails: [{ id: 'checker', ...paid(11_000) }],
      serverTools: [dice],
    });
    const calling = { id: 'c1', type: 'function', function: { name: 'dice', arguments: '{}' } };
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    const called = completion({ usage }, { content: null, tool_calls: [calling] }, { finish_reason: 'tool_calls' });
    tested.upstream.answer({ body: called });
    tested.upstream.answer({ status: 500, body: errorBody('broken') });
    tested.upstream.answer({ body: completion({ usage }) });
    const { status } = await tested.post({
      ...ask,
      model: 'acme/pair',
      plugins: [{ id: 'payer' }],
      tools: [{ type: 'service:dice' }],
    });
    expect(status).toBe(200);
    const record = await recordOf(tested);
    const { cost_parts_nano_usd: parts, cost_nano_usd: cost } = record;
    expect(parts).toMatchObject({ plugins: 30_000, guardrails: 10_000, tools: 60_000 });
    expect(parts.failed_attempts ?? 0).toBe(
      record.attempts.reduce((sum: number, one: { cost_nano_usd: number }) => sum + one.cost_nano_usd, 0),
    );
    expect(sumOf(parts)).toBe(cost);
    expect(record.generation_details).toHaveLength(2);
    expect(
      record.stages.map(({ kind, name, hook, outcome }: Record<string, string>) => [kind, name, hook, outcome]),
    ).toEqual([
      ['guardrail', 'checker', 'before', 'ok'],
      ['plugin', 'payer', 'before', 'ok'],
      ['server_tool', 'dice', null, 'ok'],
    ]);
  });

  it('is not told by part where it is not known', async () => {
    const tested = testGateway({ records: { enabled: true } });
    tested.upstream.answer({ body: completion() });
    await tested.post({ ...ask, model: 'acme/free' });
    const record = await recordOf(tested);
    expect([record.cost_nano_usd, record.cost_parts_nano_usd]).toEqual([null, null]);
  });
});

describe('the times of a record', () => {
  it('are those of each generation, from the arrival of the request', async () => {
    const tested = testGateway({ records: { enabled: true } });
    tested.upstream.answer({ status: 500, body: errorBody('broken') });
    tested.upstream.answer({ afterMs: 250, body: completion() });
    await tested.post({ ...ask, model: 'acme/pair' });
    const record = await recordOf(tested);
    const [one] = record.generation_details;
    expect(one).toMatchObject({
      requested: 'acme/pair',
      model: 'acme/pair',
      provider: record.provider_name,
      outcome: 'ok',
      status: 200,
      attempts: 2,
      started_ms: 0,
      cost_nano_usd: record.cost_nano_usd,
    });
    expect(one.first_token_ms).toBe(record.latency);
    expect(one.sent_ms).toBeGreaterThanOrEqual(one.planned_ms);
    expect(one.ended_ms).toBeGreaterThanOrEqual(250);
  });

  it('are those of plugins and guardrails too, with a refusal and a failure told apart', async () => {
    const open = (work: (wait: (ms: number) => Promise<void>) => Promise<void>) => {
      const tested: TestGateway = testGateway({
        records: { enabled: true },
        guardrails: [
          {
            id: 'slow',
            before: async (request, { clock }) => {
              await work((ms) => new Promise((resolve) => clock.after(ms, resolve)));
              return request;
            },
          },
        ],
      });
      tested.upstream.always({ body: completion() });
      return tested;
    };
    const stageOf = async (tested: TestGateway) => {
      await tested.post(ask);
      return (await recordOf(tested)).stages;
    };
    const stage = { kind: 'guardrail', name: 'slow', hook: 'before', started_ms: 0, ms: 40 };
    expect(await stageOf(open((wait) => wait(40)))).toEqual([{ ...stage, outcome: 'ok' }]);
    const refusing = open(async (wait) => {
      await wait(40);
      throw new GatewayError('guardrail_blocked', 'No');
    });
    expect(await stageOf(refusing)).toEqual([{ ...stage, outcome: 'refused' }]);
    const failing = open(async (wait) => {
      await wait(40);
      throw new Error('secret words');
    });
    expect(await stageOf(failing)).toEqual([{ ...stage, outcome: 'failed' }]);
    expect(JSON.stringify(await recordOf(failing))).not.toContain('secret words');
  });

  it('are of at most 100 pieces of work', async () => {
    const guardrails = Array.from(
      { length: 130 },
      (_, at): Guardrail => ({ id: `g${at}`, before: (request) => request }),
    );
    const tested = testGateway({ records: { enabled: true }, guardrails });
    tested.upstream.answer({ body: completion() });
    await tested.post(ask);
    expect((await recordOf(tested)).stages).toHaveLength(100);
  });
});

it('a record of an older version, without parts, times and stages, is still read', async () => {
  const tested = testGateway({ records: { enabled: true } });
  tested.upstream.answer({ body: completion() });
  await tested.post(ask);
  const { cost_parts_nano_usd: _, generation_details: __, stages: ___, ...older } = await recordOf(tested);
  expect(generationSchema().parse(older)).toEqual(older);
});
