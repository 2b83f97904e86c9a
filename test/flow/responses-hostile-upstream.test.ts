import { describe, expect, it } from 'vitest';
import {
  askResponses,
  nativeMessage,
  nativeMessageEvents,
  nativeResponse,
  nativeStream,
  nativeUp,
  nativeUsage,
  streamResponses,
} from '../support/ask-responses.ts';
import { checkResponsesResult, checkResponsesStream } from '../support/check-responses.ts';
import { cpuMs } from '../support/cpu-time.ts';
import { testGateway, upstreamKeys } from '../support/gateway.ts';
import { recut, sse } from '../support/upstream.ts';

const key = upstreamKeys.up;
const many = <T>(count: number, item: (at: number) => T) => Array.from({ length: count }, (_, at) => item(at));

describe('an upstream that shows the key it was called with', () => {
  const holders: object[] = [
    nativeMessage(`Your key is ${key}`),
    nativeMessage('Hi', { phase: key }),
    nativeMessage('Hi', { id: key }),
    { type: 'reasoning', id: 'rs', summary: [{ type: 'summary_text', text: key }], encrypted_content: key },
    { type: 'function_call', id: 'fc', call_id: 'c', name: key, namespace: key, arguments: JSON.stringify({ key }) },
    { type: 'custom_tool_call', id: 'ctc', call_id: key, name: 'p', input: key },
    { type: 'web_search_call', id: 'ws', status: 'completed', action: { type: 'search', query: key } },
    { type: 'mystery', [key]: [{ deep: { deeper: `Bearer ${key}` } }] },
    { type: key, id: 'x' },
  ];
  const expectNoKey = (text: string) => {
    expect(text).not.toContain(key);
    expect(text).not.toContain(key.slice(0, 14));
    expect(text).not.toContain(key.slice(-8));
  };

  it('does not show it in an item of a complete response', async () => {
    const test = testGateway(nativeUp);
    for (const item of holders) {
      test.upstream.answer({ body: nativeResponse([item]) });
      const { status, text } = await askResponses(test);
      expect([status, text.slice(0, 200)]).toEqual([200, expect.any(String)]);
      expectNoKey(text);
    }
    expectNoKey(JSON.stringify(test.records));
  });
  it.each([1e9, 7])('does not show it in events, in pieces of %d bytes', async (size) => {
    const test = testGateway(nativeUp);
    for (const item of holders) {
      const events = [
        { type: 'response.output_item.added', output_index: 0, item },
        { type: `response.${(item as { type: string }).type}.searching`, output_index: 0, query: key, [key]: 1 },
        { type: 'response.output_item.done', output_index: 0, item },
      ];
      test.upstream.answer({ body: recut(nativeStream(events, [item]), size) });
      const { text } = await streamResponses(test);
      checkResponsesStream(text, { schemas: false });
      expectNoKey(text);
    }
  });
  it('does not show it where it comes split over events', async () => {
    const test = testGateway(nativeUp);
    const letters = [...`The key ${key} ends.`];
    const place = { output_index: 0, item_id: 'x' };
    const kinds: [string, object, object][] = [
      ['response.output_text.delta', nativeMessage(letters.join('')), { content_index: 0 }],
      [
        'response.refusal.delta',
        nativeMessage('', { content: [{ type: 'refusal', refusal: letters.join('') }] }),
        { content_index: 0 },
      ],
      [
        'response.reasoning_summary_text.delta',
        { type: 'reasoning', id: 'r', summary: [{ type: 'summary_text', text: letters.join('') }] },
        { summary_index: 0 },
      ],
      [
        'response.reasoning_text.delta',
        { type: 'reasoning', id: 'r', summary: [], content: [{ type: 'reasoning_text', text: letters.join('') }] },
        { content_index: 0 },
      ],
      [
        'response.function_call_arguments.delta',
        { type: 'function_call', id: 'f', call_id: 'c', name: 'f', arguments: letters.join('') },
        {},
      ],
      [
        'response.custom_tool_call_input.delta',
        { type: 'custom_tool_call', id: 'f', call_id: 'c', name: 'f', input: letters.join('') },
        {},
      ],
      ['response.code_interpreter_call_code.delta', { type: 'code_interpreter_call', id: 'ci', code: '' }, {}],
      ['response.mystery.piece', { type: 'mystery', id: 'm' }, {}],
    ];
    for (const [type, item, more] of kinds) {
      const events = [
        {
          type: 'response.output_item.added',
          output_index: 0,
          item: { ...item, content: [], summary: [], arguments: '', input: '' },
        },
        ...letters.map((delta) => ({ type, ...place, ...more, delta, piece: delta })),
        { type: 'response.output_item.done', output_index: 0, item },
      ];
      test.upstream.answer({ body: nativeStream(events, [item]) });
      const { text } = await streamResponses(test);
      const { items } = checkResponsesStream(text, { schemas: false });
      expectNoKey(text);
      expectNoKey(JSON.stringify(items));
      const pieces = [...text.matchAll(/"(?:delta|piece)":"([^"]*)"/g)].map(([, piece]) => piece).join('');
      expect([type, pieces.includes(key.slice(0, 14))]).toEqual([type, false]);
    }
  });
  it('does not show it in the error of a response', async () => {
    const test = testGateway(nativeUp);
    const error = { code: 'server_error', message: `Bad key ${key}` };
    test.upstream.answer({
      body: [
        ...nativeMessageEvents(0, ['Hi']).map((event) => sse(event)),
        sse({ type: 'response.failed', response: nativeResponse([], { status: 'failed', error }) }),
      ],
    });
    const { text } = await streamResponses(test);
    expect(checkResponsesStream(text).final.status).toBe('failed');
    expectNoKey(text);
    test.upstream.always({ body: nativeResponse([], { status: 'failed', error }) });
    const failed = await askResponses(test);
    expect(failed.status).toBeGreaterThanOrEqual(400);
    expectNoKey(failed.text);
  });
});

