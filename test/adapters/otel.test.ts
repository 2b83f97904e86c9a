import * as api from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import { openTelemetry } from '../../adapters/otel/otel.ts';
import { hello, testGateway, testKey, upstreamKeys } from '../support/gateway.ts';
import { traced as tracedWith } from '../support/traced.ts';
import { completion, errorBody, textStream } from '../support/upstream.ts';

const ask = { model: 'acme/fast', messages: hello };

describe.each([
  ['that begin and end with what they are of', true],
  ['that are made of finished records', false],
])('spans %s', (_, isLive) => {
  const traced = () => tracedWith({ isLive });

  it('are one of the request, one of the plan and one of the attempt, with usage and cost on the attempt alone', async () => {
    const { post, upstream, spans, calls, billed, records } = traced();
    upstream.always({ body: completion() });
    await post(ask);
    expect(spans().map(({ name }) => name)).toEqual(['gateway.plan', 'chat acme/fast', 'gateway.request']);
    const [call] = calls();
    const request = spans().at(-1);
    expect(billed()).toEqual([call]);
    expect(call?.kind).toBe(api.SpanKind.CLIENT);
    expect(call?.parentSpanContext?.spanId).toBe(request?.spanContext().spanId);
    const usage = records[0]?.usage;
    expect(usage?.prompt_tokens).toBeGreaterThan(0);
    expect(call?.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.usage.input_tokens': usage?.prompt_tokens,
      'gen_ai.usage.output_tokens': usage?.completion_tokens,
      'gen_ai.response.finish_reasons': ['stop'],
    });
    expect(call?.attributes['gen_ai.usage.cost']).toBeCloseTo((records[0]?.costNanoUsd ?? 0) / 1e9, 12);
  });

  it('name the user and the labels of the key, by which traces are searched', async () => {
    const apiKeys = [{ key: 'sk-web-0123456789', tags: ['web', 'eu'] }];
    const { post, upstream, spans } = tracedWith({ isLive, gateway: { apiKeys } });
    upstream.always({ body: completion() });
    await post({ ...ask, user: 'ann' }, { authorization: 'Bearer sk-web-0123456789' });
    expect(spans().at(-1)?.attributes).toMatchObject({ 'user.id': 'ann', 'gateway.tags': ['web', 'eu'] });
  });
  it('are below the span that the request names, if its ids are ids', async () => {
    const { post, upstream, spans } = traced();
    upstream.always({ body: completion() });
    const trace = {
      trace_id: `${'a'.repeat(31)}B`,
      parent_span_id: 'c'.repeat(16),
      generation_name: 'draft',
      other: 'x',
    };
    await post({ ...ask, trace });
    const request = spans().at(-1);
    expect(request?.spanContext().traceId).toBe(trace.trace_id.toLowerCase());
    expect(request?.parentSpanContext?.spanId).toBe(trace.parent_span_id);
    expect(request?.attributes).toMatchObject({ 'gateway.generation_name': 'draft' });
    expect(request?.attributes).not.toHaveProperty('gateway.other');
    await post({ ...ask, trace: { ...trace, trace_id: 'my trace' } });
    expect(spans().at(-1)?.parentSpanContext).toBeUndefined();
    expect(spans().at(-1)?.attributes).toMatchObject({ 'gateway.trace_id': 'my trace' });
  });
  it('have the parent that the header traceparent names, with its sampling, unless the field trace names one', async () => {
    const { post, spans, upstream, records } = traced();
    upstream.always({ body: completion() });
    const [traceId, parentId] = ['1'.repeat(32), '2'.repeat(16)];
    const traceparent = `00-${traceId}-${parentId}-01`;
    await post(ask, { traceparent });
    expect(spans().at(-1)?.spanContext().traceId).toBe(traceId);
    expect(spans().at(-1)?.parentSpanContext).toMatchObject({ spanId: parentId, isRemote: true });
    expect(records[0]?.traceparent).toBe(traceparent);
    const named = { trace_id: '3'.repeat(32), parent_span_id: '4'.repeat(16) };
    await post({ ...ask, trace: named }, { traceparent });
    expect(spans().at(-1)?.spanContext().traceId).toBe(named.trace_id);
    const before = spans().length;
    await post(ask, { traceparent: `00-${traceId}-${parentId}-00` });
    expect(spans().length).toBe(before);
    for (const wrong of ['', 'x', `00-${'0'.repeat(32)}-${parentId}-01`, `ff-${traceId}-${parentId}-01`]) {
      await post(ask, { traceparent: wrong });
      expect(spans().at(-1)?.parentSpanContext).toBeUndefined();
    }
  });
  it('of an attempt that failed have the error and no usage; the attempt that served has it', async () => {
    const { post, upstream, calls, billed } = traced();
    upstream.answer({ status: 404, body: errorBody('gone') }, { body: completion() });
    await post({ model: 'acme/pair', messages: hello, provider: { order: ['up'] } });
    const [failed, served] = calls();
    expect(calls()).toHaveLength(2);
    expect(failed?.status.code).toBe(api.SpanStatusCode.ERROR);
    expect(failed?.attributes).toMatchObject({ 'gateway.attempt.status': 404, 'error.type': expect.any(String) });
    expect(served?.attributes).not.toHaveProperty('error.type');
    expect(billed()).toEqual([served]);
    const costs = calls().filter(({ attributes }) => 'gen_ai.usage.cost' in attributes);
    expect(costs).toEqual([served]);
  });

  it('of a stream that was cut end with the reason error', async () => {
    const { post, upstream, billed, records } = traced();
    upstream.always({ body: textStream('Hello there').slice(0, 2) });
    await post({ ...ask, stream: true });
    expect(records[0]?.outcome).toBe('cut');
    expect(billed()[0]?.attributes['gen_ai.response.finish_reasons']).toContain('error');
  });

  it('hold no key and no prompt', async () => {
    const { post, upstream, spans } = traced();
    upstream.always({ body: completion() });
    await post({ ...ask, messages: [{ role: 'user', content: 'my-secret-prompt' }] });
    const text = JSON.stringify(spans().map(({ name, attributes, events }) => [name, attributes, events]));
    expect(text).toContain('gen_ai.provider.name');
    for (const secret of ['my-secret-prompt', testKey, upstreamKeys.up]) expect(text).not.toContain(secret);
  });

  it('of a tracer that throws leave the response as it is', async () => {
    const broken = () => {
      throw new Error('broken');
    };
    const record = openTelemetry({
      trace: {
        getTracer: () => ({ startSpan: broken, startActiveSpan: broken }),
        setSpan: broken,
        setSpanContext: broken,
      },
      metrics: api.metrics,
      context: api.context,
    });
    let called = 0;
    const { post, upstream } = testGateway({
      onRecord: (finished) => {
        called++;
        record(finished);
      },
    });
    upstream.always({ body: completion() });
    expect([(await post(ask)).status, called]).toEqual([200, 1]);
  });
});

