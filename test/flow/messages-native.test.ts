import { describe, expect, it } from 'vitest';
import { sealThought } from '../../src/formats/messages/thoughts.ts';
import { packReasoning } from '../../src/formats/responses/packed-reasoning.ts';
import { textGuardrail } from '../../src/guardrails/text-guardrail.ts';
import { testGateway, testKey } from '../support/gateway.ts';
import { loadRecordings, type Recording } from '../support/recordings.ts';
import { describeWithShared } from '../support/reference.ts';
import { errorBody, type ScriptedAnswer } from '../support/upstream.ts';

// biome-ignore lint/suspicious/noExplicitAny: of any response, for a test to look into
type Json = any;

const pricing = { prompt: '0.000002', completion: '0.000008' };

/** A gateway before an upstream that speaks the wire itself. */
function nativeGateway(options: Parameters<typeof testGateway>[0] = {}, upstreamModel = 'claude-sonnet-4-5') {
  const made = testGateway({
    providers: {
      up: {
        baseUrl: 'https://up.test/v1',
        apiKey: 'sk-upstream-0123456789',
        name: 'Up',
        dialect: 'anthropic-messages',
      },
      alt: { baseUrl: 'https://alt.test/v1', apiKey: 'sk-upstream-alt-0123456789', name: 'Alt' },
    },
    models: [
      { slug: 'acme/own', endpoints: [{ provider: 'up', model: upstreamModel, pricing }] },
      { slug: 'acme/chat', endpoints: [{ provider: 'alt', model: 'alt-chat', pricing }] },
    ],
    ...options,
  });
  const post = (text: string, headers: Record<string, string> = {}) =>
    made.call('POST', '/messages?beta=true', text, { authorization: `Bearer ${testKey}`, ...headers });
  return { ...made, post };
}

const message = (more: object = {}) => ({
  id: 'msg_upstream',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text: 'Hi' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 2 },
  ...more,
});

/** A body as no schema of ours would write it: unknown fields everywhere, in an order of its own. */
const odd = {
  zeta: { later: [1, 2] },
  max_tokens: 100,
  system: [
    { type: 'text', text: 'x-anthropic-billing-header: cc_version=1' },
    { cache_control: { type: 'ephemeral', ttl: '1h' }, type: 'text', text: 'Be brief' },
  ],
  messages: [
    { role: 'user', content: [{ text: 'Hi', type: 'text' }] },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: '', signature: 'c2lnbmF0dXJl' },
        { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } },
        {
          type: 'web_search_tool_result',
          tool_use_id: 'srvtoolu_1',
          content: [{ type: 'web_search_result', url: 'u' }],
        },
        { type: 'brand_new_block', x: [{ y: 1 }] },
        { type: 'text', text: 'Yes', citations: [{ type: 'char_location' }] },
        { type: 'tool_use', id: 'toolu_1', name: 'read', input: { b: 1, a: 2 }, caller: { type: 'direct' } },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'toolu_1' },
        { type: 'container_upload', file_id: 'f' },
      ],
    },
    { content: 'Mind the time', role: 'system' },
  ],
  model: 'acme/own',
  tools: [
    { type: 'web_search_20250305', name: 'web_search' },
    { name: 'read', input_schema: { type: 'object', $schema: 'x', properties: {} }, defer_loading: true, strict: true },
  ],
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  thinking: { type: 'adaptive', display: 'omitted' },
  output_config: { effort: 'high' },
  metadata: { user_id: '{"device":"d"}' },
};

