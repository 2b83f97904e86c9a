import OpenAI from 'openai';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { openaiChat } from '../../src/entries/dialects.ts';
import {
  type SandboxAnswer,
  type SandboxScript,
  type ScriptEntry,
  ScriptError,
  sandboxScript,
} from '../../src/entries/testing.ts';
import { createGateway, defineProvider, type GatewayOptions, OptionsError } from '../../src/index.ts';
import { manualClock } from '../support/manual-clock.ts';
import { eventsOf } from '../support/sandbox-call.ts';

const key = 'sandbox-test-key';

function scripted(script: SandboxScript | readonly ScriptEntry[], options: Partial<GatewayOptions> = {}) {
  const clock = manualClock();
  const gateway = createGateway({
    sandbox: { script },
    apiKeys: [{ key }],
    clock,
    random: () => 0.5,
    // A script never needs the network.
    fetch: () => Promise.reject(new Error('the network')),
    ...options,
  });
  const ask = async (body: object = {}) => {
    const request = new Request('http://gateway.test/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hello there' }], ...body }),
    });
    const response = await clock.until(gateway.fetch(request));
    const text = await clock.until(response.text());
    return { status: response.status, headers: response.headers, text };
  };
  const askJson = async (body: object = {}) => {
    const { status, text } = await ask(body);
    return { status, body: JSON.parse(text) };
  };
  const content = async (body: object = {}) => (await askJson(body)).body.choices?.[0]?.message.content;
  const chunks = async (body: object = {}) =>
    eventsOf((await ask({ stream: true, ...body })).text)
      .filter((data) => data.startsWith('{'))
      .map((data) => JSON.parse(data));
  return { clock, gateway, ask, askJson, content, chunks };
}

// The first request loads what is loaded late, by real I/O, which the clock of the tests would not wait for.
beforeAll(async () => {
  const gateway = createGateway({ sandbox: { script: ['Hello'] }, apiKeys: [{ key }] });
  const body = JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content: 'Hi' }] });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  await gateway.fetch('http://gateway.test/v1/chat/completions', { method: 'POST', headers, body });
  await gateway.close();
});

/** What the issues of a bad script are, by path. */
function mistakes(entries: unknown): string[] {
  try {
    sandboxScript(entries as ScriptEntry[]);
  } catch (error) {
    expect(error).toBeInstanceOf(ScriptError);
    return (error as ScriptError).issues.map(({ path, message }) => `${path}: ${message}`);
  }
  return [];
}

