import { describe, expect, it } from 'vitest';
import type { Revision } from '../../src/call/ask.ts';
import type { PluginContext, PluginHooks } from '../../src/call/hooks.ts';
import type { NativeObject } from '../../src/call/native.ts';
import { outputDeltasOf, outputItemOf } from '../../src/call/output-item.ts';
import type { Transport } from '../../src/entries/testing.ts';
import { definePlugin } from '../../src/plugins/plugin.ts';
import type { ChatMessage, ChatRequest } from '../../src/schema/chat/chat.ts';
import { textBytes } from '../support/bill/native.ts';
import { drawFrom } from '../support/bill/world.ts';
import { withBudget } from '../support/booked.ts';
import { hello, testGateway, testKey } from '../support/gateway.ts';
import { askMadeOf, type MadeOf } from '../support/native.ts';
import { randomFrom } from '../support/race/random.ts';
import { runs } from '../support/runs.ts';
import { completion, errorBody } from '../support/upstream.ts';

const enabled = { 'x-service-metadata': 'enabled' };

/** Every request is one that was made of this. */
const madeOf = (of: (request: ChatRequest) => Revision) => [
  definePlugin({ id: 'made', isDefault: true, before: (request) => of(request) }),
];

const answer = {
  status: 'completed',
  output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] }],
  usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
};

describe('a Responses request', () => {
  const providers = {
    up: { baseUrl: 'https://up.test/v1', name: 'Up' },
    alt: { baseUrl: 'https://alt.test/v1', name: 'Alt', dialect: 'openai-responses' as const },
  };
  const endpoints = [
    { provider: 'up', model: 'm' },
    { provider: 'alt', model: 'm' },
  ];
  const item = { role: 'user', content: 'Hello', colour: 'red' };
  const compaction = { path: 'input[3]', expected: 'a compaction that this gateway made' };

  function gatewayOf(made: Partial<MadeOf>, some = endpoints) {
    const message: ChatMessage = { role: 'user', content: 'Hello' };
    return testGateway({
      providers,
      models: [{ slug: 'acme/m', endpoints: some }],
      plugins: madeOf((request) => asMadeOf({ messages: [[message, [item]]], ...made }, request)),
    });
  }
  const ask = { model: 'acme/m', messages: hello };

  it('goes to a chat upstream as a chat request, and the metadata says what it did not get', async () => {
    const { post, upstream } = gatewayOf({ dropped: ['tools[].web_search', 'truncation'] });
    upstream.answer({ body: completion() });
    const { json } = await post({ ...ask, seed: 7 }, enabled);
    expect(upstream.sent[0]?.body.messages).toEqual(hello);
    expect(json.service_metadata?.dropped).toEqual(['tools[].web_search', 'truncation']);
  });
  it('goes to one that speaks Responses as it was written, and nothing is dropped', async () => {
    const { post, upstream } = gatewayOf({ dropped: ['truncation'], fields: { truncation: 'auto' } }, [
      { provider: 'alt', model: 'm' },
    ]);
    upstream.answer({ body: answer });
    const { json } = await post(ask, enabled);
    expect(upstream.sent[0]?.body).toMatchObject({ input: [item], truncation: 'auto' });
    expect(json.service_metadata).not.toHaveProperty('dropped');
  });
  it('goes the same way as a chat request where every upstream can read it', async () => {
    const { post, upstream } = gatewayOf({});
    upstream.answer({ status: 500, body: errorBody('No') }, { status: 500, body: errorBody('No') }, { body: answer });
    expect((await post(ask, enabled)).json.service_metadata?.summary).toBe('available=2, selected=Alt');
  });
  it('passes by endpoints that cannot read an item of it', async () => {
    const { post, upstream } = gatewayOf({ onlyNative: [compaction] });
    upstream.answer({ body: answer });
    const { json } = await post(ask, enabled);
    expect(upstream.sent.map(({ url }) => url)).toEqual(['https://alt.test/v1/responses']);
    expect(json.service_metadata?.summary).toBe('available=1, selected=Alt');
  });
  it('is refused, with the name of the item, where no endpoint can read it', async () => {
    const { post, upstream } = gatewayOf({ onlyNative: [compaction] }, [{ provider: 'up', model: 'm' }]);
    const { status, json } = await post(ask);
    expect([status, json.error.message]).toEqual([
      400,
      expect.stringContaining('input[3]: expected a compaction that this gateway made'),
    ]);
    expect(upstream.sent).toEqual([]);
  });

  it('to compact is answered with the items of a provider that compacts', async () => {
    const closing: ChatMessage = { role: 'user', content: 'Write a summary.' };
    const message: ChatMessage = { role: 'user', content: 'Hello' };
    const made: MadeOf = {
      messages: [
        [message, [item]],
        [closing, []],
      ],
      purpose: 'compact',
    };
    let output: unknown;
    const options = {
      providers: { openai: { apiKey: 'sk-openai-0123456789', dialect: 'openai-responses' as const } },
      models: [{ slug: 'acme/m', endpoints: [{ provider: 'openai', model: 'gpt-5', pricing }] }],
      plugins: [
        definePlugin({
          id: 'made',
          isDefault: true,
          before: (request) => asMadeOf(made, request),
          async wrap(generate, request) {
            const generation = await generate(request);
            if (generation.kind === 'complete')
              output = outputDeltasOf(generation.result.choices[0]?.message ?? {})?.map(({ delta }) =>
                outputItemOf(delta),
              );
            return generation;
          },
        }),
      ],
    };
    const compacted = {
      id: 'resp_1',
      object: 'response.compaction',
      output: [item, { type: 'compaction', id: 'cmp', encrypted_content: 'gAAA' }],
      usage: answer.usage,
    };
    const free = testGateway(options);
    free.upstream.answer({ body: compacted });
    expect((await free.post(ask)).status).toBe(200);
    expect(free.upstream.sent[0]).toMatchObject({
      url: 'https://api.openai.com/v1/responses/compact',
      body: { model: 'gpt-5', input: [item] },
    });
    expect(output).toEqual(compacted.output.map((one, index) => ({ index, item: one, isOpaque: true, isDone: true })));
    expect(free.records[0]).toMatchObject({ outcome: 'ok', isEstimated: false });
    // A largest output has to be sent, which the provider does not take there.
    const limited = await withBudget(10, options);
    limited.upstream.answer({ body: answer });
    expect((await limited.post(ask)).json.choices?.[0]?.message?.content).toBe('Hi');
    expect(limited.upstream.sent[0]).toMatchObject({
      url: 'https://api.openai.com/v1/responses',
      body: { input: [item, { role: 'user', content: 'Write a summary.' }], max_output_tokens: expect.any(Number) },
    });
  });
});

