import { describe, expect, it } from 'vitest';
import { randomIds } from '../../src/base/ids.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { leastSamples } from '../../src/pricing/output-estimates.ts';
import type { RequestRecord } from '../../src/telemetry/record.ts';
import { hello, type TestGateway, testGateway } from '../support/gateway.ts';
import { randomFrom } from '../support/race/random.ts';
import { completion } from '../support/upstream.ts';

/** 1 micro-USD a token of the prompt, 8 of the output. */
const pricing = { prompt: '0.000001', completion: '0.000008' };
const tokenNanoUsd = 8_000;
const endpoint = { provider: 'up', model: 'm', pricing };
const models = [
  { slug: 'acme/fast', endpoints: [endpoint] },
  { slug: 'acme/other', endpoints: [{ ...endpoint, model: 'o' }] },
];
const maxTokens = 1_000;
const ask = { model: 'acme/fast', messages: hello, max_tokens: maxTokens };

const answer = (completionTokens: number) => {
  const usage = { prompt_tokens: 5, completion_tokens: completionTokens, total_tokens: 5 + completionTokens };
  return { body: completion({ usage }) };
};

function gateway(estimate: 'worst' | 'p99', options: Partial<GatewayOptions> = {}): TestGateway {
  return testGateway({ models, ids: randomIds, budgets: { estimate }, ...options });
}

async function limit({ call }: TestGateway, usd: number): Promise<void> {
  expect((await call('PUT', '/workspaces/default/budgets/daily', { limit_usd: usd })).status).toBe(200);
}

/** Sends so many requests, each with that output. */
async function teach(tested: TestGateway, count: number, tokens: number, body: object = ask): Promise<void> {
  tested.upstream.always(answer(tokens));
  for (let sent = 0; sent < count; sent++) expect((await tested.post(body)).status).toBe(200);
}

const lastOf = ({ records }: TestGateway) => records.at(-1) as RequestRecord;

/** What is held for a request of which nothing is known, by its record. */
async function worstOf(): Promise<number> {
  const tested = gateway('worst');
  await limit(tested, 1_000);
  await teach(tested, 1, 1);
  return lastOf(tested).heldNanoUsd;
}

async function budgetOf({ call }: TestGateway) {
  return (await call('GET', '/workspaces/default/budgets/daily')).json.data as unknown as {
    spent_usd: number;
    held_usd: number;
    overspent_usd: number;
  };
}

