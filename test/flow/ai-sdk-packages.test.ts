import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { describe, expect, it } from 'vitest';
import { aiSdkGateway, ask } from '../support/ai-sdk-models.ts';
import { checkChunks } from '../support/check-chunks.ts';
import { readSaidStream } from '../support/recordings.ts';

type Json = Record<string, unknown>;

interface Sent {
  url: string;
  body: Json & { messages?: Json[]; contents?: Json[] };
}

/** Answers each request with the next of these, over a `fetch` without a network. */
function fakeFetch(...answers: { status?: number; headers?: Record<string, string>; body: unknown }[]) {
  const sent: Sent[] = [];
  const fetch = (async (url: unknown, init?: { body?: unknown }) => {
    sent.push({ url: String(url), body: JSON.parse(String(init?.body)) });
    const { status = 200, headers = {}, body } = answers[sent.length - 1] ?? { body: {} };
    const isStream = typeof body === 'string';
    const type = isStream ? 'text/event-stream' : 'application/json';
    return new Response(isStream ? body : JSON.stringify(body), {
      status,
      headers: { 'content-type': type, ...headers },
    });
  }) as typeof globalThis.fetch;
  return { fetch, sent };
}

const events = (...all: (Json & { type?: string })[]) =>
  all.map((one) => `${one.type ? `event: ${one.type}\n` : ''}data: ${JSON.stringify(one)}\n\n`).join('');

