import { describe, expect, it } from 'vitest';
import { openaiChat } from '../../../../src/dialects/openai-chat/index.ts';
import type { ChatQuirks } from '../../../../src/dialects/openai-chat/quirks.ts';
import type { ChatRequest } from '../../../../src/schema/chat/chat.ts';
import { type DialectRequestName, dialectRequests } from '../../../support/dialect-requests.ts';
import { golden } from './golden.ts';

const names = Object.keys(dialectRequests) as DialectRequestName[];

function encoded(request: ChatRequest, quirks: ChatQuirks = {}) {
  return openaiChat.encodeRequest({ request, upstreamModel: 'up-model', quirks });
}

describe('the body for a provider without quirks', () => {
  it.each(names)('is the golden one: %s', (name) => {
    const request = dialectRequests[name] as ChatRequest;
    const before = structuredClone(request);
    const sent = encoded(request);
    const { body, dropped = [], structuredOutput } = golden[name];
    expect(sent.payload).toEqual({ model: 'up-model', ...body });
    expect(JSON.parse(sent.body)).toEqual(sent.payload);
    expect([sent.path, sent.headers]).toEqual([
      '/chat/completions',
      {
        'content-type': 'application/json',
        accept: request.stream === true ? 'text/event-stream' : 'application/json',
      },
    ]);
    expect(sent.dropped).toEqual(dropped);
    expect(sent.structuredOutput).toBe(structuredOutput);
    expect(sent.reading).toBeUndefined();
    expect(sent.choices).toBe(body.n ?? 1);
    expect(request).toEqual(before);
  });
  it('has the messages themselves where none has to change', () => {
    const { messages } = dialectRequests['results of parallel tool calls'];
    expect(encoded({ messages } as ChatRequest).payload.messages).toBe(messages);
  });
});

describe('the body for a provider with quirks', () => {
  const { messages: marked, tools: markedTools } = dialectRequests['marks of what to cache'];
  const { messages: signed } = dialectRequests['reasoning that comes back'];
  const [ask, thought, answer] = signed as [unknown, Record<string, unknown>, unknown];
  const details = thought.reasoning_details;

  it.each<[string, DialectRequestName, ChatQuirks, object, string[]]>([
    ['a developer', 'a developer message', { developerRole: true }, dialectRequests['a developer message'], []],
    [
      'marks of what to cache',
      'marks of what to cache',
      { cacheControl: ['messages', 'tools'] },
      { messages: marked, tools: markedTools },
      [],
    ],
    [
      'marks in messages alone',
      'marks of what to cache',
      { cacheControl: ['messages'] },
      { messages: marked, tools: golden['marks of what to cache'].body.tools },
      ['tools[].cache_control'],
    ],
    [
      'a mark on the request',
      'a mark on the request',
      { cacheControl: ['request'] },
      dialectRequests['a mark on the request'],
      [],
    ],
    [
      'reasoning details of any format',
      'reasoning that comes back',
      { reasoningField: 'reasoning_details' },
      { messages: [ask, { ...golden['the result of a tool'].body.messages[1], reasoning_details: details }, answer] },
      [],
    ],
    [
      'the text alone of details of another format',
      'reasoning that comes back',
      { reasoningField: 'reasoning_details', reasoningFormat: 'MiniMax-response-v1' },
      {
        messages: [
          ask,
          {
            ...golden['the result of a tool'].body.messages[1],
            reasoning_details: [{ type: 'reasoning.text', text: 'The user wants the weather.', index: 0 }],
          },
          answer,
        ],
      },
      ['messages[].reasoning_details'],
    ],
    [
      'a schema as an instruction behind those of the caller',
      'JSON of a schema',
      { jsonSchema: false },
      {
        messages: [
          { role: 'system', content: expect.stringMatching(/JSON.*A person\..*"required":\["name","age"\]/s) },
          ask,
        ],
        response_format: { type: 'json_object' },
      },
      [],
    ],
    [
      'no parameter that means nothing without one that is refused',
      'probabilities of tokens',
      { dropParams: ['logprobs'] },
      { messages: [ask] },
      ['logprobs', 'top_logprobs'],
    ],
    [
      'no tools, and no choice among them',
      'a tool that must be called',
      { dropParams: ['tools'] },
      { messages: [ask] },
      ['tools', 'tool_choice'],
    ],
  ])('has %s', (_, name, quirks, body, dropped) => {
    const sent = encoded(dialectRequests[name] as ChatRequest, quirks);
    expect(sent.payload).toMatchObject({ model: 'up-model', ...body });
    expect(sent.dropped).toEqual(dropped);
    for (const path of dropped) if (!path.includes('[')) expect(sent.payload).not.toHaveProperty(path);
  });
  it('says that a schema was asked for by an instruction', () => {
    const request = { ...dialectRequests['JSON of a schema'], messages: dialectRequests['a system message'].messages };
    const sent = encoded(request as ChatRequest, { jsonSchema: false });
    expect(sent.structuredOutput).toBe('instruction');
    expect((sent.payload.messages as { role: string }[]).map(({ role }) => role)).toEqual(['system', 'user']);
    expect(encoded(dialectRequests['JSON of any shape'] as ChatRequest, { jsonSchema: false }).structuredOutput).toBe(
      'native',
    );
  });
});
