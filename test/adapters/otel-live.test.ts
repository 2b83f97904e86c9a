import { AsyncLocalStorage } from 'node:async_hooks';
import * as api from '@opentelemetry/api';
import { AlwaysOffSampler } from '@opentelemetry/sdk-trace';
import { describe, expect, it } from 'vitest';
import { openTelemetry } from '../../adapters/otel/otel.ts';
import { definePlugin, defineServerTool, type Plugin } from '../../src/index.ts';
import { hello, managementKey, nextTurn, testGateway } from '../support/gateway.ts';
import { keptSpans, traced } from '../support/traced.ts';
import { completion, errorBody, textStream } from '../support/upstream.ts';

const ask = { model: 'acme/fast', messages: hello };
const pair = { model: 'acme/pair', messages: hello, provider: { order: ['up'] } };

describe('the span of an attempt', () => {
  it('has where it is sent from the start, and nothing of the URL but host and port', async () => {
    const up = { baseUrl: 'https://up.test:8443/v1/a-path', apiKey: 'sk-up-0123456789' };
    const { post, upstream, calls } = traced({ gateway: { providers: { up, alt: up } } });
    upstream.always({ body: completion() });
    await post(ask);
    expect(calls()[0]?.attributes).toMatchObject({ 'server.address': 'up.test', 'server.port': 8443 });
    expect(JSON.stringify(calls()[0]?.attributes)).not.toContain('a-path');
  });

  it('has the port of its protocol, and ends when the response does', async () => {
    const { post, upstream, calls, records } = traced();
    upstream.always({ body: [...textStream('Hello').slice(0, 1), { waitMs: 700 }, ...textStream('Hello').slice(1)] });
    await post({ ...ask, stream: true });
    const [call] = calls();
    expect(call?.attributes).toMatchObject({ 'server.address': 'up.test', 'server.port': 443 });
    const ms = ([seconds, nanos]: readonly [number, number]) => seconds * 1000 + nanos / 1e6;
    expect(ms(call?.endTime as [number, number]) - ms(call?.startTime as [number, number])).toBe(700);
    expect(records[0]?.totalMs).toBe(700);
  });

  it('is sent to the provider as traceparent, where the option says so, and only there', async () => {
    const { post, upstream, calls } = traced({ telemetry: { propagate: ['alt'] } });
    upstream.answer({ status: 404, body: errorBody('gone') }, { body: completion() });
    await post(pair);
    const [first, second] = upstream.sent.map(({ headers }) => headers.traceparent);
    const contexts = calls().map((one) => one.spanContext());
    expect([first, second]).toEqual([undefined, `00-${contexts[1]?.traceId}-${contexts[1]?.spanId}-01`]);
    expect(contexts[0]?.traceId).toBe(contexts[1]?.traceId);
  });

  it('is the child of what the client was in, across the gateway: the trace goes on', async () => {
    const { post, upstream } = traced({ telemetry: { propagate: true } });
    upstream.always({ body: completion() });
    const traceId = 'b'.repeat(32);
    await post(ask, { traceparent: `00-${traceId}-${'c'.repeat(16)}-01` });
    expect(upstream.sent[0]?.headers.traceparent).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
    await post(ask, { traceparent: `00-${traceId}-${'c'.repeat(16)}-00` });
    expect(upstream.sent[1]?.headers.traceparent).toMatch(/-00$/);
  });

  it('is not sent by default', async () => {
    const { post, upstream } = traced();
    upstream.always({ body: completion() });
    await post(ask);
    expect(upstream.sent[0]?.headers).not.toHaveProperty('traceparent');
  });

  it('of a hedged stream that was slower is cancelled, beside that of the one that served', async () => {
    const { send, clock, run, upstream, calls, billed } = traced({
      gateway: { hedge: { enabled: true, afterMs: 1000, maxShare: 1 } },
    });
    upstream.answer({ body: [{ waitMs: 60_000 }, ...textStream('slow')] }, { body: textStream('fast') });
    const pending = send({ ...pair, stream: true });
    for (let turn = 0; turn < 8; turn++) await nextTurn();
    await clock.advance(1000);
    await run((await run(pending)).text());
    const byError = calls().map(({ attributes }) => [attributes['server.address'], attributes['error.type']]);
    expect(byError.sort()).toEqual([
      ['alt.test', undefined],
      ['up.test', 'cancelled'],
    ]);
    expect(billed()).toHaveLength(1);
    const parents = new Set(calls().map(({ parentSpanContext }) => parentSpanContext?.spanId));
    expect(parents.size).toBe(1);
  });
});