const weather = {
  type: 'function',
  function: { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
};
const question = { role: 'user', content: 'Rome?' };
const answered = (id: string | undefined) => ({ role: 'tool', tool_call_id: id, content: '24 degrees' });

const quirks = { cacheControl: 'anthropic' };
const claude = (fetch: typeof globalThis.fetch) =>
  aiSdkGateway({ models: createAnthropic({ apiKey: 'key-of-the-package', fetch }), quirks });
const gemini = (fetch: typeof globalThis.fetch) =>
  aiSdkGateway({ models: createGoogle({ apiKey: 'key-of-the-package', fetch }) });

/** What a client keeps of a stream: the message, with the details as they came. */
function messageIn(stream: string): Json & { tool_calls: { id: string }[] } {
  checkChunks(stream, 'acme/m');
  const { content, reasoning, calls } = readSaidStream(stream).choices[0] as NonNullable<
    ReturnType<typeof readSaidStream>['choices'][0]
  >;
  const details: unknown[] = [];
  for (const [, payload = ''] of stream.matchAll(/^data: (\{.*)$/gm))
    details.push(...(JSON.parse(payload).choices[0]?.delta.reasoning_details ?? []));
  return {
    role: 'assistant',
    content,
    reasoning,
    reasoning_details: details,
    tool_calls: calls.map(({ id, ...called }) => ({ id, type: 'function', function: called })),
  };
}

describe('@ai-sdk/anthropic', () => {
  const blocks = [
    { type: 'thinking', thinking: 'I look.', signature: 'c2ln' },
    { type: 'redacted_thinking', data: 'cmVk' },
    { type: 'text', text: 'One moment.' },
    { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Rome' } },
  ];
  const usage = { input_tokens: 3, cache_read_input_tokens: 20, cache_creation_input_tokens: 7, output_tokens: 9 };
  const message = {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'm-1',
    content: blocks,
    stop_reason: 'tool_use',
    stop_sequence: null,
    usage,
  };
  const stream = events(
    { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
    { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'I ' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'look.' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'c2ln' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', index: 1, content_block: blocks[1] as Json },
    { type: 'content_block_stop', index: 1 },
    { type: 'content_block_start', index: 2, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 2, delta: { type: 'text_delta', text: 'One moment.' } },
    { type: 'content_block_stop', index: 2 },
    { type: 'content_block_start', index: 3, content_block: { ...blocks[3], input: {} } },
    { type: 'content_block_delta', index: 3, delta: { type: 'input_json_delta', partial_json: '{"city":' } },
    { type: 'content_block_delta', index: 3, delta: { type: 'input_json_delta', partial_json: '"Rome"}' } },
    { type: 'content_block_stop', index: 3 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use', stop_sequence: null }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  );

  it.each([false, true])('gives all it has, and gets its own blocks back (stream: %s)', async (isStream) => {
    const { fetch, sent } = fakeFetch({ body: isStream ? stream : message }, { body: message });
    const gateway = claude(fetch);
    const request = { messages: [question], tools: [weather], max_tokens: 2000, stream: isStream };
    const text = await (await ask(gateway, request)).text();
    const said = isStream ? messageIn(text) : JSON.parse(text).choices[0].message;
    expect(said).toMatchObject({
      content: 'One moment.',
      reasoning: 'I look.',
      tool_calls: [{ id: 'toolu_1', function: { name: 'get_weather', arguments: '{"city":"Rome"}' } }],
    });
    expect(text).toContain('"native_finish_reason":"tool_use"');
    expect(text).toContain('"finish_reason":"tool_calls"');
    expect(text).toMatch(/"prompt_tokens":30,"completion_tokens":9/);
    expect(text).toMatch(/"cached_tokens":20,"cache_write_tokens":7/);
    await ask(gateway, {
      messages: [question, said, answered(said.tool_calls[0].id)],
      tools: [weather],
      max_tokens: 9,
    });
    expect(sent[1]?.body.messages?.[1]).toEqual({ role: 'assistant', content: blocks });
    expect(sent[1]?.body.messages?.[2]).toMatchObject({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'toolu_1' }],
    });
  });
  it('gets settings, marks of what to cache and forced tools', async () => {
    const { fetch, sent } = fakeFetch({ body: message });
    const system = [{ type: 'text', text: 'Long.', cache_control: { type: 'ephemeral', ttl: '1h' } }];
    const image_url = { url: 'data:image/png;base64,AQID' };
    await ask(claude(fetch), {
      messages: [
        { role: 'system', content: system },
        { role: 'user', content: [{ type: 'image_url', image_url }] },
      ],
      tools: [weather],
      tool_choice: { type: 'function', function: { name: 'get_weather' } },
      temperature: 0.5,
      stop: 'END',
      max_tokens: 7,
    });
    expect(sent[0]?.url).toBe('https://api.anthropic.com/v1/messages');
    expect(sent[0]?.body).toMatchObject({
      model: 'm-1',
      max_tokens: 7,
      temperature: 0.5,
      stop_sequences: ['END'],
      tool_choice: { type: 'tool', name: 'get_weather' },
      system: [{ type: 'text', text: 'Long.', cache_control: { type: 'ephemeral', ttl: '1h' } }],
      messages: [
        {
          role: 'user',
          content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AQID' } }],
        },
      ],
    });
  });
  it('has the errors of Anthropic, also in the middle of a stream', async () => {
    const error = { type: 'rate_limit_error', message: 'Slow down, sk-ant-api03-abcdefghijklmnop.' };
    const { fetch } = fakeFetch({ status: 429, headers: { 'retry-after': '7' }, body: { type: 'error', error } });
    const refused = await ask(claude(fetch), {});
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '7']);
    const { error: told } = (await refused.json()) as { error: { message: string; metadata: Json } };
    expect(told.message).toContain('Slow down, [redacted].');
    expect(told.metadata.provider_code).toBe('rate_limit_error');

    const begun = stream.slice(0, stream.indexOf('event: content_block_stop'));
    const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    for (const [rest, said] of [
      [events(overloaded), 'Overloaded'],
      ['', ''],
    ] as const) {
      const cut = fakeFetch({ body: begun + rest });
      const answer = readSaidStream(await (await ask(claude(cut.fetch), { stream: true })).text());
      expect(answer.error).toContain(said);
      expect(answer.choices[0]).toMatchObject({ reasoning: 'I look.', finish: 'error' });
    }
  });
});

describe('@ai-sdk/google', () => {
  const parts = [
    { text: 'I look.', thought: true },
    { functionCall: { name: 'get_weather', args: { city: 'Rome' } }, thoughtSignature: 'dHM=' },
  ];
  const answer = {
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
    usageMetadata: {
      promptTokenCount: 9,
      cachedContentTokenCount: 4,
      candidatesTokenCount: 5,
      thoughtsTokenCount: 3,
      totalTokenCount: 17,
    },
  };

  it.each([false, true])('gives all it has, and gets its signatures back (stream: %s)', async (isStream) => {
    const { fetch, sent } = fakeFetch({ body: isStream ? events(answer as Json) : answer }, { body: answer });
    const gateway = gemini(fetch);
    const text = await (await ask(gateway, { messages: [question], tools: [weather], stream: isStream })).text();
    const said = isStream ? messageIn(text) : JSON.parse(text).choices[0].message;
    expect(said).toMatchObject({ reasoning: 'I look.', tool_calls: [{ function: { arguments: '{"city":"Rome"}' } }] });
    expect(text).toContain('"finish_reason":"tool_calls"');
    expect(text).toMatch(/"prompt_tokens":9,"completion_tokens":8/);
    expect(text).toMatch(/"cached_tokens":4.*"reasoning_tokens":3/);
    await ask(gateway, { messages: [question, said, answered(said.tool_calls[0].id)], tools: [weather] });
    const returned = sent[1]?.body.contents?.[1] as { parts: Json[] };
    expect(returned.parts.find((part) => part.functionCall)).toMatchObject(parts[1] as Json);
    expect(returned.parts.find((part) => part.thought)).toMatchObject(parts[0] as Json);
  });
  it('gets a schema, an effort and a file', async () => {
    const { fetch, sent } = fakeFetch({ body: answer });
    const schema = { type: 'object', properties: { a: { type: 'string' } } };
    const file = { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AQID' };
    await ask(gemini(fetch), {
      messages: [{ role: 'user', content: [{ type: 'file', file }] }],
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema } },
      max_tokens: 50,
    });
    expect(sent[0]?.body).toMatchObject({
      contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'application/pdf', data: 'AQID' } }] }],
      generationConfig: { maxOutputTokens: 50, responseMimeType: 'application/json' },
    });
  });
});
