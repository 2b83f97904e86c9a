import { describe, expect, it } from 'vitest';
import { withOutputItem } from '../../../../src/call/output-item.ts';
import type { ChunkDelta } from '../../../../src/schema/chat/chunk.ts';
import { checkResponsesStream } from '../../../support/check-responses.ts';
import { callDeltas, chunkOf, end, head, newEncoder, nowMs, streamOf } from '../../../support/responses-encoding.ts';

const typesOf = (text: string) => checkResponsesStream(text).events.map(({ type }) => type.replace('response.', ''));

describe('the stream of a response', () => {
  it('of text has the events in the order that clients know', () => {
    expect(typesOf(streamOf([{ role: 'assistant', content: '' }, { content: 'Hel' }, { content: 'lo' }]))).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'completed',
    ]);
  });
  it('of reasoning, text and a call has each item after the one before', () => {
    const deltas = [{ reasoning: 'Hm' }, { content: 'Look' }, ...callDeltas(0, 'read', ['{"a"', ':1}'])];
    expect(typesOf(streamOf(deltas, 'tool_calls'))).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
      'output_item.done',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
      'completed',
    ]);
  });
  it('has thoughts where clients show them, unless they are of the format of Responses', () => {
    const thought = (text: string, format: string) => ({
      reasoning_details: [{ type: 'reasoning.text' as const, text, format, index: 0 }],
    });
    const { final: other } = checkResponsesStream(streamOf([thought('Hm', 'anthropic-claude-v1')]));
    expect(other.output).toMatchObject([{ summary: [{ type: 'summary_text', text: 'Hm' }] }]);
    expect(other.output[0]).not.toHaveProperty('content');
    const { final: own } = checkResponsesStream(streamOf([thought('Hm', 'openai-responses-v1')]));
    expect(own.output).toMatchObject([{ summary: [], content: [{ type: 'reasoning_text', text: 'Hm' }] }]);
  });
  it('keeps a summary and a thought with the same index apart', () => {
    const details = [
      { type: 'reasoning.summary' as const, summary: 'Short', index: 0 },
      { type: 'reasoning.text' as const, text: 'Long', index: 0 },
    ];
    const { final } = checkResponsesStream(streamOf(details.map((one) => ({ reasoning_details: [one] }))));
    expect(final.output).toMatchObject([{ summary: [{ text: 'Short' }, { text: 'Long' }] }]);
  });
  it('ends with everything: usage, time, and the items with ids of this response alone', () => {
    const { final } = checkResponsesStream(streamOf([{ content: 'Hello' }]));
    expect(final).toMatchObject({
      id: head.id,
      created_at: head.created,
      completed_at: Math.floor(nowMs / 1000),
      usage: { input_tokens: 12, output_tokens: 5, total_tokens: 17 },
      output: [{ id: 'msg_1790000000be0c41a7d90123456789_0', content: [{ text: 'Hello' }] }],
    });
  });
  it('without any chunk is a complete one without output', () => {
    const { final, events } = checkResponsesStream(newEncoder().finish(head, end));
    expect(final).toMatchObject({ status: 'completed', output: [] });
    expect(events).toHaveLength(3);
  });
  it.each([
    ['length', 'max_output_tokens'],
    ['content_filter', 'content_filter'],
  ] as const)('that ends by %s is incomplete, and so is the item that was cut', (reason, why) => {
    const { final } = checkResponsesStream(streamOf([{ reasoning: 'Hm' }, { content: 'Hel' }], reason));
    expect(final.incomplete_details).toEqual({ reason: why });
    expect(final.output.map(({ status }) => status)).toEqual(['completed', 'incomplete']);
  });
  it('ends each call before the next one begins, whose arguments come in turns', () => {
    const [first, ...ofFirst] = callDeltas(0, 'read', ['{"a":', '1}']);
    const [second, ...ofSecond] = callDeltas(1, 'write', ['{"b":', '2', '}']);
    const deltas = [first, second, ofSecond[0], ofFirst[0], ofSecond[1], ofFirst[1], ofSecond[2]];
    const { final, events } = checkResponsesStream(
      streamOf(
        deltas.filter((one) => one !== undefined),
        'tool_calls',
      ),
    );
    expect(final.output).toMatchObject([
      { name: 'read', call_id: 'call_read_0', arguments: '{"a":1}' },
      { name: 'write', call_id: 'call_write_1', arguments: '{"b":2}' },
    ]);
    const shown = events.map(({ type, output_index: index, delta }) => [type.split('.').at(-1), index, delta]);
    expect(shown.slice(2, -1)).toEqual([
      ['added', 0, undefined],
      ['delta', 0, '{"a":'],
      ['delta', 0, '1}'],
      ['done', 0, undefined],
      ['done', 0, undefined],
      ['added', 1, undefined],
      // What has waited comes at once.
      ['delta', 1, '{"b":2'],
      ['delta', 1, '}'],
      ['done', 1, undefined],
      ['done', 1, undefined],
    ]);
  });
  it('announces a call when its id and all of its name are known', () => {
    const fragments = [
      { index: 0, function: { name: 'read' } },
      { index: 0, function: { name: '_file', arguments: '' } },
      { index: 0, function: { arguments: '{' } },
      { index: 0, id: 'call_late', function: { arguments: '}' } },
    ];
    const deltas = fragments.map((one) => ({ tool_calls: [one] }));
    const { final, events } = checkResponsesStream(streamOf(deltas, 'tool_calls'));
    expect(final.output).toMatchObject([{ name: 'read_file', call_id: 'call_late', arguments: '{}' }]);
    expect(events.filter(({ type }) => type.endsWith('arguments.delta'))).toHaveLength(1);
  });
  it('takes a name that is repeated with each fragment once', () => {
    const fragments = ['', '{', '}'].map((text) => ({ index: 0, id: 'c', function: { name: 'f', arguments: text } }));
    const { final } = checkResponsesStream(streamOf(fragments.map((one) => ({ tool_calls: [one] }))));
    expect(final.output).toMatchObject([{ name: 'f', arguments: '{}' }]);
  });
  it('gives a call without an id, and one with the id of another, an id of its own', () => {
    const fragments = ['c', undefined, 'c'].map((id, index) => ({
      index,
      ...(id === undefined ? {} : { id }),
      function: { name: 'f', arguments: '{}' },
    }));
    const { final } = checkResponsesStream(streamOf([{ tool_calls: fragments }]));
    expect(final.output.map(({ call_id }) => call_id)).toEqual(['c', 'call_1', 'call_2']);
  });
  it('puts text that follows a call into a message of its own, and ends the items in their order', () => {
    const deltas = [{ content: 'One' }, ...callDeltas(0, 'f', ['{}']), { content: 'Two' }, { reasoning: 'Hm' }];
    const { final, events } = checkResponsesStream(streamOf(deltas));
    expect(final.output.map(({ type }) => type)).toEqual(['message', 'function_call', 'message', 'reasoning']);
    const done = events.filter(({ type }) => type === 'response.output_item.done').map((event) => event.output_index);
    expect(done).toEqual([0, 1, 2, 3]);
  });
  it('has text and refusal as parts of one message', () => {
    const { final } = checkResponsesStream(streamOf([{ refusal: 'No' }, { content: 'Sorry' }, { refusal: '.' }]));
    expect(final.output).toMatchObject([
      {
        content: [
          { type: 'refusal', refusal: 'No.' },
          { type: 'output_text', text: 'Sorry' },
        ],
      },
    ]);
  });
  it('has the probabilities of tokens in the deltas and at the end', () => {
    const encoder = newEncoder();
    const token = { token: 'Hi', logprob: -1, bytes: null, top_logprobs: [{ token: 'Ho', logprob: -2, bytes: [72] }] };
    const text =
      encoder.chunk(chunkOf({ content: 'Hi' }, null, [token])) +
      encoder.chunk(chunkOf({}, 'stop')) +
      encoder.finish(head, end);
    const { final } = checkResponsesStream(text);
    expect(final.output[0]?.content[0]?.logprobs).toEqual([
      { token: 'Hi', logprob: -1, bytes: [], top_logprobs: [{ token: 'Ho', logprob: -2, bytes: [72] }] },
    ]);
  });
  it('has an image as an item that is there at once', () => {
    const url = 'data:image/webp;base64,AAAA';
    const { final, events } = checkResponsesStream(streamOf([{ images: [{ image_url: { url } }] }, { content: 'So' }]));
    expect(final.output).toMatchObject([
      { type: 'image_generation_call', status: 'completed', result: 'AAAA', output_format: 'webp' },
      { type: 'message' },
    ]);
    expect(events.map(({ type }) => type)).toContain('response.image_generation_call.completed');
  });
  it('shows the body that was sent upstream behind the first two events', () => {
    const encoder = newEncoder();
    const text =
      encoder.debug(head, { model: 'x' }) + encoder.chunk(chunkOf({ content: 'Hi' })) + encoder.finish(head, end);
    const { events } = checkResponsesStream(text);
    expect(events[2]).toMatchObject({ type: 'response.debug', debug: { echo_upstream_body: { model: 'x' } } });
  });
  it('takes the first choice alone', () => {
    const encoder = newEncoder();
    const chunk = chunkOf({ content: 'Hi' });
    const other = { index: 1, delta: { content: 'Other' }, finish_reason: 'length' as const };
    const text = encoder.chunk({ ...chunk, choices: [...chunk.choices, other] }) + encoder.finish(head, end);
    expect(checkResponsesStream(text).final).toMatchObject({
      status: 'completed',
      output: [{ content: [{ text: 'Hi' }] }],
    });
  });
});