describe('the span of a request', () => {
  it('is below the span of the handler that it came in by, whenever it ends', async () => {
    const storage = new AsyncLocalStorage<api.Context>();
    const context = { active: () => storage.getStore() ?? api.ROOT_CONTEXT };
    const { used, tracer, spans } = ((kept) => ({ ...kept, used: traced().used }))(keptSpans());
    const { openTelemetry } = await import('../../adapters/otel/otel.ts');
    const recorder = openTelemetry({ ...used, trace: { ...used.trace, getTracer: () => tracer }, context });
    const { send, upstream, run } = testGateway({ onRecord: recorder });
    upstream.always({ body: textStream('Hello') });
    const handler = tracer.startSpan('handler');
    const sending = storage.run(api.trace.setSpan(api.ROOT_CONTEXT, handler), () => send({ ...ask, stream: true }));
    const response = await run(sending);
    await run(storage.exit(() => response.text()));
    const request = spans().find(({ name }) => name === 'gateway.request');
    expect(request?.parentSpanContext?.spanId).toBe(handler.spanContext().spanId);
  });

  it('ends once, whatever happens: refused, failed, left, cut', async () => {
    const { post, send, upstream, spans, run, records } = traced();
    upstream.always({ status: 500, body: errorBody('broken') });
    await post({ model: 'acme/nothing', messages: hello });
    await post(ask);
    upstream.always({ body: textStream('Hello').slice(0, 2) });
    await post({ ...ask, stream: true });
    upstream.always({ body: [...textStream('Hello').slice(0, 1), { waitMs: 5000 }] });
    const left = await run(send({ ...ask, stream: true }));
    await left.body?.cancel();
    for (let turn = 0; turn < 8; turn++) await nextTurn();
    expect(records.map(({ outcome }) => outcome)).toEqual(['failed', 'failed', 'cut', 'cancelled']);
    expect(spans().filter(({ name }) => name === 'gateway.request')).toHaveLength(4);
    const attempts = records.flatMap((record) => record.attempts);
    expect(spans().filter(({ name }) => name.startsWith('chat '))).toHaveLength(attempts.length);
  });

  it('is made by nobody where a sampler leaves it out, and the provider is told so', async () => {
    const { post, upstream, spans } = traced({ sampler: new AlwaysOffSampler(), telemetry: { propagate: true } });
    upstream.always({ body: completion() });
    await post(ask);
    expect(spans()).toEqual([]);
    expect(upstream.sent[0]?.headers.traceparent).toMatch(/-00$/);
  });
});

