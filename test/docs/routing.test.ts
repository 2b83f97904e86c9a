import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultOptions } from '../../adapters/cli/config.ts';
import { hedgeTable, type RoutingFindings, strategyTable } from '../../bench/routing/findings.ts';
import { tenEndpoints } from '../../bench/routing/world.ts';
import { seededRandom } from '../../src/base/random.ts';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import { type GatewayOptions, resolveOptions } from '../../src/options.ts';
import { plugins } from '../../src/plugins/index.ts';
import { preferenceFilters } from '../../src/routing/filter.ts';
import { splitSuffix } from '../../src/routing/variant.ts';
import { routingStrategies } from '../../src/schema/chat/envelope.ts';
import { providerPreferencesSchema } from '../../src/schema/chat/preferences.ts';
import { pluginVariantsOf } from '../../src/setup/extensions.ts';
import { examplesOf, writeExample } from './example-files.ts';
import { codeBlocks, quoted, readDoc, root, tableRows } from './markdown.ts';

const path = 'docs/routing.md';
const pages = [path, 'docs/explain.md'];
const doc = pages.map(readDoc).join('\n');
const rows = tableRows(doc);
const [metadata = '', explained = '', ...otherJson] = codeBlocks(doc, 'json');
const [weighted = '', example = '', ...otherExamples] = pages.flatMap((page) => examplesOf(page));
const [command = '', ...otherCommands] = codeBlocks(doc, 'sh');
const key = 'sk-the-key-that-npm-start-prints';

const named = (column: string) =>
  rows.filter(({ columns }) => columns[0] === column).flatMap(({ cells }) => quoted(cells[0] as string));