describe('a coding agent behind an upstream that speaks Responses', () => {
  const options = {
    providers: { openai: { apiKey: 'sk-openai-0123456789', dialect: 'openai-responses' as const } },
    models: [{ slug: 'acme/m', endpoints: [{ provider: 'openai', model: 'gpt-5', pricing }] }],
  };
  const headers = { authorization: `Bearer ${testKey}` };
  const whole = { type: 'object', properties: {} };
  const input = [
    { type: 'additional_tools', role: 'developer', tools: [{ type: 'function', name: 'g', parameters: whole }] },
    { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be brief.' }] },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Look.' }] },
    { type: 'reasoning', id: 'rs_1', summary: [], content: null, encrypted_content: 'gAAA' },
    { type: 'custom_tool_call', id: 'ctc_1', status: 'completed', call_id: 'c1', name: 'patch', input: '*** Begin' },
    { type: 'custom_tool_call_output', call_id: 'c1', output: 'ok' },
    { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'q' } },
    { type: 'compaction', id: 'cmp_1', encrypted_content: 'gBBB' },
  ];
  const tools = [
    {
      type: 'custom',
      name: 'patch',
      description: 'Patches.',
      format: { type: 'grammar', syntax: 'lark', definition: 'x' },
    },
    {
      type: 'namespace',
      name: 'n',
      description: 'A group.',
      tools: [{ type: 'function', name: 'a', parameters: whole }],
    },
    { type: 'local_shell' },
    { type: 'web_search', external_web_access: true },
  ];
  const output = [
    { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'gCCC' },
    { type: 'web_search_call', id: 'ws_2', status: 'completed', action: { type: 'search', query: 'q' } },
    {
      type: 'message',
      id: 'msg_2',
      role: 'assistant',
      status: 'completed',
      phase: 'commentary',
      content: [{ type: 'output_text', text: 'So.', annotations: [], logprobs: [] }],
    },
    {
      type: 'function_call',
      id: 'fc_2',
      status: 'completed',
      call_id: 'c2',
      name: 'a',
      namespace: 'n',
      arguments: '{}',
    },
    { type: 'custom_tool_call', id: 'ctc_2', status: 'completed', call_id: 'c3', name: 'patch', input: '*** End' },
  ];

  it('has its items and tools sent as it wrote them, and gets the items of the upstream', async () => {
    const { call, upstream } = testGateway(options);
    upstream.answer({ body: { ...answer, output } });
    const body = { model: 'acme/m', input, tools, tool_choice: 'auto', client_metadata: { a: 'b' }, store: false };
    const { status, json } = await call('POST', '/responses', body, headers);
    expect([status, upstream.sent[0]?.body]).toMatchObject([
      200,
      { input, tools, tool_choice: 'auto', client_metadata: { a: 'b' }, store: false },
    ]);
    expect(json.output).toMatchObject(output);
  });
  it('has its conversation shortened by the upstream', async () => {
    const { call, upstream } = testGateway(options);
    const compacted = [input[2], { type: 'compaction', id: 'cmp_2', encrypted_content: 'gDDD' }];
    upstream.answer({ body: { id: 'resp', object: 'response.compaction', output: compacted, usage: answer.usage } });
    const { status, json } = await call('POST', '/responses/compact', { model: 'acme/m', input, tools }, headers);
    expect([status, upstream.sent[0]?.url, upstream.sent[0]?.body]).toEqual([
      200,
      'https://api.openai.com/v1/responses/compact',
      { model: 'gpt-5', input },
    ]);
    expect(json.output).toMatchObject(compacted);
  });
});

