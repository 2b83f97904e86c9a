import { describe, expect, it } from 'vitest';
import { hello, joined, readStream, testGateway } from '../support/gateway.ts';
import { chunk, type Piece, recut, sse, textStream, upstreamUsage, usageChunk } from '../support/upstream.ts';

/** The stream a client gets when the upstream says this. */
async function streamOf(body: readonly Piece[], fields: object = {}, options: Parameters<typeof testGateway>[0] = {}) {
  const { post, upstream, records } = testGateway(options);
  upstream.answer({ body });
  const answer = await post({ model: 'acme/fast', messages: hello, stream: true, ...fields });
  expect([answer.status, answer.text.slice(0, 300)]).toEqual([200, expect.any(String)]);
  return { ...answer, record: records[0] };
}

const start = chunk({ role: 'assistant', content: '' });

describe('a stream', () => {
  it("has our id, slug, provider and time on every chunk, and nothing of the upstream's names", async () => {
    const { chunks, text, headers } = await streamOf(textStream('Hel', 'lo', ' there'));
    for (const one of chunks) {
      expect(one).toMatchObject({
        id: 'gen-1767225600-00000000000000000001',
        object: 'chat.completion.chunk',
        created: 1_767_225_600,
        model: 'acme/fast',
        provider: 'Up',
      });
    }
    expect(text).not.toMatch(/chatcmpl|upstream-model/);
    expect(joined(chunks)).toMatchObject({ content: 'Hello there', finish: 'stop', nativeFinish: 'stop' });
    expect(headers.get('x-generation-id')).toBe('gen-1767225600-00000000000000000001');
    expect(headers.get('content-type')).toBe('text/event-stream');
  });
  it('ends in one usage chunk with cost, then [DONE], whether the caller asked for usage or not', async () => {
    for (const fields of [
      {},
      { stream_options: { include_usage: false } },
      { stream_options: { include_usage: true } },
    ]) {
      const { chunks, record } = await streamOf(textStream('Hi'), fields);
      expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { ...upstreamUsage, cost: 0.000036, is_byok: false } });
      expect(record).toMatchObject({ outcome: 'ok', costNanoUsd: 36_000, isEstimated: false });
    }
  });
  it.each<[string, string[]]>([
    [
      'in the last chunk',
      [sse(start, chunk({ content: 'Hi' }), { ...chunk({}, 'stop'), usage: upstreamUsage }, '[DONE]')],
    ],
    [
      'on every chunk, counting up',
      [
        sse({ ...start, usage: { prompt_tokens: 10, completion_tokens: 0, total_tokens: 10 } }),
        sse({ ...chunk({ content: 'Hi' }), usage: { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11 } }),
        sse({ ...chunk({}, 'stop'), usage: upstreamUsage }, '[DONE]'),
      ],
    ],
    [
      'twice, in the last chunk and after it',
      [sse(start, chunk({ content: 'Hi' }), { ...chunk({}, 'stop'), usage: upstreamUsage }, usageChunk(), '[DONE]')],
    ],
    [
      'inside the choice',
      [
        sse(
          start,
          chunk({ content: 'Hi' }),
          { ...chunk({}), choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage: upstreamUsage }] },
          '[DONE]',
        ),
      ],
    ],
    [
      'in an object of its own',
      [
        sse(
          { ...start, x_groq: { id: 'req_1' } },
          chunk({ content: 'Hi' }),
          { ...chunk({}, 'stop'), x_groq: { id: 'req_1', usage: upstreamUsage } },
          '[DONE]',
        ),
      ],
    ],
    ['before the text', [sse(usageChunk()), sse(start, chunk({ content: 'Hi' }), chunk({}, 'stop'), '[DONE]')]],
    [
      'with null everywhere else',
      [
        sse(
          { ...start, usage: null },
          { ...chunk({ content: 'Hi' }), usage: null },
          { ...chunk({}, 'stop'), usage: null },
          usageChunk(),
          '[DONE]',
        ),
      ],
    ],
  ])('has usage exactly once when the upstream sends it %s', async (_, body) => {
    const { chunks, text } = await streamOf(body);
    expect(joined(chunks).content).toBe('Hi');
    expect(chunks.at(-1)?.usage).toMatchObject(upstreamUsage);
    expect(text).not.toMatch(/"usage":null|x_groq/);
  });
  it('estimates usage, and says so, where the upstream never sends it', async () => {
    const { chunks, record } = await streamOf([
      sse(start, chunk({ content: 'Hello there, how are you today?' }), chunk({}, 'stop'), '[DONE]'),
    ]);
    expect(chunks.at(-1)?.usage).toMatchObject({ estimated: true, cost: expect.any(Number) });
    expect(chunks.at(-1)?.usage?.completion_tokens).toBeGreaterThan(3);
    expect(record?.isEstimated).toBe(true);
  });
  it('leaves the cost out where the price is not known', async () => {
    const { chunks } = await streamOf(textStream('Hi'), { model: 'acme/free' });
    expect(chunks.at(-1)?.usage).not.toHaveProperty('cost');
  });
  it('never holds a null where a client breaks on it', async () => {
    const nulls = { system_fingerprint: null, service_tier: null, usage: null, error: null };
    const delta = {
      content: 'Hi',
      function_call: null,
      refusal: null,
      role: null,
      tool_calls: null,
      reasoning_content: null,
      audio: null,
    };
    const { chunks } = await streamOf([
      sse(
        { ...chunk(delta), ...nulls },
        { ...chunk({ content: ' you' }), ...nulls },
        { ...chunk({}, 'stop'), ...nulls },
        usageChunk(),
        '[DONE]',
      ),
    ]);
    expect(joined(chunks).content).toBe('Hi you');
    for (const one of chunks) {
      for (const key of Object.keys(nulls)) expect((one as Record<string, unknown>)[key]).not.toBe(null);
      for (const { delta: said } of one.choices) expect(Object.values(said)).not.toContain(null);
    }
  });
  it('has the tier that served', async () => {
    const { chunks } = await streamOf([
      sse(
        { ...start, service_tier: 'priority' },
        { ...chunk({ content: 'Hi' }), service_tier: 'priority' },
        chunk({}, 'stop'),
        '[DONE]',
      ),
    ]);
    expect(chunks[0]?.service_tier).toBe('priority');
  });
  it('names reasoning as we do', async () => {
    const { chunks, text } = await streamOf([
      sse(
        start,
        ...['Let ', 'me ', 'see'].map((reasoning_content) => chunk({ reasoning_content })),
        chunk({ content: 'Yes' }),
        chunk({ content: '!' }),
        chunk({}, 'stop'),
        usageChunk(),
        '[DONE]',
      ),
    ]);
    expect(joined(chunks)).toMatchObject({ reasoning: 'Let me see', content: 'Yes!' });
    expect(text).not.toContain('reasoning_content');
  });
  it('has each reasoning once where the provider writes it under both names', async () => {
    const both = (text: string) => chunk({ reasoning: text, reasoning_content: text });
    const { chunks } = await streamOf([
      sse(start, both('a'), both('b'), both('c'), chunk({ content: 'd' }), chunk({}, 'stop'), '[DONE]'),
    ]);
    expect(joined(chunks)).toMatchObject({ reasoning: 'abc', content: 'd' });
  });
  it('keeps logprobs and refusals', async () => {
    const logprobs = { content: [{ token: 'H', logprob: -0.1, bytes: [72], top_logprobs: [] }], refusal: null };
    const one = { ...chunk({}), choices: [{ index: 0, delta: { content: 'H' }, logprobs, finish_reason: null }] };
    const { chunks } = await streamOf([sse(start, one, one, chunk({ refusal: 'No' }), chunk({}, 'stop'), '[DONE]')]);
    expect(chunks.filter(({ choices }) => choices[0]?.logprobs).map(({ choices }) => choices[0]?.logprobs)).toEqual([
      logprobs,
      logprobs,
    ]);
    expect(joined(chunks)).toMatchObject({ content: 'HH', refusal: 'No' });
  });
  it('normalises finish_reason as an answer does', async () => {
    const { chunks } = await streamOf([sse(start, chunk({ content: 'Hi' }), chunk({}, 'max_tokens'), '[DONE]')]);
    expect(joined(chunks)).toMatchObject({ finish: 'length', nativeFinish: 'max_tokens' });
  });
  it('keeps interleaved choices apart', async () => {
    const of = (index: number, delta: object, finish: string | null = null) => ({
      ...chunk({}),
      choices: [{ index, delta, finish_reason: finish }],
    });
    const { chunks } = await streamOf(
      [
        sse(
          of(0, { role: 'assistant', content: 'a' }),
          of(1, { role: 'assistant', content: 'x' }),
          of(0, { content: 'b' }),
          of(1, { content: 'y' }),
          of(0, {}, 'stop'),
          of(1, { content: 'z' }),
          of(1, {}, 'length'),
          usageChunk(),
          '[DONE]',
        ),
      ],
      { n: 2 },
    );
    expect([joined(chunks, 0), joined(chunks, 1)]).toMatchObject([
      { content: 'ab', finish: 'stop' },
      { content: 'xyz', finish: 'length' },
    ]);
  });
});