describe('docs/routing.md', () => {
  let gateway: Gateway;
  beforeAll(() => {
    gateway = createGateway({ ...defaultOptions({}), apiKeys: [{ key }] });
  });
  afterAll(() => gateway.close());

  it('shows nothing that is not run here', () => {
    expect([otherJson, otherExamples, otherCommands]).toEqual([[], [], []]);
  });
  it('shows a command whose answer has the metadata it shows', async () => {
    const [, url = '', data = ''] = /^curl (\S+) [\s\S]*-d '([^']*)'/.exec(command) ?? [];
    const headers = new Headers({ 'content-type': 'application/x-www-form-urlencoded' });
    for (const [, name = '', value = ''] of command.matchAll(/-H "([\w-]+): ([^"]*)"/g))
      headers.set(name, value.replace('$GATEWAY_API_KEY', key));
    const answer = await gateway.fetch(url, { method: 'POST', headers, body: data });
    expect(answer.status).toBe(200);
    expect((await answer.json()).service_metadata).toEqual(JSON.parse(metadata));
  });
  it('shows an example that explains what it shows, over HTTP as well', async () => {
    const file = writeExample('routing-explain', example);
    const run: { gateway: Gateway; explanation: unknown } = await import(/* @vite-ignore */ file);
    expect(run.explanation).toEqual(JSON.parse(explained));
    const [, body = ''] = /explain\((\{[\s\S]*\})\);/.exec(example) ?? [];
    const answer = await run.gateway.fetch('http://127.0.0.1/v1/chat/completions/explain', {
      method: 'POST',
      headers: { authorization: 'Bearer sk-change-me-please', 'content-type': 'application/json' },
      body: body
        .replace(/(\w+):/g, '"$1":')
        .replaceAll("'", '"')
        .replace(/,(\s*\})/g, '$1'),
    });
    expect(await answer.json()).toEqual({ data: JSON.parse(explained) });
    await run.gateway.close();
  });
  it('chooses as often as it says', async () => {
    const [, ...said] = /come first in (\d+) %, (\d+) % and (\d+) %/.exec(doc) ?? [];
    const weights = [1, 1 / 4, 1 / 9];
    const all = weights.reduce((sum, weight) => sum + weight);
    expect(said.map(Number)).toEqual(weights.map((weight) => Math.round((weight / all) * 100)));
    const providers = ['one', 'two', 'three'];
    const drawing = createGateway({
      providers: Object.fromEntries(providers.map((slug) => [slug, { baseUrl: `https://${slug}.example/v1` }])),
      models: [
        {
          slug: 'acme/tree',
          order: 'price',
          endpoints: providers.map((provider, at) => {
            const price = `0.00000${at + 1}`;
            return { provider, model: 'tree', pricing: { prompt: price, completion: price } };
          }),
        },
      ],
      apiKeys: [{ key }],
      random: seededRandom('0badcafe'),
    });
    const draws = 4000;
    const firsts = [0, 0, 0];
    const body = { model: 'acme/tree', messages: [{ role: 'user', content: 'Hi' }] };
    for (let draw = 0; draw < draws; draw++)
      firsts[providers.indexOf((await drawing.explain(body)).candidates[0]?.provider ?? '')]! += 1;
    const expected = weights.map((weight) => (weight / all) * draws);
    // Chi-square with 2 degrees of freedom: 13.8 in one of a thousand.
    expect(firsts.reduce((sum, count, at) => sum + (count - expected[at]!) ** 2 / expected[at]!, 0)).toBeLessThan(13.8);
    await drawing.close();
  });

  it('shares requests by weight as its example says', async () => {
    const { models }: Pick<GatewayOptions, 'models'> = await import(
      /* @vite-ignore */ writeExample('routing-weights', weighted)
    );
    const shares = [...weighted.matchAll(/(\w+) of four/g)].map(
      ([, share]) => ['one', 'two', 'three'].indexOf(share!) + 1,
    );
    const drawing = createGateway({
      providers: { groq: { apiKey: key }, together: { apiKey: key }, local: { baseUrl: 'http://127.0.0.1:9/v1' } },
      models,
      apiKeys: [{ key }],
      random: seededRandom('0badcafe'),
    });
    const draws = 4000;
    const firsts: Record<string, number> = {};
    for (let draw = 0; draw < draws; draw++) {
      const { candidates } = await drawing.explain({ model: 'acme/chat', messages: [{ role: 'user', content: 'Hi' }] });
      const [first = ''] = candidates.map(({ provider }) => provider);
      firsts[first] = (firsts[first] ?? 0) + 1;
      expect(candidates.at(-1)?.provider).toBe('local');
    }
    const expected = shares.map((share) => (share * draws) / 4);
    const counts = [firsts.groq ?? 0, firsts.together ?? 0];
    expect(Object.keys(firsts).toSorted()).toEqual(['groq', 'together']);
    // Chi-square with 1 degree of freedom: 10.8 in one of a thousand.
    expect(counts.reduce((sum, count, at) => sum + (count - expected[at]!) ** 2 / expected[at]!, 0)).toBeLessThan(10.8);
    await drawing.close();
  });

  it('has a row for every preference, and no other', () => {
    expect(named('Field').toSorted()).toEqual(Object.keys(providerPreferencesSchema().shape).toSorted());
  });
  it('has a row for every suffix', () => {
    const ofPlugins = pluginVariantsOf(plugins);
    const suffixes = named('Suffix').map((suffix) => suffix.slice(1));
    expect(suffixes.map((suffix) => splitSuffix(`acme/tree:${suffix}`, ofPlugins))).toEqual(
      suffixes.map((suffix) => ({ base: 'acme/tree', suffix })),
    );
    expect(suffixes.toSorted()).toEqual(['exacto', 'extended', 'floor', 'free', 'nitro', 'online', 'thinking']);
    expect(splitSuffix('acme/tree:quick', ofPlugins)).toBeNull();
  });
  it('names the strategy of every router', () => {
    const strategies = rows
      .filter(({ columns }) => columns[0] === 'Slug')
      .flatMap(({ cells }) => quoted(cells[2] ?? ''));
    expect(strategies).toEqual(['auto', 'free', 'pareto', 'latest']);
    expect(routingStrategies).toEqual(expect.arrayContaining(strategies));
  });
  it('says of every rule why an endpoint is out', () => {
    const known = [...preferenceFilters, 'free', 'thinking', 'extended'];
    const further = [
      'disabled',
      'wire_format',
      'stored',
      'service_tier',
      'credentials',
      'byok',
      'byok_only',
      'byok_incomplete',
      'cooldown',
      'health_check',
      'sandbox',
      'budget',
      'tool_output',
    ];
    expect(named('`filter`').toSorted()).toEqual([...known, ...further].toSorted());
  });
  it('names options with their defaults', () => {
    const { health, retry, sticky, hedge } = resolveOptions({ apiKeys: [{ key }] });
    const said: [RegExp, number][] = [
      [/after (\d+) failures in a row/, health.failuresToCooldown],
      [/for (\d+) s \(`cooldownMs`\)/, health.cooldownMs / 1000],
      [/longer pause than (\d+) s/, retry.maxRetryAfterMs / 1000],
      [/For (\d+) minutes after the last success/, sticky.ttlMs / 60_000],
    ];
    for (const [pattern, value] of said) expect([pattern, Number(pattern.exec(doc)?.[1])]).toEqual([pattern, value]);
    expect([health.maxCooldownMs, retry.cooldownMs, hedge.maxShare, hedge.afterMs]).toEqual([
      60_000,
      60_000,
      1 / 20,
      null,
    ]);
  });

  it('shows what the simulation found', () => {
    const found: RoutingFindings = JSON.parse(readFileSync(join(root, 'bench/routing/results.json'), 'utf8'));
    expect(doc).toContain(`\n\n${strategyTable(found.strategies)}\n\n`);
    expect(doc).toContain(`\n\n${hedgeTable(found.hedge)}\n\n`);
    expect(doc).toContain(`${found.requests.toLocaleString('en')} requests`);
  });
  it('says no better of the findings than they are', () => {
    const { strategies, hedge }: RoutingFindings = JSON.parse(
      readFileSync(join(root, 'bench/routing/results.json'), 'utf8'),
    );
    const { naive, ...others } = strategies;
    const { default: ours, fast, price, latencyRound, throughputRound, latency, throughput, order } = others;
    for (const { succeeded, attemptsPerRequest } of Object.values(others)) {
      expect(succeeded).toBe(1);
      expect(attemptsPerRequest).toBeLessThanOrEqual(1.03);
    }
    expect(Math.round(1 / (1 - naive.succeeded))).toBeGreaterThan(17);
    expect(Math.round(1 / (1 - naive.succeeded))).toBeLessThan(25);
    // Half as much again as the cheapest, and its slowest percent the worst of all.
    expect(ours.usdPerThousand / price.usdPerThousand).toBeCloseTo(1.5, 1);
    expect(ours.p50Ms / price.p50Ms).toBeGreaterThan(0.8);
    expect(ours.p99Ms).toBe(Math.max(...Object.values(strategies).map(({ p99Ms }) => p99Ms)));
    // With a cutoff half the median, less than half the 99th percentile, less than half as much again.
    expect(fast.p50Ms / ours.p50Ms).toBeCloseTo(0.5, 1);
    expect(fast.p99Ms).toBeLessThan(ours.p99Ms / 2);
    expect(fast.usdPerThousand).toBeLessThan(1.5 * ours.usdPerThousand);
    expect(latency.p50Ms).toBeGreaterThan(2 * latencyRound.p50Ms);
    expect(throughput.p50Ms).toBeGreaterThan(2 * throughputRound.p50Ms);
    for (const { usdPerThousand } of [latencyRound, throughputRound]) {
      expect(usdPerThousand / price.usdPerThousand).toBeGreaterThan(4);
      expect(usdPerThousand / price.usdPerThousand).toBeLessThan(5.05);
    }
    const prices = tenEndpoints.map(({ promptUsd }) => promptUsd);
    const average = prices.reduce((sum, one) => sum + one) / prices.length / Math.min(...prices);
    expect(order.usdPerThousand / price.usdPerThousand).toBeCloseTo(average, 0);
    expect(hedge.on.p99Ms).toBeLessThan(hedge.off.p99Ms / 2);
    expect(hedge.on.usdPerThousand).toBeLessThan(1.05 * hedge.off.usdPerThousand);
  });
});