describe('an upstream that says what only the gateway may say', () => {
  const lies = {
    id: 'resp_lie',
    model: 'other/model',
    service_metadata: { lie: true },
    usage: { ...nativeUsage, cost: 99, is_byok: true, cost_details: { upstream_inference_cost: 98 } },
    instructions: 'lie',
    tools: [{ type: 'function', name: 'lie' }],
    metadata: { lie: 'yes' },
    previous_response_id: 'resp_lie',
    error_type: 'lie',
  };

  it.each([false, true])('is not believed (stream: %s)', async (stream) => {
    const test = testGateway(nativeUp);
    test.upstream.answer({
      body: stream
        ? nativeStream(nativeMessageEvents(0, ['Hi']), [nativeMessage('Hi')], lies)
        : nativeResponse([nativeMessage('Hi')], lies),
    });
    const answer = stream ? await streamResponses(test) : await askResponses(test);
    const final = stream ? checkResponsesStream(answer.text).final : JSON.parse(answer.text);
    expect(final).toMatchObject({
      id: answer.headers.get('x-generation-id'),
      model: 'acme/fast',
      instructions: null,
      tools: [],
      previous_response_id: null,
      usage: { input_tokens: 10, output_tokens: 2, cost: 0.000036, is_byok: false },
    });
    expect(answer.text).not.toMatch(/lie|other\/model/);
    expect(test.records[0]?.costNanoUsd).toBe(36_000);
  });
});

describe('an upstream whose events make no sense', () => {
  const odd: unknown[] = [null, -1, 1e9, 'x', [[]], { type: 1 }];
  const fields = ['output_index', 'content_index', 'summary_index', 'item_id', 'item', 'part', 'delta', 'text'];
  const more = ['arguments', 'input', 'annotation', 'logprobs', 'response', 'error', 'refusal', 'annotation_index'];
  const types = [
    'response.created',
    'response.in_progress',
    'response.output_item.added',
    'response.output_item.done',
    'response.content_part.added',
    'response.output_text.delta',
    'response.output_text.done',
    'response.output_text.annotation.added',
    'response.refusal.delta',
    'response.refusal.done',
    'response.reasoning_summary_part.added',
    'response.reasoning_summary_text.delta',
    'response.reasoning_text.delta',
    'response.function_call_arguments.delta',
    'response.function_call_arguments.done',
    'response.custom_tool_call_input.delta',
    'response.web_search_call.searching',
    'response.completed',
    'response.incomplete',
    'response.failed',
    'response.__proto__',
    '__proto__',
    'error',
  ];

  /** Each ends: complete, failed in its stream, or with the error of an upstream, and never with one of ours. */
  const patient = { retry: { maxAttempts: 1 }, health: { failuresToCooldown: 1e6 } };
  const test = testGateway({ ...nativeUp, ...patient });

  async function expectHonest(events: readonly (object | string)[], schemas = false) {
    test.upstream.answer({ body: events.map((event) => sse(event)) });
    const { status, text } = await streamResponses(test);
    const why = JSON.stringify(events).slice(0, 400);
    expect([why, status === 500, /TypeError|internal/i.test(text)]).toEqual([why, false, false]);
    if (status !== 200) return null;
    const { final } = checkResponsesStream(text, { schemas });
    expect([why, final.error_type]).not.toEqual([why, 'internal']);
    return final;
  }

  it('has an honest end, whatever type each field has', async () => {
    for (const type of types)
      for (const field of [...fields, ...more])
        for (const value of odd) {
          const place = { output_index: 0, content_index: 0, summary_index: 0, item_id: 'm', delta: 'x' };
          await expectHonest([
            ...nativeMessageEvents(0, ['Hi']).slice(0, 2),
            { type, ...place, [field]: value },
            ...nativeMessageEvents(0, ['Hi']).slice(2),
            { type: 'response.completed', response: nativeResponse([nativeMessage('Hi')]) },
          ]);
        }
  }, 120_000);
  it('has an honest end, whatever each field of an item is', async () => {
    const of: Record<string, readonly string[]> = {
      message: ['id', 'type', 'role', 'status', 'content', 'phase', '__proto__'],
      reasoning: ['id', 'summary', 'content', 'encrypted_content', 'status', '__proto__'],
      function_call: ['id', 'call_id', 'name', 'namespace', 'arguments', 'status'],
      custom_tool_call: ['id', 'call_id', 'name', 'input'],
      web_search_call: ['id', 'action', 'status', 'type'],
      image_generation_call: ['id', 'result'],
      compaction: ['id', 'encrypted_content'],
    };
    for (const type of Object.keys(of))
      for (const field of of[type] as string[])
        for (const value of [...odd, [null, 1, { type: 'output_text' }, { type: 'refusal', refusal: 1 }]]) {
          const base = { type, id: 'i', status: 'completed', call_id: 'c', name: 'n', content: [], summary: [] };
          const item = JSON.parse(
            JSON.stringify(base).replace(/}$/, `,${JSON.stringify(field)}:${JSON.stringify(value)}}`),
          );
          test.upstream.answer({ body: nativeResponse([item]) });
          const { status, text } = await askResponses(test);
          expect([JSON.stringify(item), status === 500]).toEqual([JSON.stringify(item), false]);
          expect(text).not.toMatch(/TypeError/);
          await expectHonest([
            { type: 'response.output_item.added', output_index: 0, item },
            { type: 'response.output_item.done', output_index: 0, item },
            { type: 'response.completed', response: nativeResponse([item]) },
          ]);
        }
  }, 120_000);
  it('keeps items apart whose indices come out of order, are huge, or whose ids are the same', async () => {
    const at = (index: number, text: string) => nativeMessageEvents(index, [text]);
    const [a, b, c] = [at(1e9, 'a'), at(7, 'b'), at(0, 'c')];
    const interleaved = a.flatMap((event, n) => [event, b[n] as object, c[n] as object]);
    const final = await expectHonest(
      [...interleaved, { type: 'response.completed', response: nativeResponse([]) }],
      true,
    );
    const texts = final?.output.map(({ content }) => content[0]?.text);
    expect(texts).toEqual(['a', 'b', 'c']);
    expect(new Set(final?.output.map(({ id }) => id)).size).toBe(3);
  });
  it('has each item end that never ended', async () => {
    const open = many(50, (at) => nativeMessageEvents(at, ['x'])[0] as object);
    const final = await expectHonest([...open, { type: 'response.completed', response: nativeResponse([]) }]);
    expect(final?.output).toHaveLength(50);
  });
});

