import { describe, expect, it } from 'vitest';
import { withBudget } from '../support/booked.ts';
import { testKey } from '../support/gateway.ts';

const pricing = { prompt: '0.000001', completion: '0.000008' };
const options = {
  providers: {
    up: { baseUrl: 'https://up.test/v1', apiKey: 'sk-upstream-0123456789', dialect: 'anthropic-messages' as const },
  },
  models: [{ slug: 'acme/own', endpoints: [{ provider: 'up', model: 'claude-sonnet-4-5', pricing }] }],
};

const message = {
  id: 'msg_upstream',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text: 'Hi' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 2 },
};
const hello = [{ role: 'user', content: 'Hello' }];

/** Sends a request below a budget. */
async function limited(more: object, limitUsd = 1) {
  const made = await withBudget(limitUsd, options);
  made.upstream.answer({ body: message });
  const body = { model: 'acme/own', max_tokens: 100, messages: hello, ...more };
  const answer = await made.call('POST', '/messages', body, { authorization: `Bearer ${testKey}` });
  const sent = made.upstream.sent[0]?.body as Record<string, unknown> | undefined;
  const dropped = answer.headers.get('x-service-dropped')?.split(', ').toSorted() ?? [];
  return { ...answer, sent, dropped };
}

describe('a Messages request below a budget, to an upstream that speaks the wire', () => {
  it('takes no field along whose cost nobody knows, and says so', async () => {
    const { status, sent, dropped } = await limited({
      zeta: { later: 1 },
      speed: 'fast',
      mcp_servers: [{ type: 'url', url: 'https://mcp.test', name: 'a' }],
      metadata: { user_id: 'u' },
      thinking: { type: 'enabled', budget_tokens: 1024 },
      max_tokens: 2000,
    });
    expect(status).toBe(200);
    expect(Object.keys(sent ?? {}).toSorted()).toEqual(['max_tokens', 'messages', 'metadata', 'model', 'thinking']);
    expect(dropped).toEqual(['mcp_servers', 'speed', 'zeta']);
  });
  it('keeps the tools that the client runs, and no other', async () => {
    const own = { name: 'read', input_schema: { type: 'object' } };
    const ofClient = ['bash_20250124', 'browser_toolset_20260801', 'computer_toolset_20260801'];
    const tools = [own, ...ofClient.map((type) => ({ type, name: type }))];
    const paid = ['web_search_20250305', 'tool_search_tool_regex_20251119', 'brand_new_20270101'];
    const { sent, dropped } = await limited({ tools: [...tools, ...paid.map((type) => ({ type, name: 'n' }))] });
    expect(sent?.tools).toEqual(tools);
    expect(dropped).toEqual(paid.map((type) => `tools[].${type}`).toSorted());
  });
  it('forces no tool that was left out', async () => {
    const own = { name: 'read', input_schema: { type: 'object' } };
    const tools = [own, { type: 'web_search_20250305', name: 'web_search' }];
    const choiceOf = async (name: string) => {
      const { sent, dropped } = await limited({ tools, tool_choice: { type: 'tool', name } });
      return [sent?.tool_choice, dropped];
    };
    expect(await choiceOf('web_search')).toEqual([undefined, ['tool_choice', 'tools[].web_search_20250305']]);
    expect(await choiceOf('read')).toEqual([{ type: 'tool', name: 'read' }, ['tools[].web_search_20250305']]);
    // The provider says what is wrong with it.
    expect(await choiceOf('other')).toEqual([{ type: 'tool', name: 'other' }, ['tools[].web_search_20250305']]);
  });
  it('gets no tool of the provider by a message either, and nothing that names such a tool', async () => {
    const own = { name: 'read', input_schema: { type: 'object' } };
    const search = { type: 'web_search_20260318', name: 'web_search' };
    const added = (tool: object) => ({ type: 'tool_addition', tool });
    const defined = (definition: object) => added({ type: 'tool_definition', definition });
    const named = (name: string) => ({ type: 'tool_reference', name });
    const kept = [{ type: 'text', text: 'Mind the time' }, defined(own), added(named('read'))];
    const servers = { type: 'mcp_toolset', mcp_server_name: 'a' };
    const paid = [
      ...[search, servers, { type: 'brand_new_20270101', name: 'new' }].map(defined),
      ...[search, { type: 'mcp_toolset_reference', name: 'a' }, named('web_search'), named('fetch')].map(added),
      { type: 'tool_removal', tool: named('web_search') },
    ];
    const summary = { type: 'compaction', content: 'So far', encrypted_content: 'c2VhbGVk' };
    const changed = { ...summary, tool_changes: [defined(search), defined(own)] };
    const { status, sent, dropped } = await limited({
      tools: [{ type: 'web_fetch_20250910', name: 'fetch' }],
      messages: [
        { role: 'assistant', content: [changed] },
        ...hello,
        { role: 'system', content: [...paid, ...kept] },
        { role: 'system', content: paid },
      ],
    });
    expect(status).toBe(200);
    expect(sent?.messages).toEqual([
      { role: 'assistant', content: [{ ...summary, tool_changes: [defined(own)] }] },
      ...hello,
      { role: 'system', content: kept },
    ]);
    expect(dropped).toEqual([
      'messages[].content[].tool_addition',
      'messages[].content[].tool_removal',
      'tools[].web_fetch_20250910',
    ]);
  });
  it.each([
    ['keeps what makes a prompt shorter', [{ type: 'clear_thinking_20251015', keep: 'all' }], true],
    ['asks for no summary, which is a second response', [{ type: 'compact_20260112' }], false],
  ])('%s', async (_, edits, isKept) => {
    const { sent, dropped } = await limited({ context_management: { edits } });
    expect('context_management' in (sent ?? {})).toBe(isKept);
    expect(dropped).toEqual(isKept ? [] : ['context_management']);
  });
  it('has no thread, whose earlier part nobody here can count: the client goes on without', async () => {
    const { status, json, sent } = await limited({ thread: { type: 'continue', previous_message_id: 'msg_1' } });
    expect([status, json.error.type, json.error.details.error_code]).toEqual([
      400,
      'invalid_request_error',
      'thread_unsupported_request',
    ]);
    expect(sent).toBeUndefined();
  });
  it('is held with the tokens of blocks that only this wire has', async () => {
    const found = { type: 'web_search_result', url: 'https://x.test', encrypted_content: 'e'.repeat(100_000) };
    const messages = [
      ...hello,
      {
        role: 'assistant',
        content: [
          { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
          { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [found] },
          { type: 'text', text: 'Found.' },
        ],
      },
      { role: 'user', content: 'And now?' },
    ];
    const alone = [{ role: 'user', content: [{ type: 'brand_new', x: 'x'.repeat(100_000) }] }, ...hello];
    const about = [{ type: 'text', text: `x-anthropic-billing-header: ${'x'.repeat(100_000)}` }];
    for (const more of [{ messages: alone }, { messages: alone.toReversed() }, { system: about }])
      expect((await limited(more, 0.1)).status).toBe(402);
    // 100,000 bytes may be as many tokens; at most, each is written to a cache for 0.000002 USD.
    expect((await limited({ messages }, 0.19)).status).toBe(402);
    expect((await limited({ messages }, 0.25)).status).toBe(200);
  });
  it('is held with the tokens of a picture, and not with those of its base64', async () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'A'.repeat(400_000) };
    const image = { type: 'image', source };
    const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: [image] };
    const call = { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'see', input: {} }] };
    for (const messages of [
      [{ role: 'user', content: [image] }],
      [...hello, call, { role: 'user', content: [result] }],
    ]) {
      expect((await limited({ messages }, 0.2)).status).toBe(200);
      expect((await limited({ messages }, 0.08)).status).toBe(402);
    }
  });
  it('is refused, where the budget is spent, in words after which the client stops', async () => {
    const { status, json, headers } = await limited({}, 0.000001);
    expect([status, json.type, json.error.type, headers.get('x-should-retry')]).toEqual([
      402,
      'error',
      'billing_error',
      'false',
    ]);
  });
});