describe('spans of plugins, guardrails and tools', () => {
  const slow = (id: string, hooks: Partial<Plugin>) => definePlugin({ id, ...hooks } as Plugin);

  it('say how long each has taken, and whether it has failed', async () => {
    const wait = (ms: number, clock: { after(ms: number, done: () => void): unknown }) =>
      new Promise<void>((done) => void clock.after(ms, done));
    const plugins = [
      slow('slow', { before: (request, { clock }) => wait(300, clock).then(() => request) }),
      slow('bad', {
        onError: 'skip',
        before: () => {
          throw new Error('broken');
        },
      }),
    ];
    const { post, upstream, span } = traced({ gateway: { plugins } });
    upstream.always({ body: completion() });
    await post({ ...ask, plugins: [{ id: 'slow' }, { id: 'bad' }] });
    const [slowly, failing] = [span('gateway.plugin slow'), span('gateway.plugin bad')];
    expect(slowly?.attributes).toEqual({ 'gateway.plugin': 'slow', 'gateway.hook': 'before' });
    expect(slowly?.duration).toEqual([0, 300_000_000]);
    expect([slowly?.status.code, failing?.status.code]).toEqual([api.SpanStatusCode.UNSET, api.SpanStatusCode.ERROR]);
    expect(slowly?.parentSpanContext?.spanId).toBe(span('gateway.request')?.spanContext().spanId);
  });

  it('that see the response chunk by chunk have one span, from its first chunk to its end', async () => {
    const seeing = slow('seeing', { steps: () => [{ push: (chunk) => [chunk] }, { push: (chunk) => [chunk] }] });
    const { post, upstream, spans } = traced({ gateway: { plugins: [seeing] } });
    const events = textStream('Hello ', 'there');
    upstream.always({ body: [...events.slice(0, 2), { waitMs: 200 }, ...events.slice(2)] });
    const { text } = await post({ ...ask, stream: true, plugins: [{ id: 'seeing' }] });
    expect(text).toContain('there');
    const found = spans().filter(({ name }) => name === 'gateway.plugin seeing');
    expect(found.map(({ attributes, status, duration }) => [attributes, status.code, duration])).toEqual([
      [{ 'gateway.plugin': 'seeing', 'gateway.hook': 'steps' }, api.SpanStatusCode.UNSET, [0, 200_000_000]],
    ]);
  });

  it.each([
    ['at once', undefined],
    ['in a promise', true],
  ])('that fail at a chunk, %s, say so', async (_, isAsync) => {
    const push = () => {
      const error = new Error('broken');
      if (isAsync) return Promise.reject(error);
      throw error;
    };
    const failing = slow('failing', { steps: () => [{ push, ...(isAsync && { isAsync }) }] });
    const { post, upstream, spans } = traced({ gateway: { plugins: [failing] } });
    upstream.always({ body: completion() });
    expect((await post({ ...ask, plugins: [{ id: 'failing' }] })).status).toBe(500);
    const found = spans().filter(({ name }) => name === 'gateway.plugin failing');
    expect(found.map(({ status }) => status.code)).toEqual([api.SpanStatusCode.ERROR]);
  });

  it('of tools have their name and the id of the call', async () => {
    const run = () => '4';
    const dice = defineServerTool({ name: 'dice', description: 'Rolls.', parameters: {}, run });
    const { post, upstream, span, calls } = traced({ gateway: { serverTools: [dice] } });
    const call = { id: 'call_7', type: 'function', function: { name: 'dice', arguments: '{}' } };
    upstream.answer(
      { body: completion({}, { content: null, tool_calls: [call] }, { finish_reason: 'tool_calls' }) },
      { body: completion() },
    );
    await post({ ...ask, tools: [{ type: 'service:dice' }] });
    expect(span('execute_tool')?.name).toBe('execute_tool dice');
    expect(span('execute_tool')?.attributes).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'dice',
      'gen_ai.tool.call.id': 'call_7',
    });
    expect(calls()).toHaveLength(2);
  });
});