describe('what belongs to a later item', () => {
  const fragment = (index: number, text: string) => ({ tool_calls: [{ index, function: { arguments: text } }] });
  /** The items that a client has heard of, and those that are done, after each delta. */
  const seenAfter = (deltas: readonly ChunkDelta[], encoder = newEncoder()) =>
    deltas.map((delta) => {
      const frames = encoder.chunk(chunkOf(delta));
      return [
        frames.match(/^event: .*item\.added$/gm)?.length ?? 0,
        frames.match(/^event: .*item\.done$/gm)?.length ?? 0,
      ];
    });
  it('comes at once where the call before it is complete', () => {
    const deltas = [
      ...callDeltas(0, 'read', ['{"a":1}']),
      ...callDeltas(1, 'write', ['{"b"', ':2}']),
      { content: 'So' },
    ];
    expect(seenAfter(deltas)).toEqual([
      [0, 0],
      [1, 0],
      // Its name may go on.
      [0, 0],
      [1, 1],
      [0, 0],
      [1, 1],
    ]);
  });
  it.each([
    ['not begun', ['']],
    ['not complete', ['{"a":[{"b":"}]"}']],
    ['empty, as some servers begin every call', ['{}']],
    ['no JSON, of which nobody knows the end', ['look']],
  ])('waits where the arguments of the call before it are %s', (_, pieces) => {
    const encoder = newEncoder();
    const deltas = [...callDeltas(0, 'read', pieces), ...callDeltas(1, 'write', ['{"b":2}']), { content: 'So' }];
    const frames = deltas.map((delta) => encoder.chunk(chunkOf(delta))).join('');
    expect(frames).not.toMatch(/write|message/);
    const { final } = checkResponsesStream(frames + encoder.finish(head, end));
    expect(final.output).toMatchObject([{ arguments: pieces[0] }, { arguments: '{"b":2}' }, { type: 'message' }]);
  });
  it('is not in the response where that fails before the client has heard of it', () => {
    const encoder = newEncoder();
    const deltas = [...callDeltas(0, 'read', ['{"a"']), ...callDeltas(1, 'write', ['{"b":2}']), { content: 'So' }];
    const frames = deltas.map((delta) => encoder.chunk(chunkOf(delta))).join('');
    const { final } = checkResponsesStream(frames + encoder.fail(head, { code: 502, message: 'Gone' }, end));
    expect(final.output).toMatchObject([{ name: 'read', status: 'incomplete' }]);
  });
  it('is not a part of a call that was complete: what a server repeats of it is left out', () => {
    const [begin, whole] = callDeltas(0, 'read', ['{"a":1}']);
    const deltas = [begin, whole, ...callDeltas(1, 'write', ['{"b":2}']), fragment(0, ' \n'), whole];
    const { final } = checkResponsesStream(streamOf(deltas.filter((one) => one !== undefined)));
    expect(final.output).toMatchObject([{ arguments: '{"a":1}' }, { arguments: '{"b":2}' }]);
  });
  it('keeps the place of a call that is not named when something follows it', () => {
    const unnamed = { tool_calls: [{ index: 0, id: 'call_0', function: { name: 're' } }] };
    const rest = { tool_calls: [{ index: 0, function: { name: 'ad', arguments: '{"a":1}' } }] };
    const { final } = checkResponsesStream(streamOf([unnamed, ...callDeltas(1, 'write', ['{"b":2}']), rest]));
    expect(final.output).toMatchObject([{ name: 'read' }, { name: 'write' }]);
  });
  it('is incomplete like all calls that a limit has cut', () => {
    const deltas = [
      ...callDeltas(0, 'read', ['{"a"']),
      ...callDeltas(1, 'write', ['{"b":2}']),
      ...callDeltas(2, 'f', ['{']),
    ];
    const { final } = checkResponsesStream(streamOf(deltas, 'length'));
    expect(final.output.map(({ status }) => status)).toEqual(['incomplete', 'completed', 'incomplete']);
  });
  it('waits where a provider that speaks Responses sends its items in turns', () => {
    const on = (index: number, type: string, delta: ChunkDelta, more: object = {}) =>
      withOutputItem(delta, { index, item: { type, id: `${type}_${index}` }, ...more });
    const called = { item: { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f' } };
    const search = { item: { type: 'web_search_call', id: 'ws_2', status: 'completed' }, isOpaque: true };
    const deltas = [
      on(0, 'message', { content: 'One' }),
      on(1, 'function_call', fragment(0, '{"a"'), called),
      on(2, 'web_search_call', {}, { ...search, isDone: true }),
      on(0, 'message', { content: ' more' }),
      on(1, 'function_call', fragment(0, ':1}'), { ...called, isDone: true }),
      on(0, 'message', {}, { isDone: true }),
    ];
    const { final } = checkResponsesStream(streamOf(deltas));
    expect(final.output).toMatchObject([
      { id: 'message_0', content: [{ text: 'One more' }] },
      { id: 'fc_1', arguments: '{"a":1}' },
      { id: 'ws_2' },
    ]);
    expect(seenAfter(deltas)).toEqual([
      [1, 0],
      [0, 0],
      [0, 0],
      [0, 0],
      [0, 0],
      [2, 3],
    ]);
  });
});

describe('a stream that breaks', () => {
  const failure = {
    code: 502,
    type: 'server_error',
    message: 'Provider returned error: gone',
    metadata: { error_type: 'provider_unavailable' },
  };
  it('fails, and says of no open item that it is complete', () => {
    const encoder = newEncoder();
    const deltas = [{ reasoning: 'Hm' }, { content: 'Hel' }, ...callDeltas(0, 'f', ['{"a'])];
    const text = deltas.map((delta) => encoder.chunk(chunkOf(delta))).join('') + encoder.fail(head, failure, {});
    const { final, events } = checkResponsesStream(text);
    expect(final).toMatchObject({
      status: 'failed',
      error: { code: 'server_error', message: 'Provider returned error: gone' },
      error_type: 'provider_unavailable',
      output: [{ status: 'completed' }, { status: 'completed' }, { status: 'incomplete', arguments: '{"a' }],
    });
    expect(events.filter(({ type }) => type === 'response.output_item.done')).toHaveLength(2);
    expect(text).not.toContain('response.completed');
  });
  it('before any chunk has three events, with usage and metadata where they are known', () => {
    const { final, events } = checkResponsesStream(newEncoder().fail(head, failure, end));
    expect(events).toHaveLength(3);
    expect(final.usage).toMatchObject({ input_tokens: 12 });
  });
  it.each([
    ['rate_limit_exceeded', 'rate_limit_exceeded'],
    ['context_length_exceeded', 'context_length_exceeded'],
    ['invalid_request', 'invalid_prompt'],
    ['invalid_prompt', 'invalid_prompt'],
    ['string_too_long', 'invalid_prompt'],
    ['content_policy_violation', 'image_content_policy_violation'],
    ['unsupported_image_format', 'unsupported_image_media_type'],
    ['image_not_found', 'image_file_not_found'],
    ['image_download_failed', 'failed_to_download_image'],
    ['image_too_large', 'image_too_large'],
    ['timeout', 'server_error'],
    ['server', 'server_error'],
  ])('by %s has the code %s', (errorType, code) => {
    const error = { code: 500, message: 'No', metadata: { error_type: errorType } };
    const { final } = checkResponsesStream(newEncoder().fail(head, error, {}));
    expect(final).toMatchObject({ error: { code, message: 'No' }, error_type: errorType });
  });
  it('by a rate limit says how long to wait', () => {
    const metadata = { error_type: 'rate_limit_exceeded', retry_after_ms: 1450 };
    const fail = (message: string) =>
      checkResponsesStream(newEncoder().fail(head, { code: 429, message, metadata }, {})).final.error?.message;
    expect(fail('Slow down')).toBe('Slow down. Please try again in 1.5s.');
    expect(fail('Please try again in 20s.')).toBe('Please try again in 20s.');
  });
  it('by an error that the provider put into a choice fails as well', () => {
    const { final } = checkResponsesStream(streamOf([{ content: 'Hel' }], 'error'));
    expect(final).toMatchObject({
      status: 'failed',
      error: { code: 'server_error' },
      output: [{ status: 'incomplete' }],
    });
  });
});