describe('a Messages request for an upstream of the same wire', () => {
  it('goes on as it came, to the byte, but for the model', async () => {
    const { post, upstream } = nativeGateway();
    upstream.answer({ body: message() });
    const text = JSON.stringify(odd);
    expect((await post(text)).status).toBe(200);
    expect(JSON.stringify(upstream.sent[0]?.body)).toBe(text.replace('"acme/own"', '"claude-sonnet-4-5"'));
  });
  it('brings its headers along: betas, the version, and unknown ones; no other', async () => {
    const { post, upstream } = nativeGateway();
    upstream.answer({ body: message() });
    await post(JSON.stringify(odd), {
      'anthropic-beta': 'context-1, brand-new-2',
      'anthropic-version': '2026-10-21',
      'anthropic-brand-new': 'yes',
      'anthropic-dangerous-direct-browser-access': 'true',
      'x-stainless-retry-count': '0',
      'x-claude-code-session-id': 's',
    });
    const sent = (upstream.sent[0] as Json).headers;
    expect(sent).toMatchObject({
      'anthropic-version': '2026-10-21',
      'anthropic-beta': 'context-1,brand-new-2',
      'anthropic-brand-new': 'yes',
      'x-api-key': 'sk-upstream-0123456789',
    });
    expect(Object.keys(sent).filter((name) => /stainless|claude-code|dangerous|authorization/.test(name))).toEqual([]);
  });
  it.each([
    [404, 'not_found_error', 'thread_not_found'],
    [400, 'invalid_request_error', 'thread_expired'],
  ])('brings the code of an error back, by which clients decide: %s %s %s', async (status, type, error_code) => {
    const { post, upstream } = nativeGateway();
    const error = { type, message: 'No such thread', details: { error_code, unsupported: [] } };
    upstream.answer({ status, body: { type: 'error', error } });
    const thread = { type: 'continue', previous_message_id: 'msg_1' };
    const messages = [{ role: 'user', content: 'Hi' }];
    const answer = await post(JSON.stringify({ model: 'acme/own', max_tokens: 10, thread, messages }));
    expect([answer.status, answer.json.error.type, answer.json.error.details.error_code]).toEqual([
      status,
      type,
      error_code,
    ]);
  });
  it('has all texts that end its response, and guardrails see each of them', async () => {
    const stop_sequences = ['a', 'b', 'c', 'd', 'bob@example.com'];
    const text = JSON.stringify({
      model: 'acme/own',
      max_tokens: 10,
      stop_sequences,
      messages: [{ role: 'user', content: 'Hi' }],
    });
    const { post, upstream } = nativeGateway();
    upstream.answer({ body: message() });
    expect((await post(text)).status).toBe(200);
    expect(upstream.sent[0]?.body.stop_sequences).toEqual(stop_sequences);
    const patterns = [{ builtin: 'email' as const, action: 'block' as const }];
    const guarded = nativeGateway({ guardrails: [textGuardrail({ id: 'pii', patterns })] });
    expect([(await guarded.post(text)).status, guarded.upstream.sent.length]).toEqual([403, 0]);
  });
  it('chooses no part of the account of another: whoever brings the credential does', async () => {
    const chosen = {
      'anthropic-workspace-id': 'wrkspc_1',
      'anthropic-organization-id': 'org_1',
      'anthropic-user-profile-id': 'uprof_1',
    };
    const { post, call, upstream } = nativeGateway({
      secrets: { current: 'a master secret of the tests, which is long enough' },
      providers: { anthropic: { apiKey: 'sk-ant-operator-0123456789', byok: true } },
      models: [{ slug: 'acme/own', endpoints: [{ provider: 'anthropic', model: 'claude-sonnet-4-5', pricing }] }],
    });
    upstream.always({ body: message() });
    const text = JSON.stringify({ model: 'acme/own', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] });
    const headers = { ...chosen, 'anthropic-brand-new': 'yes' };
    const { headers: said } = await post(text, headers);
    expect(said.get('x-service-dropped')?.split(', ').toSorted()).toEqual(Object.keys(chosen).toSorted());
    expect((await call('POST', '/byok', { provider: 'anthropic', key: 'sk-ant-own-0123456789' })).status).toBe(201);
    expect((await post(text, headers)).headers.get('x-service-dropped')).toBeNull();
    const [first, second] = upstream.sent.map((one) => Object.entries(one.headers));
    const own = (all: [string, string][] | undefined) =>
      Object.fromEntries((all ?? []).filter(([name]) => /-id$|new$|^x-api-key$/.test(name)));
    expect(own(first)).toEqual({ 'anthropic-brand-new': 'yes', 'x-api-key': 'sk-ant-operator-0123456789' });
    expect(own(second)).toEqual({ ...headers, 'x-api-key': 'sk-ant-own-0123456789' });
  });
  it('names the older version where it has fields that the newer one refuses', async () => {
    const { post, upstream } = nativeGateway();
    upstream.answer({ body: message() });
    await post(JSON.stringify({ ...odd, temperature: 0.5 }), { 'anthropic-version': '2026-10-21' });
    expect((upstream.sent[0] as Json).headers['anthropic-version']).toBe('2023-06-01');
  });
  it('has no thought of a provider of another wire, whose signature would be refused', async () => {
    const { upstream, post } = nativeGateway();
    const alien = packReasoning([{ type: 'reasoning.text', text: 'Hm', format: 'unknown', index: 0 }]);
    const call = { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} };
    const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'Seen' };
    const own = { type: 'thinking', thinking: 'Mine', signature: 'c2lnbmVk' };
    const ask = (messages: readonly object[], thinking: object = { type: 'enabled', budget_tokens: 1024 }) => {
      upstream.answer({ body: message() });
      return post(JSON.stringify({ model: 'acme/own', max_tokens: 4000, thinking, messages }));
    };
    const user = { role: 'user', content: 'Hi' };
    const hidden = { type: 'redacted_thinking', data: alien };
    const begun = (...blocks: object[]) => ({ role: 'assistant', content: blocks });

    const closed = [
      user,
      begun({ type: 'thinking', thinking: 'Hm', signature: alien }, own, call),
      user,
      begun(hidden),
    ];
    expect((await ask([...closed, user])).status).toBe(200);
    expect(upstream.sent[0]?.body).toMatchObject({ thinking: { type: 'enabled' } });
    expect(upstream.sent[0]?.body.messages).toEqual([user, begun(own, call), user, user]);

    // A call waits for the model, which would have to see its own thought before it.
    const open = [user, begun(hidden, call), { role: 'user', content: [result] }];
    expect((await ask(open)).status).toBe(200);
    expect(upstream.sent[1]?.body).not.toHaveProperty('thinking');
    expect(upstream.sent[1]?.body.messages).toEqual([open[0], begun(call), open[2]]);
    expect((await ask(open, { type: 'adaptive' })).status).toBe(200);
    expect(upstream.sent[2]?.body).toMatchObject({ thinking: { type: 'adaptive' } });
  });

  describe('where a plugin or a guardrail has changed it', () => {
    const hidden = textGuardrail({ id: 'hush', patterns: [{ name: 'hush', regex: 'hush', action: 'redact' }] });
    const changed = () => nativeGateway({ guardrails: [hidden] });

    it('is refused with a thread, in the words after which clients send everything', async () => {
      const { post, upstream } = changed();
      const thread = { type: 'continue', previous_message_id: 'msg_1' };
      const messages = [{ role: 'user', content: 'Hi, hush' }];
      const { status, json } = await post(JSON.stringify({ model: 'acme/own', max_tokens: 9, messages, thread }));
      const { error }: Json = json;
      expect([status, error.type, error.details?.error_code]).toEqual([
        400,
        'invalid_request_error',
        'thread_unsupported_request',
      ]);
      expect(error.message).toContain('has changed the request');
      expect(upstream.sent).toEqual([]);
    });
    it('goes without a file for a container, and says so', async () => {
      const { post, upstream } = changed();
      upstream.answer({ body: message() });
      const content = [
        { type: 'text', text: 'Hi, hush' },
        { type: 'container_upload', file_id: 'file_1' },
      ];
      const { status, headers } = await post(
        JSON.stringify({ model: 'acme/own', max_tokens: 9, messages: [{ role: 'user', content }] }),
      );
      expect([status, JSON.stringify(upstream.sent[0]?.body).includes('file_1')]).toEqual([200, false]);
      expect(headers.get('x-service-dropped')?.split(', ')).toContain('messages[].content[].container_upload');
    });
  });
  it('says nothing of the gateway to the provider', async () => {
    const { post, upstream } = nativeGateway();
    upstream.answer({ body: message() });
    await post(
      JSON.stringify({
        ...odd,
        models: ['acme/own'],
        provider: { order: ['up'] },
        session_id: 's',
        user: 'u',
        plugins: [],
      }),
    );
    const { models, provider, session_id, user, plugins } = (upstream.sent[0] as Json).body;
    expect([models, provider, session_id, user, plugins]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
  it('gets the message as it came, but for the model, and is paid and recorded', async () => {
    const { post, upstream, records } = nativeGateway();
    const body = message({
      content: [
        { type: 'brand_new_block', x: 1 },
        { type: 'text', text: 'Hi' },
      ],
      container: { id: 'c' },
      extra: 1,
    });
    upstream.answer({ body });
    const { json, headers } = await post(JSON.stringify(odd));
    expect(JSON.stringify(json)).toBe(JSON.stringify({ ...body, model: 'acme/own' }));
    expect(headers.get('request-id')).toMatch(/^gen-/);
    expect(records[0]).toMatchObject({ outcome: 'ok', usage: { prompt_tokens: 10, completion_tokens: 2 } });
    expect(records[0]?.usage?.cost).toBeCloseTo(10 * 2e-6 + 2 * 8e-6, 12);
  });
  it('is written anew where a guardrail takes something out, which is seen in every block', async () => {
    const guardrails = [
      textGuardrail({ id: 'hush', patterns: [{ name: 'hush', regex: 'hush-\\d+', action: 'redact' }] }),
    ];
    const { post, upstream } = nativeGateway({ guardrails });
    upstream.always({ body: message({ content: [{ type: 'text', text: 'Yes hush-3' }] }) });
    const hidden = structuredClone(odd) as Json;
    hidden.messages[1].content[2].content[0].url = 'hush-1';
    hidden.system[1].text = 'Be brief hush-2';
    const { status, text } = await post(JSON.stringify(hidden));
    expect(status, text).toBe(200);
    expect(JSON.stringify(upstream.sent[0]?.body)).not.toMatch(/hush-/);
    expect(text).not.toContain('hush-3');
  });
  it.each<[string, Json]>([
    [
      'a message of nothing but blocks that chat does not have',
      { messages: hiding([{ type: 'brand_new', x: 'hush-1' }]) },
    ],
    [
      'the last message, of which no chat message is made',
      { messages: [{ role: 'user', content: 'Hi' }, ...hiding([{ type: 'brand_new', x: 'hush-1' }]).slice(0, 1)] },
    ],
    [
      'a line about the client that stands alone',
      { system: [{ type: 'text', text: 'x-anthropic-billing-header: hush-1' }] },
    ],
    ['instructions of a kind that chat does not have', { system: [{ type: 'brand_new', x: 'hush-1' }] }],
    [
      'a tool that waits for a search',
      { tools: [{ name: 'a', description: 'hush-1', input_schema: { type: 'object' }, defer_loading: true }] },
    ],
    ['the id of the user', { metadata: { user_id: 'hush-1' } }],
    ['a member that nobody knows', { output_config: { effort: 'high', brand_new: 'hush-1' } }],
  ])('hides nothing from a guardrail: %s', async (_, more) => {
    const guardrails = [
      textGuardrail({ id: 'hush', patterns: [{ name: 'hush', regex: 'hush-\\d+', action: 'redact' }] }),
    ];
    const { post, upstream } = nativeGateway({ guardrails });
    upstream.always({ body: message() });
    const body = { model: 'acme/own', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }], ...more };
    const { status, text } = await post(JSON.stringify(body));
    expect(status, text).toBe(200);
    expect(JSON.stringify(upstream.sent[0]?.body)).not.toContain('hush-');
    const { post: free, upstream: other } = nativeGateway();
    other.always({ body: message() });
    await free(JSON.stringify(body));
    expect(JSON.stringify(other.sent[0]?.body)).toContain('hush-');
  });
  it('keeps the words of a refusal', async () => {
    const { post, upstream } = nativeGateway();
    const words = 'messages.1.content.0: Invalid `signature` in `thinking` block';
    upstream.answer({ status: 400, body: { type: 'error', error: { type: 'invalid_request_error', message: words } } });
    const { status, json } = await post(JSON.stringify(odd));
    expect([status, json]).toMatchObject([
      400,
      { type: 'error', error: { type: 'invalid_request_error', message: words } },
    ]);
  });
  it('has no thought of another provider, and does not think on in a turn that has lost its own', async () => {
    const { post, upstream } = nativeGateway();
    upstream.always({ body: message() });
    const seal = sealThought([{ type: 'reasoning.encrypted', data: 'c2VhbGVk', format: 'of-another', index: 0 }]);
    const messages = [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm', signature: seal },
          { type: 'text', text: '\n\n' },
          { type: 'tool_use', id: 'call|1', name: 'read', input: {} },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call|1', content: 'x' }] },
    ];
    const thinking = { type: 'enabled', budget_tokens: 1024 };
    const body = { model: 'acme/own', max_tokens: 2000, messages, thinking, tools: [{ name: 'read' }] };
    const { headers } = await post(JSON.stringify(body));
    const sent = (upstream.sent[0] as Json).body;
    expect([sent.messages[1].content, sent.messages[2].content[0].tool_use_id, sent.thinking]).toEqual([
      [{ type: 'tool_use', id: 'call_1_1', name: 'read', input: {} }],
      'call_1_1',
      undefined,
    ]);
    expect(headers.get('x-service-dropped')).toBe('messages[].content[].thinking, thinking');
    await post(JSON.stringify({ ...body, messages: [...messages, { role: 'user', content: 'Go on' }] }));
    expect((upstream.sent[1] as Json).body.thinking).toEqual(thinking);
  });
  it('falls back to an upstream of another wire as a chat request', async () => {
    const { post, upstream } = nativeGateway({ retry: { maxAttempts: 2 } });
    upstream.answer({ status: 401, body: errorBody('Oops') });
    upstream.answer({
      body: {
        id: 'x',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      },
    });
    const plain = {
      ...odd,
      models: ['acme/chat'],
      messages: [
        ...odd.messages.slice(0, 2),
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1' }] },
      ],
    };
    const { status, json, text } = await post(JSON.stringify(plain));
    expect(status, text).toBe(200);
    expect(json).toMatchObject({ type: 'message', model: 'acme/chat', content: [{ type: 'text', text: 'Hi' }] });
    expect(JSON.stringify(upstream.sent[1]?.body)).not.toMatch(/c2lnbmF0dXJl|web_search|context_management/);
  });
  it('has its budget left where a stream breaks off, and ends with an error', async () => {
    const { gateway, upstream, run } = nativeGateway();
    const frame = (event: Json) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
    upstream.answer({
      body: [
        frame({ type: 'message_start', message: message({ content: [], stop_reason: null }) }),
        frame({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
        frame({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Ha' } }),
        { breaks: true },
      ],
    });
    const response = await run(gateway.fetch(streamRequest()));
    const text = await run(response.text());
    expect(text).toMatch(/event: error\ndata: .*\n\n$/);
    expect(text).not.toMatch(/content_block_stop|message_delta|message_stop/);
  });
  it('never looks complete where a stream that is copied is cut, at any byte, and pays for what has come', async () => {
    const frame = (event: Json) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
    const say = (text: string) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });
    const whole = [
      { type: 'message_start', message: message({ content: [], stop_reason: null }) },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      ...['One', ' two', ' three', ' "four"', ' fünf'].map(say),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } },
      { type: 'message_stop' },
    ]
      .map(frame)
      .join('');
    const bytes = new TextEncoder().encode(whole);
    const first = whole.indexOf('"One"') + 60;
    for (let end = first; end < bytes.length; end += 7) {
      const { gateway, upstream, run, records } = nativeGateway({ retry: { maxAttempts: 1 } });
      upstream.answer({ body: [bytes.slice(0, 400), bytes.slice(400, end), { breaks: true }] });
      const text = await run((await run(gateway.fetch(streamRequest()))).text());
      const isWhole = text.includes('message_stop');
      // The provider had said that it was complete: only the end of its stream was missing.
      expect([isWhole, end]).toEqual([end > whole.indexOf('event: message_stop'), end]);
      if (!isWhole) expect(text).toMatch(/event: error\ndata: .*\n\n$/);
      const [{ outcome, usage }] = records as [Json];
      expect([outcome, usage.prompt_tokens]).toEqual([isWhole ? 'ok' : 'cut', 10]);
      expect(usage.completion_tokens).toBeGreaterThan(1);
    }
  });
});