describe('prompts and responses', () => {
  const content = (attributes: api.Attributes | undefined) => [
    JSON.parse(String(attributes?.['gen_ai.input.messages'] ?? 'null')),
    JSON.parse(String(attributes?.['gen_ai.output.messages'] ?? 'null')),
  ];

  it('are on the span that was billed, where the option says so', async () => {
    const { post, upstream, billed } = traced({ telemetry: { content: true } });
    upstream.always({ body: textStream('On its ', 'way') });
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    const messages = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'Where?' }, image] },
    ];
    await post({ ...ask, messages, stream: true });
    expect(content(billed()[0]?.attributes)).toEqual([
      [
        { role: 'system', parts: [{ type: 'text', content: 'Be brief.' }] },
        {
          role: 'user',
          parts: [
            { type: 'text', content: 'Where?' },
            { type: 'blob', modality: 'image', mime_type: 'image/png', content: 'AAAA' },
          ],
        },
      ],
      [{ role: 'assistant', parts: [{ type: 'text', content: 'On its way' }], finish_reason: 'stop' }],
    ]);
  });

  it('have calls of tools and what came of them', async () => {
    const { post, upstream, billed } = traced({ telemetry: { content: true } });
    const call = { id: 'call_7', type: 'function', function: { name: 'look_up', arguments: '{"a":1}' } };
    upstream.always({ body: completion({}, { content: null, tool_calls: [call] }, { finish_reason: 'tool_calls' }) });
    const tools = [{ type: 'function', function: { name: 'look_up', parameters: { type: 'object' } } }];
    const messages = [
      ...hello,
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_7', content: 'found' },
    ];
    await post({ ...ask, messages, tools });
    const called = { type: 'tool_call', id: 'call_7', name: 'look_up', arguments: '{"a":1}' };
    const [input, output] = content(billed()[0]?.attributes);
    expect(input.slice(1)).toEqual([
      { role: 'assistant', parts: [called] },
      { role: 'tool', parts: [{ type: 'tool_call_response', id: 'call_7', response: 'found' }] },
    ]);
    expect(output).toEqual([{ role: 'assistant', parts: [called], finish_reason: 'tool_calls' }]);
  });

  it('are left out with zero data retention, and where they are too long', async () => {
    const up = { baseUrl: 'https://up.test/v1', apiKey: 'sk-up-0123456789', dataPolicy: { zeroRetention: true } };
    const { post, upstream, billed } = traced({ telemetry: { content: 150 }, gateway: { providers: { up, alt: up } } });
    upstream.always({ body: completion() });
    await post({ ...ask, provider: { zdr: true } });
    expect(content(billed()[0]?.attributes)).toEqual([null, null]);
    expect(billed()[0]?.attributes).not.toHaveProperty('gateway.content.truncated');
    await post({ ...ask, messages: [{ role: 'user', content: 'x'.repeat(200) }] });
    const [input, output] = content(billed()[1]?.attributes);
    expect([input, output[0].role, billed()[1]?.attributes['gateway.content.truncated']]).toEqual([
      null,
      'assistant',
      true,
    ]);
  });

  it('are kept by the gateway only where the workspace wants it', async () => {
    const { post, call, upstream } = traced({
      telemetry: { content: true },
      gateway: { records: { enabled: true } },
    });
    upstream.always({ body: completion() });
    const { headers } = await post(ask);
    const id = headers.get('x-generation-id');
    expect((await call('GET', `/generation/content?id=${id}`)).status).toBe(404);
  });
});

describe('a workspace that wants to be told of its requests', () => {
  it('gets spans by the tracer that the host app names for it, without what the host app traces', async () => {
    const own = keptSpans();
    const asked: string[] = [];
    const broadcast = (workspaceId: string) => {
      asked.push(workspaceId);
      return own.tracer;
    };
    const { post, call, upstream, spans, records } = traced({ telemetry: { broadcast, content: true } });
    upstream.always({ body: completion() });
    await post(ask);
    expect([asked, own.spans()]).toEqual([[], []]);
    const headers = { authorization: `Bearer ${managementKey}` };
    await call('PATCH', '/workspaces/default', { is_observability_broadcast_enabled: true }, headers);
    await post(ask);
    expect(asked).toEqual([records[1]?.workspaceId]);
    expect(own.spans().map(({ name }) => name)).toEqual(['gateway.plan', 'chat acme/fast', 'gateway.request']);
    const traceIds = new Set(spans().map((one) => one.spanContext().traceId));
    expect(own.spans().some((one) => traceIds.has(one.spanContext().traceId))).toBe(false);
    expect(own.spans()[1]?.attributes).toMatchObject({ 'gen_ai.usage.cost': expect.any(Number) });
    expect(JSON.stringify(own.spans().map(({ attributes }) => attributes))).not.toContain('messages');
  });
  it('may have to wait for its tracer, and one that cannot be had ends nothing', async () => {
    const own = keptSpans();
    const tracers = [async () => own.tracer, () => Promise.reject(new Error('no tracer')), async () => ({}) as never];
    let asked = 0;
    const { post, call, upstream, run } = traced({ telemetry: { broadcast: () => tracers[asked++]?.() ?? null } });
    upstream.always({ body: completion() });
    const headers = { authorization: `Bearer ${managementKey}` };
    await call('PATCH', '/workspaces/default', { is_observability_broadcast_enabled: true }, headers);
    for (let at = 0; at < 4; at++) expect((await post(ask)).status).toBe(200);
    await run(nextTurn());
    expect(asked).toBe(4);
    expect(own.spans().map(({ name }) => name)).toContain('gateway.request');
  });
  it('gets none where there is no tracer for it, and the request is served', async () => {
    const { post, call, upstream } = traced({ telemetry: { broadcast: () => null } });
    upstream.always({ body: completion() });
    await call('PATCH', '/workspaces/default', { is_observability_broadcast_enabled: true });
    expect((await post(ask)).status).toBe(200);
  });
});

