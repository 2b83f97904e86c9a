import { describe, expect, it } from 'vitest';
import { chunk, completion, sse, usageChunk } from '../support/upstream.ts';
import { asked, chatStream, fragment, served, streamed, tool } from './upstreams.ts';

const read = { id: 'call_1', type: 'function', function: { name: 'read', arguments: '' } };
const tools = { tools: [tool('read')] };

describe('a chat server whose stream', () => {
  it('ends a call with a fragment whose arguments are null', async () => {
    const events = [
      fragment(read),
      fragment({ function: { arguments: '{"path":"a"}' } }),
      fragment({ function: { arguments: null } }),
      chunk({}, 'tool_calls'),
      usageChunk(),
    ];
    const { calls, deltas } = await streamed(served('openai-chat'), chatStream(...events), tools);
    expect(calls).toEqual([{ id: 'call_1', name: 'read', arguments: '{"path":"a"}' }]);
    expect(JSON.stringify(deltas)).not.toContain('"arguments":null');
  });
  it('names the call again, empty, in each fragment', async () => {
    const events = [
      fragment(read),
      fragment({ type: 'function', function: { name: '', arguments: '{"path":' } }),
      fragment({ type: 'function', function: { name: '', arguments: '"a"}' } }),
      chunk({}, 'tool_calls'),
    ];
    const { calls } = await streamed(served('openai-chat'), chatStream(...events), tools);
    expect(calls).toEqual([{ id: 'call_1', name: 'read', arguments: '{"path":"a"}' }]);
  });
  it('has another id in each chunk', async () => {
    const events = [
      chunk({ content: 'a' }, null, { id: 'one' }),
      chunk({ content: 'b' }, null, { id: 'two' }),
      chunk({}, 'stop', { id: 'three' }),
    ];
    const { chunks } = await streamed(served('openai-chat'), chatStream(...events));
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  });
  it('reports its usage in a chunk without choices', async () => {
    const { choices: _, ...bare } = usageChunk() as { choices: unknown };
    const { chunks } = await streamed(
      served('openai-chat'),
      chatStream(chunk({ content: 'Hi' }), chunk({}, 'stop'), bare),
    );
    expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 10, completion_tokens: 2 });
    expect(chunks.every(({ choices }) => Array.isArray(choices))).toBe(true);
  });
  it('has chunks whose choices are null', async () => {
    const events = [
      chunk({}, null, { choices: null }),
      chunk({ content: 'Hi' }),
      chunk({}, 'stop'),
      chunk({}, null, { choices: null, usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 } }),
    ];
    const { content, chunks } = await streamed(served('openai-chat'), chatStream(...events));
    expect(content).toBe('Hi');
    expect(chunks.every(({ choices }) => Array.isArray(choices))).toBe(true);
  });
  it('begins with a chunk of no choices, for its content filter', async () => {
    const events = [
      chunk({}, null, { choices: [], prompt_filter_results: [] }),
      chunk({ content: 'Hi' }),
      chunk({}, 'stop'),
    ];
    expect((await streamed(served('openai-chat'), chatStream(...events))).content).toBe('Hi');
  });
  it('has a choice without a delta', async () => {
    const end = chunk({}, 'stop', { choices: [{ index: 0, finish_reason: 'stop' }] });
    const { content, status, deltas } = await streamed(
      served('openai-chat'),
      chatStream(chunk({ content: 'Hi' }), end),
    );
    expect([status, content, deltas.at(-1)?.finish_reason]).toEqual([200, 'Hi', 'stop']);
  });
  it('calls a tool and finishes with stop', async () => {
    const events = [fragment({ ...read, function: { name: 'read', arguments: '{"path":"a"}' } }), chunk({}, 'stop')];
    const { deltas } = await streamed(served('openai-chat'), chatStream(...events), tools);
    expect(deltas.at(-1)?.finish_reason).toBe('tool_calls');
  });
  it('finishes with stop where its word is tool_calls, and there is no call', async () => {
    const { deltas } = await streamed(
      served('openai-chat'),
      chatStream(chunk({ content: 'Hi' }), chunk({}, 'tool_calls')),
      tools,
    );
    expect(deltas.at(-1)?.finish_reason).toBe('stop');
  });
  it('calls a tool with empty arguments', async () => {
    const { calls } = await streamed(served('openai-chat'), chatStream(fragment(read), chunk({}, 'tool_calls')), tools);
    expect(calls).toEqual([{ id: 'call_1', name: 'read', arguments: '{}' }]);
  });
  it('ends without a finish_reason', async () => {
    const { chunks } = await streamed(served('openai-chat'), chatStream(chunk({ content: 'Half of it' }, null)));
    expect(JSON.stringify(chunks.at(-1))).toContain('error');
    expect(chunks.some(({ choices }) => choices.some(({ finish_reason: reason }) => reason === 'stop'))).toBe(false);
  });
  it.each(['reasoning', 'reasoning_content'])('tells its thoughts as %s', async (field) => {
    const { reasoning } = await streamed(
      served('openai-chat'),
      chatStream(chunk({ [field]: 'Hm.' }), chunk({ content: 'Hi' }), chunk({}, 'stop')),
    );
    expect(reasoning).toBe('Hm.');
  });
  it('says an error in a frame of a stream that began with 200', async () => {
    const gateway = served('openai-chat');
    gateway.upstream.always({
      body: [sse({ error: { message: 'Upstream is overloaded', type: 'overloaded_error', code: 529 } }), sse('[DONE]')],
    });
    const answer = await asked(gateway, { stream: true });
    expect([answer.status, JSON.stringify(answer.json)]).toEqual([529, expect.stringContaining('overloaded')]);
  });
  it('is a page of HTML with status 200', async () => {
    const gateway = served('openai-chat');
    gateway.upstream.always({
      body: '<!doctype html><html lang="en"></html>',
      headers: { 'content-type': 'text/html' },
    });
    expect((await asked(gateway, { stream: true })).status).toBe(502);
    expect((await asked(gateway)).status).toBe(502);
  });
});