describe('a script answers', () => {
  it('in its order, with the text alone or in its long form, and sets up the sandbox by itself', async () => {
    const { content } = scripted(['One', { text: 'Two', times: 2 }, { json: { three: true } }]);
    expect([await content(), await content(), await content(), await content()]).toEqual([
      'One',
      'Two',
      'Two',
      '{"three":true}',
    ]);
  });
  it('with tool calls, several at once, as JSON and as a stream', async () => {
    const answer: ScriptEntry = {
      reasoning: 'Both cities.',
      toolCalls: [
        { name: 'weather', arguments: { city: 'Oslo' } },
        { name: 'weather', arguments: '{"city": "Ber', id: 'call_b' },
      ],
    };
    const { askJson, chunks } = scripted([answer, answer]);
    const tools = [{ type: 'function', function: { name: 'weather' } }];
    const { choices } = (await askJson({ tools })).body;
    expect(choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        reasoning: 'Both cities.',
        tool_calls: [
          { id: 'call_script_1_0_0', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
          { id: 'call_b', function: { name: 'weather', arguments: '{"city": "Ber' } },
        ],
      },
    });
    const calls: { id?: string; text: string }[] = [];
    for (const chunk of await chunks({ tools })) {
      for (const { index, id, function: called } of chunk.choices[0]?.delta.tool_calls ?? []) {
        calls[index] ??= { text: '' };
        if (id) calls[index].id = id;
        calls[index].text += called.arguments ?? '';
      }
    }
    expect(calls).toEqual([
      { id: 'call_script_2_0_0', text: '{"city":"Oslo"}' },
      { id: 'call_b', text: '{"city": "Ber' },
    ]);
  });
  it('with a text that no limit of the request cuts, and the reason, refusal and usage that it names', async () => {
    const long = 'One two three four five.';
    const { askJson } = scripted([
      { text: long, finishReason: 'length', usage: { promptTokens: 1_000, completionTokens: 500, cachedTokens: 400 } },
      { refusal: 'No.' },
      { text: long, usage: false },
    ]);
    const first = (await askJson({ max_tokens: 2, stop: ['two'] })).body;
    expect(first.choices[0]).toMatchObject({ finish_reason: 'length', message: { content: long } });
    expect(first.usage).toMatchObject({
      prompt_tokens: 1_000,
      completion_tokens: 500,
      prompt_tokens_details: { cached_tokens: 400 },
    });
    // 600 at $0.10, 400 of the cache at half of it, 500 at $0.40, per million.
    expect(first.usage.cost).toBeCloseTo(0.00028, 10);
    expect((await askJson()).body.choices[0].message).toMatchObject({ content: null, refusal: 'No.' });
    expect((await askJson()).body.usage.estimated).toBe(true);
  });
  it('at once, or after the time that it names, by the clock that was passed in', async () => {
    const { clock, ask, chunks } = scripted(['Now', { text: 'a b c', firstTokenMs: 3_000, tokenMs: 500 }, 'x']);
    const startMs = clock.now();
    await ask();
    expect(clock.now() - startMs).toBe(0);
    await chunks();
    expect(clock.now() - startMs).toBe(4_000);
  });
  it('the openai client, in process, as JSON and as a stream', async () => {
    const { gateway, clock } = scripted(['Hello', 'Hello again']);
    const client = new OpenAI({ apiKey: key, baseURL: 'http://in-process/v1', fetch: gateway.fetch });
    const messages = [{ role: 'user' as const, content: 'Hi' }];
    const complete = await clock.until(client.chat.completions.create({ model: 'sandbox/echo', messages }));
    expect(complete.choices[0]?.message.content).toBe('Hello');
    let text = '';
    const stream = await client.chat.completions.create({ model: 'sandbox/echo', messages, stream: true });
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    expect(text).toBe('Hello again');
  });
  it('every choice that a request asks for', async () => {
    const { askJson } = scripted(['Hello']);
    const { choices } = (await askJson({ n: 2 })).body;
    expect(choices.map(({ message }: { message: { content: string } }) => message.content)).toEqual(['Hello', 'Hello']);
  });
});