describe('spans of requests that end together', () => {
  it('are those of each, also where the tracer fails for one of them', async () => {
    const kept = keptSpans();
    let begun = 0;
    const startSpan: typeof kept.tracer.startSpan = (name, ...more) => {
      if (name === 'gateway.request' && ++begun === 2) throw new Error('broken');
      return kept.tracer.startSpan(name, ...more);
    };
    const recorder = openTelemetry({
      trace: { getTracer: () => ({ startSpan }), setSpan: api.trace.setSpan, setSpanContext: api.trace.setSpanContext },
      metrics: api.metrics,
      context: api.context,
    } as never);
    const { run, send, upstream } = testGateway({ onRecord: recorder });
    upstream.always({ body: completion() });
    await run(Promise.all([send(ask), send(ask), send(ask)]));
    await nextTurn();
    const named = (name: string) => kept.spans().filter((one) => one.name.startsWith(name));
    expect(named('gateway.request')).toHaveLength(2);
    expect(
      named('chat')
        .map(({ parentSpanContext }) => parentSpanContext?.spanId)
        .sort(),
    ).toEqual(
      named('gateway.request')
        .map((one) => one.spanContext().spanId)
        .sort(),
    );
  });
});

describe('who follows a request and throws', () => {
  it.each(['begin', 'attempt', 'decided', 'worked', 'ended'])('in %s changes nothing of it', async (where) => {
    const told: string[] = [];
    const tell = (name: string) => {
      told.push(name);
      if (name === where) throw new Error('broken');
    };
    const plugin = definePlugin({ id: 'own', before: (request) => request });
    const recorder = Object.assign(() => tell('record'), {
      begin: () => {
        tell('begin');
        return {
          attempt: () => {
            tell('attempt');
            return { decided: () => tell('decided') };
          },
          worked: () => tell('worked'),
          ended: () => tell('ended'),
        };
      },
    });
    const { post, upstream } = testGateway({ onRecord: recorder, plugins: [plugin] });
    upstream.always({ body: completion() });
    expect((await post({ ...ask, plugins: [{ id: 'own' }] })).status).toBe(200);
    expect(told).toContain(where);
    expect(told.at(-1)).toBe('record');
  });

  it('cannot replace a header that the request needs', async () => {
    const headers = { 'content-type': 'text/plain', authorization: 'Bearer mine', 'x-more': 'yes' };
    const recorder = Object.assign(() => undefined, {
      begin: () => ({ attempt: () => ({ headers }), ended: () => undefined }),
    });
    const { post, upstream } = testGateway({ onRecord: recorder });
    upstream.always({ body: completion() });
    await post(ask);
    expect(upstream.sent[0]?.headers).toMatchObject({ 'content-type': 'application/json', 'x-more': 'yes' });
    expect(upstream.sent[0]?.headers.authorization).not.toBe('Bearer mine');
  });
});
