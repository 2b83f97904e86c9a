import { describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/options.ts';
import { testGateway, testKey, testPricing } from '../support/gateway.ts';
import { engineOf, pageOf } from '../support/search.ts';
import { completion } from '../support/upstream.ts';

const page = 'https://site.example/a';
const tools = [
  { type: 'web_search_20250305', name: 'web_search', max_uses: 3, blocked_domains: ['spam.example'] },
  { type: 'web_fetch_20250910', name: 'web_fetch', max_uses: 2, allowed_domains: ['site.example'] },
  { type: 'code_execution_20250825', name: 'code_execution' },
];

const calling = (name: string, args: object) =>
  completion(
    {},
    {
      content: null,
      tool_calls: [{ id: 'c', type: 'function', function: { name, arguments: JSON.stringify(args) } }],
    },
    { finish_reason: 'tool_calls' },
  );

function asking(options: Partial<GatewayOptions>) {
  const tested = testGateway({
    providers: {
      up: { baseUrl: 'https://up.test/v1', apiKey: 'sk-up' },
      own: { baseUrl: 'https://own.test/v1', apiKey: 'sk-own', dialect: 'anthropic-messages' },
    },
    models: [
      { slug: 'acme/chat', endpoints: [{ provider: 'up', model: 'm', pricing: testPricing }] },
      { slug: 'acme/own', endpoints: [{ provider: 'own', model: 'claude-sonnet-4-5', pricing: testPricing }] },
    ],
    ...options,
  });
  const ask = (model: string) =>
    tested.call(
      'POST',
      '/messages',
      { model, max_tokens: 100, messages: [{ role: 'user', content: 'Look' }], tools },
      { authorization: `Bearer ${testKey}` },
    );
  return { ...tested, ask };
}

describe('tools of a Messages request that the provider would run', () => {
  it('are those of the gateway over another wire, where it has them; the others are left out and listed', async () => {
    const asked: string[] = [];
    const engine = engineOf([pageOf('botany')]);
    const { ask, upstream } = asking({
      searchEngines: [engine],
      fetchUrl: async (url) => {
        asked.push(url);
        return { url, mediaType: 'text/plain', charset: null, bytes: new TextEncoder().encode('A page') };
      },
    });
    upstream.answer(
      { body: calling('web_search', { query: 'bananas' }) },
      { body: calling('web_fetch', { url: page }) },
      { body: completion({}, { content: 'Found.' }) },
    );
    const { status, json, headers } = await ask('acme/chat');
    expect([status, json.content.at(-1)]).toMatchObject([200, { type: 'text', text: 'Found.' }]);
    expect([json.stop_reason, headers.get('x-service-dropped')]).toEqual([
      'end_turn',
      'tools[].code_execution_20250825',
    ]);
    expect(json.content.slice(0, -1)).toMatchObject([
      { type: 'server_tool_use', name: 'web_search', input: { query: 'bananas' } },
      { type: 'web_search_tool_result', content: [{ type: 'web_search_result', url: expect.any(String) }] },
      { type: 'server_tool_use', name: 'web_fetch', input: { url: page } },
      { type: 'web_fetch_tool_result', content: { type: 'web_fetch_result', url: page } },
    ]);
    expect(json.content.map(({ id, tool_use_id: of }: { id?: string; tool_use_id?: string }) => of ?? id)).toEqual(
      [0, 0, 1, 1].map((number) => `srvtoolu_gateway_c_${number}`).concat([undefined as never]),
    );
    expect(json.usage.server_tool_use).toEqual({ web_search_requests: 1, web_fetch_requests: 1 });
    expect([engine.asked, asked]).toMatchObject([[{ query: 'bananas' }], [page]]);
    const sent = upstream.sent.at(-1)?.body as { messages: { role: string; content: string }[] };
    expect(sent.messages.filter(({ role }) => role === 'tool').at(-1)?.content).toContain('A page');
  });
  it('are left out and listed where the gateway has none: it needs a search engine', async () => {
    const { ask, upstream } = asking({});
    upstream.answer({ body: completion() });
    const { headers } = await ask('acme/chat');
    expect(headers.get('x-service-dropped')).toBe('tools[].web_search, tools[].code_execution_20250825');
  });
  it('are those of an upstream that speaks the wire', async () => {
    const { ask, upstream } = asking({ searchEngines: [engineOf([])] });
    upstream.answer({
      body: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'claude-sonnet-4-5',
        content: [{ type: 'text', text: 'Hi' }],
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    });
    await ask('acme/own');
    expect(upstream.sent[0]?.body.tools).toEqual(tools);
  });
});