describe('budgets.estimate "p99"', () => {
  it('holds the worst case until a hundred requests of the kind are known, and then what 99 of 100 cost', async () => {
    const [tested, worstNanoUsd] = [gateway('p99'), await worstOf()];
    await limit(tested, 1_000);
    await teach(tested, leastSamples + 1, 16);
    const held = tested.records.map(({ heldNanoUsd }) => heldNanoUsd);
    expect(new Set(held.slice(0, leastSamples))).toEqual(new Set([worstNanoUsd]));
    // The prompt is still held at its bound.
    expect(held[leastSamples]).toBe(worstNanoUsd - (maxTokens - 16) * tokenNanoUsd);
  });
  it.each<[string, object]>([
    ['another model', { ...ask, model: 'acme/other' }],
    ['a far larger largest output', { ...ask, max_tokens: 50 * maxTokens }],
    ['several choices', { ...ask, n: 2 }],
    ['reasoning', { ...ask, reasoning_effort: 'high' }],
  ])('holds the worst case of %s, which is another kind', async (_, other) => {
    const [learned, fresh] = [gateway('p99'), gateway('p99')];
    for (const tested of [learned, fresh]) await limit(tested, 1_000);
    await teach(learned, leastSamples, 16);
    for (const tested of [learned, fresh]) await teach(tested, 1, 16, other);
    expect(lastOf(learned).heldNanoUsd).toBe(lastOf(fresh).heldNanoUsd);
  });
  it('holds the prompt in full, also of a request whose prompt is longer than all before', async () => {
    const [tested, worst] = [gateway('p99'), gateway('worst')];
    for (const one of [tested, worst]) await limit(one, 1_000);
    await teach(tested, leastSamples, 16);
    const long = { ...ask, messages: [{ role: 'user', content: 'x'.repeat(20_000) }] };
    for (const one of [tested, worst]) {
      one.upstream.always({
        body: completion({ usage: { prompt_tokens: 5_000, completion_tokens: 1, total_tokens: 5_001 } }),
      });
      expect((await one.post(long)).status).toBe(200);
    }
    expect(lastOf(tested).heldNanoUsd).toBe(lastOf(worst).heldNanoUsd - (maxTokens - 16) * tokenNanoUsd);
  });
  it('never holds more than the worst case', async () => {
    const [tested, worstNanoUsd] = [gateway('p99'), await worstOf()];
    await limit(tested, 1_000);
    // A provider that bills more than it may.
    await teach(tested, leastSamples + 1, 3 * maxTokens);
    expect(lastOf(tested).heldNanoUsd).toBe(worstNanoUsd);
  });
  it('admits requests at the same time that the worst case does not', async () => {
    const counts: number[] = [];
    for (const estimate of ['worst', 'p99'] as const) {
      const tested = gateway(estimate);
      await limit(tested, 1_000);
      await teach(tested, leastSamples, 16);
      const { spent_usd } = await budgetOf(tested);
      await limit(tested, spent_usd + 0.02);
      tested.upstream.always({ ...answer(16), afterMs: 1_000 });
      const sent = Array.from({ length: 20 }, () => tested.send(ask));
      await tested.clock.advance(1_000);
      const statuses = (await Promise.all(sent)).map(({ status }) => status);
      counts.push(statuses.filter((status) => status === 200).length);
    }
    expect(counts).toEqual([2, expect.any(Number)]);
    expect(counts[1]).toBeGreaterThanOrEqual(10);
  });
  it('books what costs more in full, and says by how much: in the record, the log and the budget', async () => {
    const lines: { fields: object; text: string }[] = [];
    const write = (fields: object, text: string) => void lines.push({ fields, text });
    const tested = gateway('p99', { logger: { info: write, warn: write, error: write } });
    await limit(tested, 1_000);
    await teach(tested, leastSamples, 16);
    const before = await budgetOf(tested);
    tested.upstream.always(answer(maxTokens));
    // As much is left as is held for one more.
    await limit(tested, before.spent_usd + 0.002);
    expect((await tested.post(ask)).status).toBe(200);
    const { overrunNanoUsd, heldNanoUsd, costNanoUsd } = lastOf(tested);
    expect(overrunNanoUsd).toBe((costNanoUsd as number) - heldNanoUsd);
    expect(overrunNanoUsd).toBeGreaterThan(6_000_000 - 1_000_000);
    const logged = lines.find(({ text }) => text === 'a call cost more than was held for it');
    expect(logged?.fields).toMatchObject({ heldNanoUsd, actualNanoUsd: costNanoUsd });
    expect(lines.some(({ fields }) => 'overrunNanoUsd' in fields && fields.overrunNanoUsd === overrunNanoUsd)).toBe(
      true,
    );
    const after = await budgetOf(tested);
    expect(after.spent_usd).toBeCloseTo(before.spent_usd + (costNanoUsd as number) / 1e9, 9);
    expect(after.overspent_usd).toBeCloseTo((costNanoUsd as number) / 1e9 - 0.002, 9);
    expect((await tested.post(ask)).status).toBe(402);
  });
  it('overspends a limit by no more than the worst case less the hold of each request in flight', async () => {
    const worstNanoUsd = await worstOf();
    const random = randomFrom(11);
    let overspent = 0;
    for (let round = 0; round < 12; round++) {
      const tested = gateway('p99');
      await limit(tested, 1_000);
      await teach(tested, leastSamples, 1 + Math.floor(random() * 60));
      const limitNanoUsd = Math.round((await budgetOf(tested)).spent_usd * 1e9) + Math.floor(random() * 40_000_000);
      await limit(tested, limitNanoUsd / 1e9);
      const taught = tested.records.length;
      const sent: Promise<unknown>[] = [];
      for (let wave = 0; wave < 4; wave++) {
        for (let one = 0; one < 8; one++) {
          tested.upstream.answer({ ...answer(1 + Math.floor(random() * maxTokens)), afterMs: 1 + random() * 1_000 });
          sent.push(tested.send(ask).then((response) => response.text()));
          await tested.clock.advance(random() * 100);
        }
        await tested.clock.advance(random() * 500);
      }
      await tested.clock.advance(5_000);
      await Promise.all(sent);
      const served = tested.records.slice(taught).filter(({ status }) => status === 200);
      // Who may overspend: what is in flight when the last hold is made, by then within the limit.
      const inFlight = served.map(
        ({ receivedAtMs }) =>
          served.filter(
            (other) => other.receivedAtMs <= receivedAtMs && other.receivedAtMs + other.totalMs >= receivedAtMs,
          ).length,
      );
      for (const { overrunNanoUsd, heldNanoUsd, costNanoUsd } of served) {
        expect(overrunNanoUsd).toBeLessThanOrEqual(worstNanoUsd - heldNanoUsd);
        expect(overrunNanoUsd).toBe(Math.max((costNanoUsd as number) - heldNanoUsd, 0));
      }
      const leastHeld = Math.min(...served.map(({ heldNanoUsd }) => heldNanoUsd));
      const { spent_usd, held_usd, overspent_usd } = await budgetOf(tested);
      expect(held_usd).toBe(0);
      const spentNanoUsd = Math.round(spent_usd * 1e9);
      expect(spentNanoUsd).toBeLessThanOrEqual(
        limitNanoUsd + Math.max(0, ...inFlight) * Math.max(worstNanoUsd - leastHeld, 0),
      );
      expect(Math.round(overspent_usd * 1e9)).toBe(Math.max(spentNanoUsd - limitNanoUsd, 0));
      if (overspent_usd > 0) overspent++;
    }
    // Or nothing was tested.
    expect(overspent).toBeGreaterThan(3);
  });
  it('is not changed for one workspace by what another sends', async () => {
    const tested = gateway('p99');
    const { id } = (await tested.call('POST', '/workspaces', { name: 'Other', slug: 'other' })).json.data as {
      id: string;
    };
    const { key } = (await tested.call('POST', '/keys', { name: 'k', workspace_id: id })).json as unknown as {
      key: string;
    };
    await limit(tested, 1_000);
    await tested.call('PUT', `/workspaces/${id}/budgets/daily`, { limit_usd: 1_000 });
    await teach(tested, leastSamples, 1);
    expect((await tested.post(ask, { authorization: `Bearer ${key}` })).status).toBe(200);
    expect(lastOf(tested).workspaceId).toBe(id);
    expect(lastOf(tested).heldNanoUsd).toBe(await worstOf());
  });
  it('learns nothing by default: the worst case is held', async () => {
    const tested = testGateway({ models, ids: randomIds });
    await limit(tested, 1_000);
    await teach(tested, leastSamples + 1, 16);
    expect(new Set(tested.records.map(({ heldNanoUsd }) => heldNanoUsd))).toEqual(new Set([await worstOf()]));
  });
});