function hiding(content: object[]): Json[] {
  return [
    { role: 'user', content },
    { role: 'user', content: 'Hi' },
  ];
}

function streamRequest() {
  return new Request('http://gateway.test/v1/messages', {
    method: 'POST',
    headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'acme/own',
      max_tokens: 10,
      stream: true,
      messages: [{ role: 'user', content: 'Hi' }],
    }),
  });
}

describeWithShared("recorded responses in the wire's own format", () => {
  const framed = (lines: string[]) => [
    lines.map((data) => `event: ${JSON.parse(data).type}\ndata: ${data}\n\n`).join(''),
  ];
  const recordings = loadRecordings('anthropic-messages', framed).filter(({ status }) => status === 200);
  const textOf = ({ body }: Recording) => new TextDecoder().decode(body);
  const named = (isStream: boolean) =>
    recordings.filter((one) => one.isStream === isStream).map((one) => [one.name, one] as const);

  it.each(named(false))('%s is the same, but for the model', async (_, recording) => {
    const { post, upstream } = nativeGateway();
    const body = JSON.parse(textOf(recording));
    upstream.answer({ body });
    const { json } = await post(JSON.stringify(odd));
    expect(JSON.stringify(json)).toBe(JSON.stringify({ ...body, model: 'acme/own' }));
  });
  it.each(named(true))('%s is the same to the byte, but for the model', async (_, recording) => {
    const { gateway, upstream, run } = nativeGateway();
    const text = textOf(recording).replaceAll('\r\n', '\n');
    upstream.answer({ body: [text] } as ScriptedAnswer);
    const response = await run(gateway.fetch(streamRequest()));
    const got = await run(response.text());
    const model = /"model":\s*"[^"]*"/;
    // The last event says nothing but its type: the gateway writes it, once the response is known to be complete.
    const same = (one: string) => one.replace(model, '"model":"m"').replace(/("message_stop") *\}/, '$1}');
    expect(same(got)).toBe(same(text));
    expect(got).toContain('"model":"acme/own"');
  });
});