describe('tool calls in a stream', () => {
  it('have index, and id, type and name where they start', async () => {
    const call = (fields: object) => chunk({ tool_calls: [fields] });
    const { chunks } = await streamOf([
      sse(
        chunk({ role: 'assistant', content: null }),
        call({ index: 0, id: 'call_a', type: 'function', function: { name: 'one', arguments: '' } }),
        call({ index: 0, function: { arguments: '{"x"' } }),
        call({ index: 0, id: null, type: null, function: { name: null, arguments: ':1}' } }),
        call({ index: 1, id: 'call_b', type: 'function', function: { name: 'two', arguments: '{}' } }),
        chunk({}, 'tool_calls'),
        usageChunk(),
        '[DONE]',
      ),
    ]);
    expect(joined(chunks).calls).toEqual([
      { id: 'call_a', name: 'one', arguments: '{"x":1}' },
      { id: 'call_b', name: 'two', arguments: '{}' },
    ]);
    expect(joined(chunks).finish).toBe('tool_calls');
  });
  it('are told apart where the provider sends no index', async () => {
    const call = (fields: object) => chunk({ tool_calls: [fields] });
    const { chunks } = await streamOf([
      sse(
        call({ id: 'call_a', function: { name: 'one', arguments: '{"x"' } }),
        call({ id: '', function: { name: '', arguments: ':1}' } }),
        call({ id: 'call_b', function: { name: 'two', arguments: { y: 2 } } }),
        chunk({}, 'stop'),
        '[DONE]',
      ),
    ]);
    expect(joined(chunks).calls).toEqual([
      { id: 'call_a', name: 'one', arguments: '{"x":1}' },
      { id: 'call_b', name: 'two', arguments: '{"y":2}' },
    ]);
    expect(joined(chunks).finish).toBe('tool_calls');
  });
});