describe('a script fails', () => {
  it('at the first attempt and succeeds at the second, which the client does not notice', async () => {
    const script = sandboxScript([{ error: { status: 503 } }, 'Here I am']);
    const { content } = scripted(script);
    expect(await content()).toBe('Here I am');
    expect(script.requests.map(({ number }) => number)).toEqual([1, 2]);
    script.assertDone();
  });
  it('with the status, message and Retry-After that it names', async () => {
    const error = { status: 429, message: 'Slow down, please', retryAfter: 90 };
    const { ask } = scripted([{ error }], { retry: { maxAttempts: 1 } });
    const { status, headers, text } = await ask();
    expect([status, headers.get('retry-after')]).toEqual([429, '90']);
    expect(text).toContain('Slow down, please');
  });
  it('after the time that it names', async () => {
    const { ask, clock } = scripted([{ error: { status: 400, message: 'No' }, firstTokenMs: 700 }]);
    const startMs = clock.now();
    expect((await ask()).status).toBe(400);
    expect(clock.now() - startMs).toBe(700);
  });
  it.each<[string, NonNullable<SandboxAnswer['fault']>, number, boolean]>([
    ['cut', { kind: 'cut', afterTokens: 2 }, 502, true],
    ['error', { kind: 'error', afterTokens: 2, message: 'The GPU is on fire', status: 500 }, 502, true],
    ['reset', { kind: 'reset', afterTokens: 2 }, 502, true],
    ['silence', { kind: 'silence', afterTokens: 2 }, 524, true],
    ['unreachable', { kind: 'unreachable' }, 502, false],
    ['timeout', { kind: 'timeout' }, 524, false],
  ])('with a fault of the kind %s', async (kind, fault, status, hasText) => {
    const entry = { fault, ...(hasText ? { text: 'One two three four' } : {}), times: 'always' as const };
    const { askJson, ask, chunks } = scripted([entry], { retry: { maxAttempts: 1 }, keepAlive: { firstMs: 500_000 } });
    expect((await askJson()).status).toBe(status);
    if (!hasText) return expect((await ask({ stream: true })).status).toBe(status);
    const all = await chunks();
    expect(all.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe('One two');
    const failed = all.filter(({ error }) => error !== undefined);
    expect(failed).toHaveLength(1);
    if (kind === 'error') expect(failed[0].error.message).toContain('The GPU is on fire');
  });
  it('before the first token where 0 tokens come first, so that the next endpoint serves', async () => {
    const script = sandboxScript([
      { when: { model: 'first' }, text: 'lost', fault: { kind: 'error', afterTokens: 0 }, times: 'always' },
      { when: { model: 'second' }, text: 'served' },
    ]);
    const endpoints = ['first', 'second'].map((model) => ({ provider: 'sandbox', model }));
    const { chunks } = scripted(script, { models: [{ slug: 'app/chat', endpoints }] });
    const text = (await chunks({ model: 'app/chat' })).map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
    expect(text).toBe('served');
  });
});

describe('a script chooses', () => {
  it('by model, by the last message of the user, by stream and by a function', async () => {
    const script = sandboxScript([
      { when: { model: 'sandbox/lorem' }, text: 'lorem', times: 'always' },
      { when: { lastUserMessage: /^weather in (?<city>\w+)/gi }, text: 'rain', times: 'always' },
      { when: { lastUserMessage: 'bill', stream: false }, text: 'paid', times: 'always' },
      { when: ({ tools }) => tools.includes('search'), text: 'searched', times: 'always' },
      { text: 'else', times: 'always' },
    ]);
    const { content } = scripted(script);
    const says = (text: string) => ({ messages: [{ role: 'user', content: text }] });
    expect(await content({ model: 'sandbox/lorem' })).toBe('lorem');
    // Twice: a regular expression with the flag g remembers where it was.
    expect([await content(says('Weather in Oslo')), await content(says('Weather in Oslo'))]).toEqual(['rain', 'rain']);
    expect(await content(says('my bill'))).toBe('paid');
    const tools = [{ type: 'function', function: { name: 'search' } }];
    expect([await content({ tools }), await content()]).toEqual(['searched', 'else']);
    expect(script.remaining).toBe(0);
    script.assertDone();
  });
  it('the first answer that matches and is not used up', async () => {
    const { content } = scripted([{ when: { model: 'echo' }, text: 'once' }, 'then']);
    expect([await content(), await content()]).toEqual(['once', 'then']);
  });
  it('an answer that a function makes of the request', async () => {
    const { content, askJson } = scripted([
      ({ lastUserMessage, number }) => `${number}: ${lastUserMessage.toUpperCase()}`,
      { respond: async () => ({ json: [1] }) },
      () => {
        throw new Error('a bug of the test');
      },
      (() => ({ txt: 'x' })) as unknown as ScriptEntry,
    ]);
    expect(await content()).toBe('1: HELLO THERE');
    expect(await content()).toBe('[1]');
    const messages = [(await askJson()).body.error.message, (await askJson()).body.error.message];
    expect(messages).toEqual([
      expect.stringContaining('[2].respond threw: a bug of the test'),
      expect.stringMatching(/\[3\]\.respond returned no answer: txt: unknown key/),
    ]);
  });
  it('nothing where a condition throws, which is told', async () => {
    const { askJson } = scripted([
      {
        when: () => {
          throw new Error('a bug of the test');
        },
        text: 'never',
      },
    ]);
    const { status, body } = await askJson();
    expect([status, body.error.message]).toEqual([400, expect.stringContaining('a bug of the test')]);
  });
});

describe('a script that is used up', () => {
  it('is an error that names it, at the first attempt, without another endpoint or the network', async () => {
    const script = sandboxScript(['Only one'], { name: 'checkout' });
    const endpoints = ['first', 'second'].map((model) => ({ provider: 'sandbox', model }));
    const { content, askJson } = scripted(script, { models: [{ slug: 'app/chat', endpoints }] });
    expect(await content({ model: 'app/chat' })).toBe('Only one');
    const { status, body } = await askJson({ model: 'app/chat' });
    expect([status, body.error.message]).toEqual([
      400,
      expect.stringContaining(
        'The sandbox script "checkout" is used up: it has no answer for request 2 (sandbox/first, JSON)',
      ),
    ]);
    expect(script.requests).toHaveLength(2);
    expect(script.unanswered).toEqual([script.requests[1]]);
    expect(() => script.assertDone()).toThrow(/"checkout" is not done: 1 request got no answer/);
  });
  it('begins again with repeat, with the answers that match', async () => {
    const script = sandboxScript(['a', { when: { model: 'lorem' }, text: 'l' }, 'b'], { repeat: true });
    const { content } = scripted(script);
    expect([await content(), await content(), await content(), await content()]).toEqual(['a', 'b', 'a', 'b']);
    expect(await content({ model: 'sandbox/lorem' })).toBe('l');
  });
  it('differs from one of which no answer matches', async () => {
    const { askJson } = scripted([{ when: { model: 'lorem' }, text: 'l' }]);
    expect((await askJson()).body.error.message).toMatch(/no answer that matches request 1 .*Answers left: 1/);
  });
});

describe('a script tells', () => {
  it('what was asked, and nothing of keys', async () => {
    const script = sandboxScript(['One', 'Two']);
    const { ask, clock } = scripted(script);
    const tools = [{ type: 'function', function: { name: 'search', parameters: { type: 'object' } } }];
    await ask({
      tools,
      temperature: 0.2,
      messages: [
        { role: 'system', content: 'Be brief' },
        { role: 'user', content: 'Hi' },
      ],
    });
    await ask({ stream: true });
    expect(script.requests).toMatchObject([
      {
        number: 1,
        provider: 'sandbox',
        model: 'echo',
        lastUserMessage: 'Hi',
        messages: [{ role: 'system', content: 'Be brief' }, { role: 'user' }],
        stream: false,
        tools: ['search'],
        body: { temperature: 0.2, tools },
        atMs: clock.now(),
      },
      { number: 2, stream: true },
    ]);
    expect(JSON.stringify(script.requests)).not.toContain(key);
  });
  it('which answers nobody asked for, and starts again', async () => {
    const script = sandboxScript(['One', { text: 'Two', times: 2 }, { text: 'any', times: 'always' }]);
    const { content } = scripted(script);
    await content();
    expect(script.remaining).toBe(2);
    expect(() => script.assertDone()).toThrow(/not all was asked for of \[1\]/);
    script.reset();
    expect([script.requests, script.remaining]).toEqual([[], 3]);
    expect(await content()).toBe('One');
    script.reset(['Other']);
    expect([await content(), script.requests.length]).toEqual(['Other', 1]);
    script.assertDone();
  });
});

describe('a bad script is refused at the start, with its place', () => {
  it.each<[string, unknown, string[]]>([
    ['no list', { text: 'x' }, [': expected a list of answers']],
    [
      'an unknown field',
      ['a', { txt: 'x' }],
      [expect.stringContaining('[1].txt: unknown key'), expect.stringContaining('[1].text')],
    ],
    ['nothing', [{}], [expect.stringContaining('[0].text: expected an answer: text, json')]],
    ['a number', [5], [expect.stringContaining('[0]: expected object')]],
    [
      'a status that is no error',
      [{ error: { status: 200 } }],
      [expect.stringContaining('[0].error.status: expected at least 400')],
    ],
    ['two texts', [{ text: 'a', json: 1 }], [expect.stringContaining('[0].json')]],
    ['an error with a text', [{ text: 'a', error: { status: 500 } }], [expect.stringContaining('[0].error')]],
    ['an answer beside a function', [{ text: 'a', respond: () => 'b' }], [expect.stringContaining('[0].respond')]],
    [
      'a text without a connection',
      [{ text: 'a', fault: { kind: 'unreachable' } }],
      [expect.stringContaining('[0].fault')],
    ],
    [
      'a message of another fault',
      [{ text: 'a', fault: { kind: 'cut', message: 'x' } }],
      [expect.stringContaining('[0].fault')],
    ],
    [
      'a time before a time-out',
      [{ firstTokenMs: 5, fault: { kind: 'timeout' } }],
      [expect.stringContaining('[0].firstTokenMs')],
    ],
    ['an empty condition on a text', [{ when: { model: '' }, text: 'a' }], [expect.stringContaining('[0].when.model')]],
    [
      'an unknown condition',
      [{ when: { user: 'a' }, text: 'a' }],
      [expect.stringContaining('[0].when.user: unknown key')],
    ],
    ['no times at all', [{ times: 0, text: 'a' }], [expect.stringContaining('[0].times')]],
    [
      'a value that is not JSON',
      [{ json: 1n }],
      [expect.stringContaining('[0].json: expected a value that JSON can hold')],
    ],
    [
      'two mistakes',
      [{ times: 0, text: 'a' }, { text: 5 }],
      [expect.stringContaining('[0].times'), expect.stringContaining('[1].text')],
    ],
  ])('%s', (_, entries, expected) => {
    expect(mistakes(entries)).toEqual(expected);
  });
  it('as a mistake in the options where the option holds the list', () => {
    const options = (sandbox: object) => () => createGateway({ sandbox, apiKeys: [{ key }] } as GatewayOptions);
    expect(options({ script: ['a', { error: { status: 20 } }] })).toThrow(OptionsError);
    expect(options({ script: ['a', { error: { status: 20 } }] })).toThrow(/sandbox\.script\[1\]\.error\.status/);
    expect(options({ script: 'a' })).toThrow(/sandbox\.script: expected a list of answers/);
    expect(options({})).toThrow(/sandbox\.script/);
    expect(options({ script: [], repeat: true })).toThrow(/sandbox\.repeat: unknown key/);
  });
});

describe('a script for all providers', () => {
  const providers = { openai: { apiKey: 'sk-openai-0123456789' }, local: { baseUrl: 'http://127.0.0.1:1/v1' } };
  const models = [
    {
      slug: 'app/chat',
      endpoints: [
        { provider: 'openai', model: 'gpt-4.1' },
        { provider: 'local', model: 'qwen3' },
      ],
    },
  ];

  it('answers in place of the network, so that an app is tested with the options it runs with', async () => {
    const network = vi.fn(() => Promise.reject(new Error('the network')));
    const script = sandboxScript([
      { when: { model: 'openai/gpt-4.1' }, error: { status: 401 }, times: 'always' },
      { when: { model: 'local/qwen3' }, text: 'From the fallback' },
    ]);
    const { askJson } = scripted(script, {
      sandbox: { script, allProviders: true },
      providers,
      models,
      fetch: network,
    });
    const { body } = await askJson({ model: 'app/chat' });
    expect([body.provider, body.choices[0].message.content]).toEqual(['local', 'From the fallback']);
    expect(script.requests.map(({ provider, model }) => `${provider}/${model}`)).toEqual([
      'openai/gpt-4.1',
      'local/qwen3',
    ]);
    expect(JSON.stringify(script.requests)).not.toContain('sk-openai');
    expect(network).not.toHaveBeenCalled();
  });
  it('says so in the log at the start, because it must not be left on by mistake', () => {
    const logger = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
    scripted([], { logger });
    expect(logger.warn).not.toHaveBeenCalled();
    scripted([], { sandbox: { script: [], allProviders: true }, logger });
    expect(logger.warn).toHaveBeenCalledExactlyOnceWith({}, expect.stringContaining('answers for all providers'));
  });
  it('leaves the others alone without allProviders', async () => {
    const network = vi.fn<typeof fetch>(() => Promise.reject(new TypeError('fetch failed')));
    const { askJson } = scripted(['Hello'], { providers, models, fetch: network, retry: { maxAttempts: 1 } });
    expect((await askJson({ model: 'app/chat' })).status).toBe(502);
    expect(network).toHaveBeenCalledOnce();
  });
  it('says so where a provider speaks another format', async () => {
    const other = defineProvider({ slug: 'other', baseUrl: 'http://other.test', dialect: { ...openaiChat } });
    const { askJson } = scripted(['Hello'], {
      sandbox: { script: ['Hello'], allProviders: true },
      providers: { other },
      models: [{ slug: 'app/chat', endpoints: [{ provider: 'other', model: 'x' }] }],
    });
    const { status, body } = await askJson({ model: 'app/chat' });
    expect([status, body.error.message]).toEqual([
      400,
      expect.stringContaining('cannot answer for the provider other'),
    ]);
  });
});