describe('metrics', () => {
  it.each([
    [
      '1.41',
      [
        'gateway.cost',
        'gen_ai.client.operation.duration',
        'gen_ai.client.operation.time_to_first_chunk',
        'gen_ai.client.token.usage',
        'gen_ai.server.request.duration',
        'gen_ai.server.time_per_output_token',
        'gen_ai.server.time_to_first_token',
      ],
    ],
    [
      'latest',
      [
        'gateway.cost',
        'gen_ai.client.inference.duration',
        'gen_ai.client.inference.operation.input_tokens',
        'gen_ai.client.inference.operation.output_tokens',
        'gen_ai.client.inference.time_to_first_chunk',
        'gen_ai.client.inference.usage.input_tokens',
        'gen_ai.client.inference.usage.output_tokens',
        'gen_ai.server.request.duration',
        'gen_ai.server.time_per_output_token',
        'gen_ai.server.time_to_first_token',
      ],
    ],
  ] as const)('have the names of version %s, and no label of a key, user or session', async (conventions, expected) => {
    const { post, upstream, measured } = tracedWith({ telemetry: { conventions } });
    upstream.always({ body: textStream('Hello ', 'there') });
    await post({ ...ask, stream: true, session_id: 'a-session', user: 'a-user' });
    const found = await measured();
    expect(found.map(({ descriptor }) => descriptor.name).sort()).toEqual(expected);
    expect(JSON.stringify(found)).not.toMatch(/a-session|a-user|sk-test/);
  });

  it('count every request, also where more values wait than are kept back', async () => {
    const { post, upstream, measured } = tracedWith();
    upstream.always({ body: completion() });
    for (let request = 0; request < 150; request++) await post(ask);
    const found = await measured();
    const pointOf = (name: string) => found.find(({ descriptor }) => descriptor.name === name)?.dataPoints[0]?.value;
    expect(pointOf('gen_ai.server.request.duration')).toMatchObject({ count: 150 });
    expect(pointOf('gen_ai.client.operation.duration')).toMatchObject({ count: 150 });
  });

  it('of a complete response have no time of a first or a further token', async () => {
    const { post, upstream, measured } = tracedWith();
    upstream.always({ body: completion() });
    await post(ask);
    const found = (await measured()).map(({ descriptor }) => descriptor.name);
    expect(found.filter((name) => /first|per_output/.test(name))).toEqual([]);
  });

  it('are of each attempt as a client of its provider, and of the request once', async () => {
    const { post, upstream, measured, records } = tracedWith();
    upstream.answer({ status: 404, body: errorBody('gone') }, { body: completion() });
    await post({ model: 'acme/pair', messages: hello, provider: { order: ['up'] } });
    const found = await measured();
    const pointsOf = (name: string) => found.find(({ descriptor }) => descriptor.name === name)?.dataPoints ?? [];
    const call = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'acme/pair' };
    expect(pointsOf('gen_ai.client.operation.duration')).toMatchObject([
      { attributes: { ...call, 'gen_ai.provider.name': 'up', 'error.type': records[0]?.attempts[0]?.errorType } },
      { attributes: { ...call, 'gen_ai.provider.name': 'alt', 'gateway.endpoint': 'alt' } },
    ]);
    expect(pointsOf('gen_ai.client.token.usage')).toMatchObject([
      {
        attributes: { 'gen_ai.provider.name': 'alt', 'gen_ai.token.type': 'input' },
        value: { sum: records[0]?.usage?.prompt_tokens },
      },
      {
        attributes: { 'gen_ai.provider.name': 'alt', 'gen_ai.token.type': 'output' },
        value: { sum: records[0]?.usage?.completion_tokens },
      },
    ]);
    expect(pointsOf('gen_ai.server.request.duration')).toMatchObject([
      {
        attributes: { 'gateway.outcome': 'ok', 'gen_ai.provider.name': 'alt', 'gen_ai.response.model': 'acme/pair' },
        value: { count: 1 },
      },
    ]);
  });

  it('of the latest version count cached and reasoning tokens as parts of the others', async () => {
    const { post, upstream, measured } = tracedWith({ telemetry: { conventions: 'latest' } });
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 50,
      total_tokens: 150,
      prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 20 },
      completion_tokens_details: { reasoning_tokens: 30 },
    };
    upstream.always({ body: completion({ usage }) });
    await post(ask);
    const sums = (await measured()).flatMap(({ descriptor, dataPoints }) =>
      dataPoints.map(({ value }) => [descriptor.name, value]),
    );
    expect(Object.fromEntries(sums)).toMatchObject({
      'gen_ai.client.inference.usage.input_tokens': 100,
      'gen_ai.client.inference.usage.cache_read.input_tokens': 60,
      'gen_ai.client.inference.usage.cache_write.input_tokens': 20,
      'gen_ai.client.inference.usage.output_tokens': 50,
      'gen_ai.client.inference.usage.reasoning.output_tokens': 30,
    });
  });
});