const usd = { prompt: 0.000001, completion: 0.000008, webSearch: 0.01 };
const pricing = { prompt: '0.000001', completion: '0.000008' };
const firstSeed = Number(process.env.BILL_SEED ?? 1);
const seeds = runs(200, 2_000);

/**
 * A provider that charges for all that a body allows: every byte of it, the largest output, twenty searches of each tool
 * that searches, with what they read, and a compaction of the longest kind.
 */
function billOf(body: Record<string, unknown>): number {
  const { max_output_tokens: most, context_management: compacts, ...read } = body;
  const hosted = [...JSON.stringify(body).matchAll(/"type":"(?:web_search|tool_search)"/g)];
  const asks = JSON.stringify(body).includes('compaction_trigger');
  const images = [...JSON.stringify(body).matchAll(/"(?:image_url|result)":"data/g)].length;
  return Math.floor(
    1e9 *
      (usd.prompt * (textBytes({ ...read, model: null }) + images * 3_000) +
        usd.completion * Number(most ?? 1_000_000) +
        hosted.length * 20 * (usd.webSearch + 10_000 * usd.prompt) +
        (compacts || asks ? 100_000 * usd.completion : 0)),
  );
}

async function play(seed: number) {
  const draw = drawFrom(randomFrom(seed));
  const text = () => draw.oneOf(['word ', 'ß', '"\\', '漢字 ']).repeat(draw.upTo(draw.isTrue(0.2) ? 5_000 : 60));
  const image = { type: 'input_image', image_url: 'data:image/png;base64,aGk=' };
  const items = () =>
    draw.oneOf<NativeObject[]>([
      [{ role: 'user', content: text() }],
      [{ role: 'user', content: [{ type: 'input_text', text: text() }, image] }],
      [{ type: 'web_search_call', id: 'ws', status: 'completed', action: { type: 'search', query: text() } }],
      [{ type: 'compaction', encrypted_content: text() }],
      [{ type: 'additional_tools', tools: [{ type: 'web_search' }, { type: 'function', name: text() }] }],
      [{ type: 'image_generation_call', id: 'ig', result: 'data' }],
      [{ role: 'user', content: '', [`x${text()}`]: text() }],
    ]);
  const messages = Array.from({ length: 1 + draw.upTo(3) }, () => ({ role: 'user' as const, content: 'Hi' }));
  const name = 'patch';
  const native = { type: 'custom', name, format: { type: 'grammar', definition: text() } };
  const made: MadeOf = {
    messages: messages.map((message) => [message, items()] as const),
    tools: draw.isTrue(0.4) ? [[{ type: 'function', function: { name } }, native]] : [],
    hostedTools: draw.isTrue(0.5) ? [draw.oneOf([{ type: 'web_search' }, { type: 'tool_search' }])] : [],
    fields: draw.isTrue(0.4) ? { context_management: [{ type: 'compaction' }], client_metadata: {} } : {},
    purpose: draw.isTrue(0.2) ? 'compact' : 'respond',
  };
  let bill = 0;
  const transport: Transport = {
    async send({ body }) {
      bill += billOf(JSON.parse(body as string));
      const reported = { input_tokens: 0, output_tokens: 0, total_tokens: 0 };
      const pieces = [new TextEncoder().encode(JSON.stringify({ ...answer, usage: reported }).slice(0, 40))];
      return {
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: { read: async () => pieces.shift() ?? null, cancel: () => undefined },
      };
    },
  };
  const tested = await withBudget(draw.oneOf([1_000, 1_000, 0.1]), {
    providers: {
      up: {
        baseUrl: 'https://up.test/v1',
        apiKey: 'sk-a-key-of-the-operator',
        dialect: 'openai-responses',
        quirks: { compacts: true, reasoningBeside: false },
      },
    },
    models: [{ slug: 'acme/m', endpoints: [{ provider: 'up', model: 'gpt-5', pricing, contextLength: 200_000 }] }],
    retry: { maxAttempts: 1 },
    transport,
    plugins: madeOf((request) => asMadeOf(made, request)),
  });
  const { status } = await tested.post({ model: 'acme/m', messages: hello });
  const { costNanoUsd: booked = 0, heldNanoUsd: held = 0 } = tested.records.at(-1) ?? {};
  await tested.gateway.close();
  return { seed, status, bill, booked: booked ?? 0, held: held ?? 0 };
}

/** The request as it came, made of what was drawn. */
function asMadeOf(made: MadeOf, request: ChatRequest): Revision {
  const { messages, tools } = made;
  const { request: asked, native } = askMadeOf(made, {
    ...request,
    messages: messages.map(([message]) => message),
    ...(tools?.length ? { tools: tools.map(([tool]) => tool) } : { tools: undefined }),
  });
  return { request: asked, native };
}

describe('a plugin of the host app', () => {
  const providers = { alt: { baseUrl: 'https://alt.test/v1', name: 'Alt', dialect: 'openai-responses' as const } };
  const models = [{ slug: 'acme/m', endpoints: [{ provider: 'alt', model: 'm' }] }];
  const input = [
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }], colour: 'red' },
    { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'secret' } },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'And?' }], colour: 'blue' },
  ];
  const asked = { model: 'acme/m', instructions: 'Be brief.', input, tools: [{ type: 'web_search' }] };
  const asClient = { authorization: `Bearer ${testKey}` };
  const gatewayWith = (hooks: PluginHooks) => {
    const plugins = [definePlugin({ id: 'own', isDefault: true, ...hooks })];
    const { call, post, upstream } = testGateway({ providers, models, plugins });
    upstream.answer({ body: answer });
    return { upstream, post, respond: () => call('POST', '/responses', asked, asClient) };
  };

  it('sees what a Responses caller wrote, in every hook', async () => {
    const seen: Record<string, unknown> = {};
    const note = (hook: string, { native }: PluginContext) => {
      seen[hook] = [native?.format, native?.input, native?.hostedTools.map(({ type }) => type)];
    };
    const { respond } = gatewayWith({
      before(request, context) {
        note('before', context);
        return request;
      },
      prepare(request, _target, context) {
        note('prepare', context);
        return request;
      },
      wrap(generate, request, context) {
        note('wrap', context);
        return generate(request);
      },
      steps(context) {
        note('steps', context);
        return [];
      },
    });
    expect((await respond()).status).toBe(200);
    const all = ['responses', input, ['web_search']];
    expect(seen).toEqual({ before: all, prepare: all, wrap: all, steps: all });
  });
  it('that returns a copy of the request loses nothing of it', async () => {
    const { respond, upstream } = gatewayWith({
      before: (request) => structuredClone(request),
      prepare: (request) => JSON.parse(JSON.stringify(request)),
      wrap: (generate, request) => generate(structuredClone(request)),
    });
    expect((await respond()).status).toBe(200);
    expect(upstream.sent[0]?.body).toMatchObject({ instructions: 'Be brief.', input, tools: asked.tools });
  });
  it('that changes one message of a copy has this one sent as it stands, and the others as they were written', async () => {
    const { respond, upstream } = gatewayWith({
      before(request) {
        const { messages, ...rest } = structuredClone(request);
        return { ...rest, messages: messages.with(-1, { role: 'user', content: 'Or not?' }) };
      },
    });
    await respond();
    expect(upstream.sent[0]?.body.input).toEqual([input[0], { type: 'message', role: 'user', content: 'Or not?' }]);
  });
  it('may take out what the client said in its own format, and its steps see what is left', async () => {
    const left: unknown[] = [];
    const { respond, upstream } = gatewayWith({
      before: (request, { native }) =>
        native === null ? request : { request, native: { ...native, hostedTools: [] } },
      steps({ native }) {
        left.push(native?.hostedTools);
        return [];
      },
      wrap: (generate, request) => generate({ request, native: null }),
    });
    await respond();
    expect(left).toEqual([[]]);
    expect(upstream.sent[0]?.body).not.toHaveProperty('tools');
    expect(upstream.sent[0]?.body.input).toEqual([
      { type: 'message', role: 'system', content: 'Be brief.' },
      { type: 'message', role: 'user', content: 'Hi' },
      { type: 'message', role: 'user', content: 'And?' },
    ]);
  });
  it('gives its generations headers, which take the place of none of the gateway’s own', async () => {
    const { post, upstream } = gatewayWith({
      wrap: (generate, request) => generate({ request, headers: { 'x-panel': '1', 'content-type': 'text/plain' } }),
    });
    await post({ model: 'acme/m', messages: hello });
    expect(upstream.sent[0]?.headers).toMatchObject({ 'x-panel': '1', 'content-type': 'application/json' });
  });
  it('gets null where the client sent a chat request, and is told which generation it asked for', async () => {
    const logs: unknown[] = [];
    const { post } = gatewayWith({
      async wrap(generate, request, { native, generations }) {
        const own = { ...request, temperature: 0 };
        const response = await generate(own);
        logs.push(
          native,
          generations.map(({ askedFor }) => askedFor.includes(own)),
        );
        return response;
      },
    });
    await post({ model: 'acme/m', messages: hello });
    expect(logs).toEqual([null, [true]]);
  });
});

