import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/options.ts';
import { fusion } from '../../src/plugins/fusion/index.ts';
import { ledgerOf } from '../support/booked.ts';
import { fusionGateway, fusionModels, type Script, said, sentFor, wellDone } from '../support/fusion.ts';
import { hello } from '../support/gateway.ts';
import { engineOf, pageOf } from '../support/search.ts';
import { completion, errorBody } from '../support/upstream.ts';

const panel = ['acme/a', 'acme/b'];
const ask = (entry: object = {}) => ({
  messages: hello,
  max_tokens: 100,
  plugins: [{ id: 'fusion', analysis_models: panel, ...entry }],
});
const metadata = { 'x-service-metadata': 'enabled' };
const pages = [pageOf('botany'), pageOf('fruit')];
/** What one search costs, integer nano-USD. */
const price = 5_000_000;

const calling = (name: string, ...args: object[]) => ({
  body: completion(
    { usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 } },
    {
      content: null,
      tool_calls: args.map((one, at) => ({
        id: `c${at}`,
        type: 'function',
        function: { name, arguments: JSON.stringify(one) },
      })),
    },
    { finish_reason: 'tool_calls' },
  ),
});
type Body = Parameters<Script>[2];
const resultsIn = ({ messages }: Body) => messages.filter(({ role }) => role === 'tool').map(({ content }) => content);
const toolsOf = (body: Body) =>
  ((body.tools ?? []) as { function: { name: string } }[]).map(({ function: { name } }) => name);

/** Analysis models search once, where they can, and then answer. */
const searching: Script = (asked, model, body) => {
  if (asked !== 'analysis' || resultsIn(body).length > 0 || !toolsOf(body).includes('web_search'))
    return wellDone(asked, model, body);
  return calling('web_search', { query: `bananas of ${model}` });
};
/** Analysis models never stop to search. */
const restless: Script = (asked, model, body) =>
  asked === 'analysis' && body.tool_choice !== 'none'
    ? calling('web_search', { query: 'a' }, { query: 'b' })
    : wellDone(asked, model, body);

function searchGateway(script: Script = searching, options: Partial<GatewayOptions> = {}) {
  const engine = engineOf(pages, { priceOf: () => price });
  return { ...fusionGateway(script, { searchEngines: [engine], ...options }), engine };
}
// biome-ignore lint/suspicious/noExplicitAny: for the tests to look into
const stagesOf = (told: any, name = 'fusion') =>
  told.service_metadata.pipeline.filter((stage: { name: string }) => stage.name === name);