describe('a chat server whose JSON', () => {
  it('calls a tool and finishes with stop, in one response', async () => {
    const gateway = served('openai-chat');
    gateway.upstream.answer({
      body: completion({}, { content: null, tool_calls: [{ ...read, function: { name: 'read', arguments: '{}' } }] }),
    });
    expect((await asked(gateway, tools)).json.choices[0]?.finish_reason).toBe('tool_calls');
  });
  it.each<[string, object | string, RegExp]>([
    ['detail', { detail: 'The token has expired upstream' }, /token has expired upstream/],
    [
      'a list in detail',
      { detail: [{ loc: ['body', 'messages'], msg: 'field required', type: 'missing' }] },
      /field required/,
    ],
    ['message alone', { message: 'The prompt is too long upstream' }, /prompt is too long upstream/],
    ['error as a text', { error: 'model not loaded' }, /model not loaded/],
    [
      'a list of one error',
      [{ error: { code: 400, message: 'Please use a valid role', status: 'INVALID_ARGUMENT' } }],
      /valid role/,
    ],
    ['plain text', 'Bad things happened', /Bad things happened/],
  ])('says an error as %s', async (_, body, message) => {
    const gateway = served('openai-chat');
    gateway.upstream.always({ status: 400, body: Array.isArray(body) ? JSON.stringify(body) : body });
    const { status, json } = await asked(gateway);
    expect([status, json.error.message]).toEqual([400, expect.stringMatching(message)]);
  });
  it('says an error without a content type', async () => {
    const gateway = served('openai-chat');
    gateway.upstream.always({
      status: 404,
      body: { error: { message: 'no such model' } },
      headers: { 'content-type': '' },
    });
    expect((await asked(gateway)).json.error.message).toMatch(/no such model/);
  });
});