describe('a stream that is not quite as the contract says', () => {
  it.each<[string, Piece[]]>([
    ['CRLF', [textStream('Hel', 'lo').join('').replaceAll('\n', '\r\n')]],
    ['CR', [textStream('Hel', 'lo').join('').replaceAll('\n', '\r')]],
    ['no space after the colon', [textStream('Hel', 'lo').join('').replaceAll('data: ', 'data:')]],
    [
      'comments, ids, names and retries',
      [
        ': hi\n\nretry: 5\n\n',
        ...textStream('Hel', 'lo').map((frame, i) => `id: ${i}\nevent: message\n${frame}: x\n\n`),
      ],
    ],
    ['a byte-order mark', ['\ufeff', ...textStream('Hel', 'lo')]],
    ['several data lines', [textStream('Hel', 'lo').join('').replaceAll('"choices":', '\ndata: "choices":')]],
    ['no newline at the end', [textStream('Hel', 'lo').join('').trimEnd()]],
    ['no sentinel', [textStream('Hel', 'lo').slice(0, -1).join('')]],
    ['events after the sentinel', [...textStream('Hel', 'lo'), sse(chunk({ content: 'more' }), '[DONE]')]],
    [
      'no ids, no objects, no models',
      [
        ...textStream('Hel', 'lo').map((frame) =>
          frame.replace(/"id":"[^"]*","object":"[^"]*","created":\d+,"model":"[^"]*",/, ''),
        ),
      ],
    ],
    ['no choices in some chunks', [sse({ id: 'x', prompt_filter_results: [] }), ...textStream('Hel', 'lo')]],
    ['empty lists of choices', [sse({ ...chunk({}), choices: [] }), ...textStream('Hel', 'lo')]],
    ['no index in the choices', [...textStream('Hel', 'lo').map((frame) => frame.replace('"index":0,', ''))]],
    ['blank lines before it', ['\n\n\r\n\n', ...textStream('Hel', 'lo')]],
    [
      'whole messages instead of deltas',
      [
        sse(
          {
            ...chunk({}),
            choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
          },
          usageChunk(),
          '[DONE]',
        ),
      ],
    ],
  ])('is made right: %s', async (_, body) => {
    const { chunks } = await streamOf(body);
    expect(joined(chunks)).toMatchObject({ content: 'Hello', finish: 'stop' });
  });
});

describe('pieces of the network', () => {
  const texts = ['Grüße, ', '日本', '語 👩‍👩‍👧 ', 'quote " backslash \\ ', 'line\nbreak\ttab', '\u0000\u001f', ' end'];
  const whole = textStream(...texts).join('');
  it.each([1, 2, 3, 5, 7, 64, 1000])('of %i bytes make no difference', async (size) => {
    const { chunks } = await streamOf(recut(whole, size));
    expect(joined(chunks)).toMatchObject({ content: texts.join(''), finish: 'stop' });
    expect(chunks.at(-1)?.usage).toMatchObject(upstreamUsage);
  });
  it('of 1 byte make no difference where lines end in CRLF or CR', async () => {
    for (const ending of ['\r\n', '\r']) {
      const { chunks } = await streamOf(recut(whole.replaceAll('\n', ending), 1));
      expect(joined(chunks)).toMatchObject({ content: texts.join(''), finish: 'stop' });
    }
  });
  it('cut anywhere make no difference', async () => {
    const { send, upstream } = testGateway();
    const bytes = new TextEncoder().encode(textStream('ü"\\', '日').join(''));
    for (let cut = 1; cut < bytes.length; cut++) {
      upstream.answer({ body: [bytes.subarray(0, cut), bytes.subarray(cut)] });
      const { chunks } = await readStream(await send({ model: 'acme/fast', messages: hello, stream: true }));
      expect([cut, joined(chunks).content]).toEqual([cut, 'ü"\\日']);
    }
  }, 60_000);
});