describe('the tools of analysis models', () => {
  it('are web search and web fetch by default, and neither the judge nor the writer has them', async () => {
    const tested = searchGateway();
    const { status, json } = await tested.post(ask());
    expect([status, json.choices[0]?.message.content]).toEqual([200, 'The sky is blue']);
    expect(sentFor(tested, 'analysis').map(toolsOf)).toEqual(Array(4).fill(['web_search', 'web_fetch']));
    for (const asked of ['judge', 'final'] as const) expect(sentFor(tested, asked).map(toolsOf)).toEqual([[]]);
    expect(tested.engine.asked.map(({ query }) => query)).toEqual(['bananas of a', 'bananas of b']);
    const answered = sentFor(tested, 'analysis').filter((body) => resultsIn(body).length > 0);
    expect(answered).toHaveLength(2);
    for (const body of answered) expect(resultsIn(body)[0]).toContain(pages[0]?.url);
  });
  it('are none where the gateway has no search engine, and where the request or the host app wants none', async () => {
    const cases = [
      fusionGateway(searching),
      searchGateway(searching, { plugins: [fusion({ tools: [] })] }),
      searchGateway(),
    ];
    for (const [at, tested] of cases.entries()) {
      await tested.post(ask(at === 2 ? { tools: [] } : {}));
      expect(sentFor(tested, 'analysis').map(toolsOf)).toEqual([[], []]);
    }
  });
  it('are those that the request names, with their settings, else those of the host app', async () => {
    const named = searchGateway();
    const parameters = { max_results: 1, allowed_domains: ['botany.example'] };
    await named.post(ask({ tools: [{ type: 'service:web_search', parameters }] }));
    expect(sentFor(named, 'analysis').map(toolsOf)).toEqual(Array(4).fill(['web_search']));
    expect(named.engine.asked[0]).toMatchObject({ maxResults: 1, includeDomains: ['botany.example'] });
    const own = fusionGateway(searching, { plugins: [fusion({ tools: [{ type: 'service:datetime' }] })] });
    await own.post(ask());
    expect(sentFor(own, 'analysis').map(toolsOf)).toEqual([['datetime'], ['datetime']]);
  });
  it('are shown with what was searched, and on the bill', async () => {
    const tested = searchGateway();
    const { json } = await tested.post(ask(), metadata);
    const tokens = (4 * 10 + 100 + 200) * 1000 + (4 * 2 + 20 + 30) * 8000;
    const cost = (tokens + 2 * price) / 1e9;
    const [stage] = stagesOf(json);
    expect(json.usage).toMatchObject({ cost, server_tool_use_details: { web_search_requests: 2 } });
    expect(stage).toMatchObject({
      summary: '2 of 2 analysis models answered after 2 calls of tools; acme/a compares and writes',
      cost_usd: cost,
      data: {
        tools: ['service:web_search', 'service:web_fetch'],
        max_tool_calls: 8,
        sources: pages.length,
      },
    });
    const [first] = stage.data.generations;
    expect(first).toMatchObject({ tool_calls: { web_search: 1 }, cost_usd: (2 * 26_000 + price) / 1e9 });
    expect(stagesOf(json, 'server-tools').map((one: { cost_usd: number }) => one.cost_usd)).toEqual(
      Array(2).fill(price / 1e9),
    );
    expect(tested.records[0]?.costNanoUsd).toBe(tokens + 2 * price);
    // What a model has written, such as a query, is no matter of records.
    expect(JSON.stringify(tested.records)).not.toContain('bananas');
  });
  it('are counted as held and spent, and a search for which there is no money fails its model alone', async () => {
    const tested = searchGateway(searching, { models: fusionModels });
    await tested.call('PUT', '/workspaces/default/budgets/lifetime', { limit_usd: 10 });
    tested.engine.priceOf = () => 20_000_000_000;
    const { status, json } = await tested.post(ask());
    const failures = json.error.metadata?.failed_models as unknown[];
    expect([status, failures.length]).toEqual([402, 2]);
    expect(tested.engine.asked).toHaveLength(0);
    expect((await ledgerOf(tested, 'acme/a')).held).toBe(0);
  });
  it.each([1, 3, 16])('are run %i times for a model at most, which then answers without them', async (most) => {
    const tested = searchGateway(restless);
    const { status, json } = await tested.post(ask({ max_tool_calls: most }), metadata);
    expect([status, stagesOf(json)[0].data.max_tool_calls]).toEqual([200, most]);
    expect(tested.engine.asked).toHaveLength(2 * most);
    const told = sentFor(tested, 'analysis').filter(({ tool_choice: choice }) => choice === 'none');
    expect(told).toHaveLength(2);
  });
  it('end with the calls for a model that calls on', async () => {
    const tested = searchGateway((asked, model, body) =>
      asked === 'analysis'
        ? { body: { ...(restless(asked, model, { ...body, tool_choice: 'auto' }).body as object) } }
        : wellDone(asked, model, body),
    );
    const { status, json } = await tested.post(ask({ max_tool_calls: 2 }), metadata);
    expect([status, tested.engine.asked.length, sentFor(tested, 'analysis').length]).toEqual([502, 4, 4]);
    expect(json.error.metadata?.failed_models).toHaveLength(2);
  });
  it('have a number of calls that the host app sets', async () => {
    const tested = searchGateway(restless, { plugins: [fusion({ maxToolCalls: 2 })] });
    await tested.post(ask());
    expect(tested.engine.asked).toHaveLength(4);
    for (const options of [{ maxToolCalls: 0 }, { maxToolCalls: 17 }, { tools: Array(9).fill({ type: 'x' }) }])
      expect(() => fusion(options)).toThrow(/^fusion\./);
  });
  it('are left out for a model that takes none, and where its provider refuses them', async () => {
    const models = fusionModels.map((model) =>
      model.slug === 'acme/a'
        ? { ...model, endpoints: model.endpoints.map((one) => ({ ...one, supportedParameters: ['max_tokens'] })) }
        : model,
    );
    const tested = searchGateway(
      (asked, model, body) =>
        model === 'b' && toolsOf(body).length > 0
          ? { status: 400, body: errorBody('no tools') }
          : wellDone(asked, model, body),
      { models },
    );
    const { status, json } = await tested.post(ask(), metadata);
    expect(status).toBe(200);
    expect(sentFor(tested, 'analysis').map((body) => [body.model, toolsOf(body).length])).toEqual([
      ['a', 0],
      ['b', 2],
      ['b', 0],
    ]);
    const { data } = stagesOf(json)[0];
    expect([data.models_without_tools, data.failed_models]).toEqual([['acme/a'], undefined]);
  });
  it.each<[string, object, string]>([
    [
      'wrong settings',
      { type: 'service:web_search', parameters: { max_results: 50 } },
      'tools[1].parameters.max_results',
    ],
    ['an unknown tool', { type: 'service:fusion' }, 'tools[1].type'],
    ['a function', { type: 'function' }, 'tools[1].type'],
  ])('are refused with a 400 before anything is sent: %s', async (_, tool, path) => {
    const tested = searchGateway();
    const { status, json } = await tested.post(ask({ tools: [{ type: 'service:datetime' }, tool] }));
    expect([status, json.error.metadata?.issues]).toEqual([
      400,
      [expect.objectContaining({ path: `plugins[0].${path}` })],
    ]);
    expect(tested.upstream.sent).toHaveLength(0);
  });
  it('are explained, with the highest price of all searches', async () => {
    const tested = searchGateway();
    const { json } = await tested.call('POST', '/chat/completions/explain', ask({ max_tool_calls: 3 }));
    expect(json.data.pipeline).toEqual([
      expect.objectContaining({
        name: 'fusion',
        cost_usd: (2 * 3 * price) / 1e9,
        data: expect.objectContaining({ max_tool_calls: 3 }),
      }),
    ]);
    expect(tested.engine.asked).toHaveLength(0);
  });
});

it('no two requests of a fusion are encoded in one turn of the event loop', async () => {
  const models = Array.from({ length: 8 }, () => 'acme/a');
  const encodedIn: number[] = [];
  const { stringify } = JSON;
  const own = searchGateway(() => said('yes'));
  let turn = 0;
  let ticking = setImmediate(function tick() {
    turn++;
    ticking = setImmediate(tick);
  });
  JSON.stringify = ((value: unknown, ...rest: []) => {
    if (value !== null && typeof value === 'object' && 'messages' in value && 'model' in value) encodedIn.push(turn);
    return stringify(value, ...rest);
  }) as typeof stringify;
  try {
    const body = stringify(ask({ analysis_models: models }));
    await own.post(JSON.parse(body));
  } finally {
    JSON.stringify = stringify;
    clearImmediate(ticking);
  }
  const sent = encodedIn.slice(-10);
  expect([sent.length, new Set(sent).size]).toEqual([10, 10]);
});