describe('an upstream that sends 40,000 of something', () => {
  const count = 40_000;
  const floods: [string, (at: number) => object][] = [
    ['messages', () => nativeMessage('x')],
    ['empty messages', () => ({ type: 'message', content: [] })],
    ['reasoning', () => ({ type: 'reasoning', id: 'r', summary: [], encrypted_content: 'g' })],
    ['summaries', (at) => ({ type: 'reasoning', id: `r${at}`, summary: [{ type: 'summary_text', text: 'x' }] })],
    ['calls', () => ({ type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' })],
    ['items of its own', () => ({ type: 'mystery', id: 'm' })],
    ['images', () => ({ type: 'image_generation_call', id: 'i', result: 'aGk=' })],
  ];

  it.each(floods)(
    '%s, in a complete response',
    async (_, item) => {
      const body = JSON.stringify(nativeResponse(many(count, item)));
      for (const operation of ['/responses', '/chat/completions']) {
        const test = testGateway(nativeUp);
        test.upstream.answer({ headers: { 'content-type': 'application/json' }, body });
        const startMs = cpuMs();
        const { status } = await askResponses(
          test,
          operation === '/responses' ? {} : { messages: [{ role: 'user', content: 'x' }], input: undefined },
          {},
          operation,
        );
        const tookMs = cpuMs() - startMs;
        expect([operation, status === 500, tookMs < 5_000, tookMs]).toEqual([operation, false, true, tookMs]);
      }
    },
    60_000,
  );
  it.each(floods)(
    '%s, in events',
    async (_, item) => {
      const test = testGateway(nativeUp);
      const events = many(count, (at) => sse({ type: 'response.output_item.done', output_index: at, item: item(at) }));
      const pieces = many(100, (at) => events.slice((at * count) / 100, ((at + 1) * count) / 100).join(''));
      test.upstream.answer({ body: [...pieces, sse({ type: 'response.completed', response: nativeResponse([]) })] });
      const startMs = cpuMs();
      const { status } = await streamResponses(test);
      const tookMs = cpuMs() - startMs;
      expect([status === 500, tookMs < 10_000, tookMs]).toEqual([false, true, tookMs]);
    },
    60_000,
  );
  it('annotations on one text, one by one', async () => {
    const annotation = { type: 'url_citation', url: 'https://x.test', title: 'x', start_index: 0, end_index: 1 };
    const notes = many(count, () => annotation);
    const item = nativeMessage('x', { content: [{ type: 'output_text', text: 'x', annotations: notes }] });
    const test = testGateway(nativeUp);
    test.upstream.answer({ body: nativeResponse([item]) });
    const startMs = cpuMs();
    const { status, json } = await askResponses(test);
    expect([status, cpuMs() - startMs < 5_000]).toEqual([200, true]);
    checkResponsesResult({ ...json, output: [] });
  }, 60_000);
});