describe('where money is limited, a Responses request', () => {
  it('costs no more than is booked, and no more is booked than is held: the provider keeps its own bill', async () => {
    let billed = 0;
    for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
      const outcome = await play(seed);
      const isRight = outcome.bill <= outcome.booked && outcome.booked <= outcome.held && outcome.status !== 500;
      expect(isRight ? null : outcome).toBeNull();
      if (outcome.bill > 0) billed++;
    }
    expect(billed).toBeGreaterThan(seeds / 2);
  }, 600_000);
  it('gets no search of the provider, and is told so; without a limit it gets one', async () => {
    const message: ChatMessage = { role: 'user', content: 'Hello' };
    const plugins = madeOf((request) =>
      asMadeOf(
        { messages: [[message, [{ role: 'user', content: 'Hello' }]]], hostedTools: [{ type: 'web_search' }] },
        request,
      ),
    );
    const options = {
      providers: { up: { baseUrl: 'https://up.test/v1', dialect: 'openai-responses' as const } },
      models: [{ slug: 'acme/m', endpoints: [{ provider: 'up', model: 'm', pricing, contextLength: 10_000 }] }],
      plugins,
    };
    const ask = { model: 'acme/m', messages: hello };
    const limited = await withBudget(1, options);
    limited.upstream.answer({ body: answer });
    const { json } = await limited.post(ask, enabled);
    expect([limited.upstream.sent[0]?.body.tools, json.service_metadata?.dropped]).toEqual([
      undefined,
      ['tools[].web_search'],
    ]);
    const free = testGateway(options);
    free.upstream.answer({ body: answer });
    await free.post(ask);
    expect(free.upstream.sent[0]?.body.tools).toEqual([{ type: 'web_search' }]);
  });
});
