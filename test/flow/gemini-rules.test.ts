// Loaded beforehand: a guardrail loads it when it is first needed, which takes time that a manual clock knows nothing of.
import 're2js';
import { Keyv } from 'keyv';
import { describe, expect, it } from 'vitest';
import type { TextPattern } from '../../src/guardrails/text/pattern.ts';
import { textGuardrail } from '../../src/guardrails/text-guardrail.ts';
import { definePlugin } from '../../src/plugins/plugin.ts';
import type { ChatRequest } from '../../src/schema/chat/chat.ts';
import { testGateway, testKey, upstreamKeys } from '../support/gateway.ts';
import { chunk, completion, sse, textStream } from '../support/upstream.ts';

// biome-ignore lint/suspicious/noExplicitAny: of any response, for a test to look into
type Json = any;

const address = 'bob@example.com';
const path = '/v1beta/models/acme/fast';
const forms = [':generateContent', ':streamGenerateContent?alt=sse', ':streamGenerateContent'];

/** A gateway that a client of the Gemini wire asks. */
function gemini(options: Parameters<typeof testGateway>[0] = {}) {
  const made = testGateway(options);
  const ask = async (
    said: string,
    form = ':generateContent',
    more: object = {},
    headers: Record<string, string> = { 'x-goog-api-key': testKey },
    model = path,
  ) => {
    const request = new Request(`http://gateway.test${model}${form}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ contents: [{ parts: [{ text: said }] }], ...more }),
    });
    const response = await made.run(made.gateway.fetch(request));
    const text = await made.run(response.text());
    return { status: response.status, headers: response.headers, text };
  };
  return { ...made, ask };
}

/** The results of a response, one or many. */
function resultsOf(text: string, form: string): Json[] {
  if (!form.includes('alt=sse')) return [JSON.parse(text)].flat();
  return [...text.matchAll(/^data: (.+)\r$/gm)].map(([, data]) => JSON.parse(data as string));
}
const textOf = (results: readonly Json[]): string =>
  results
    .flatMap(({ candidates = [] }) => candidates.flatMap(({ content }: Json) => content.parts))
    .map(({ text = '' }) => text)
    .join('');
/** What the upstream says, in pieces. */
const answerOf = (form: string, ...pieces: string[]) =>
  form.startsWith(':stream') ? { body: textStream(...pieces) } : { body: completion({}, { content: pieces.join('') }) };
const guarded = (...patterns: TextPattern[]) => gemini({ guardrails: [textGuardrail({ id: 'pii', patterns })] });

describe('the rules of the gateway on the Gemini wire', () => {
  it.each(forms)('refuse what no budget has room for, before a provider is asked: %s', async (form) => {
    const { ask, call, upstream, records } = gemini();
    expect((await call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 0.000001 })).status).toBe(200);
    const { status, text } = await ask('Hello', form, { generationConfig: { maxOutputTokens: 100 } });
    expect([status, JSON.parse(text)]).toMatchObject([
      402,
      {
        error: {
          code: 402,
          status: 'FAILED_PRECONDITION',
          message: expect.stringContaining('daily budget'),
          details: [{ reason: 'PAYMENT_REQUIRED', metadata: { interval: 'daily', limit_usd: '0.000001' } }],
        },
      },
    ]);
    expect([upstream.sent, records.at(-1)?.status]).toEqual([[], 402]);
  });
  it('book what a request cost', async () => {
    const { ask, call, upstream, records } = gemini();
    await call('PUT', '/workspaces/default/budgets/daily', { limit_usd: 1 });
    for (const form of forms) {
      upstream.answer(answerOf(form, 'Hello'));
      expect((await ask('Hello', form)).status).toBe(200);
    }
    // 10 tokens in at 2 micro-USD and 2 out at 8, three times.
    expect(records.map(({ costNanoUsd }) => costNanoUsd)).toEqual([36_000, 36_000, 36_000]);
  });
  it.each(forms)('refuse a text that a guardrail blocks, and ask no provider: %s', async (form) => {
    const { ask, upstream } = guarded({ literal: 'Bluebird', name: 'project', action: 'block' });
    const { status, text } = await ask('Tell me of Bluebird', form);
    expect([status, JSON.parse(text).error]).toMatchObject([
      403,
      { code: 403, status: 'PERMISSION_DENIED', details: [{ metadata: { patterns: '["project"]' } }] },
    ]);
    expect([upstream.sent, text.includes('Bluebird')]).toEqual([[], false]);
  });
  it.each(forms)('show nothing of an answer behind what a guardrail blocks: %s', async (form) => {
    const { ask, upstream } = guarded({ literal: 'Bluebird', name: 'project', action: 'block' });
    upstream.answer(answerOf(form, 'It is called Blue', 'bird, and it flies'));
    const { text } = await ask('Hello', form);
    expect(text).not.toMatch(/Bluebird|flies|finishReason/);
    expect(text).toContain('"code":403');
  });
  it.each(forms)('take a text out in both directions: %s', async (form) => {
    const { ask, upstream } = guarded({ builtin: 'email', action: 'redact' });
    upstream.answer(answerOf(form, 'Write to bob@exa', 'mple.com today'));
    const { status, text } = await ask(`Who is ${address}?`, form);
    expect([status, textOf(resultsOf(text, form))]).toEqual([200, 'Write to [REDACTED:email] today']);
    expect(upstream.sent[0]?.body.messages).toEqual([{ role: 'user', content: 'Who is [REDACTED:email]?' }]);
  });
  it('take a text out of instructions, calls and their results, and out of a call that the model makes', async () => {
    const { ask, upstream } = guarded({ builtin: 'email', action: 'redact' });
    const args = `{"to":"${address}"}`;
    const made = [{ index: 0, id: 'c2', type: 'function', function: { name: 'send', arguments: args } }];
    upstream.answer({ body: [sse(chunk({ tool_calls: made })), sse(chunk({}, 'tool_calls')), 'data: [DONE]\n\n'] });
    const { text } = await ask('', ':streamGenerateContent?alt=sse', {
      systemInstruction: { parts: [{ text: `You are ${address}` }] },
      tools: [{ functionDeclarations: [{ name: 'send' }] }],
      contents: [
        { parts: [{ text: 'Go' }] },
        { role: 'model', parts: [{ functionCall: { name: 'send', args: { to: address } } }] },
        { parts: [{ functionResponse: { name: 'send', response: { output: `Sent to ${address}` } } }] },
      ],
    });
    expect(upstream.sent[0]?.text).not.toContain(address);
    const calls = resultsOf(text, 'alt=sse').flatMap(({ candidates }) => candidates[0].content.parts);
    expect(calls).toMatchObject([{ functionCall: { name: 'send', args: { to: '[REDACTED:email]' } } }]);
  });
  it.each(forms)('give a text back that was taken out of the request: %s', async (form) => {
    const { ask, upstream } = guarded({ builtin: 'email', action: 'redact', restore: true });
    upstream.answer(answerOf(form, 'Dear [REDACT', 'ED:email#1]'));
    const { text } = await ask(`Write to ${address}`, form);
    expect(textOf(resultsOf(text, form))).toBe(`Dear ${address}`);
    expect(upstream.sent[0]?.text).not.toContain(address);
  });
  it.each(forms)('let a plugin of the host app change the request: %s', async (form) => {
    const before = (request: ChatRequest) => ({ ...request, model: 'acme/other', temperature: 0 });
    const { ask, upstream } = gemini({ plugins: [definePlugin({ id: 'test', isDefault: true, before })] });
    upstream.answer(answerOf(form, 'Hello'));
    const { text } = await ask('Hello', form);
    expect(resultsOf(text, form).at(-1).modelVersion).toBe('acme/other');
    expect(upstream.sent[0]?.body).toMatchObject({ model: 'alt-other', temperature: 0 });
  });
  it.each(forms)('use the credential that the workspace brought: %s', async (form) => {
    const { ask, call, upstream, records } = gemini({
      secrets: { current: 'a master secret of the tests, which is long enough' },
      providers: { groq: { apiKey: upstreamKeys.up, baseUrl: 'https://groq.test/v1', byok: true } },
      models: [],
    });
    const own = 'gsk-own-credential-0123456789';
    expect((await call('POST', '/byok', { provider: 'groq', key: own })).status).toBe(201);
    upstream.answer(answerOf(form, 'Hello'));
    const { status, text } = await ask('Hello', form, {}, undefined, '/v1beta/models/groq/llama');
    expect(status, text).toBe(200);
    expect(upstream.sent[0]?.headers.authorization).toBe(`Bearer ${own}`);
    expect(records[0]?.attempts[0]).toMatchObject({ isByok: true });
  });
});

describe('the key of a client of the Gemini wire', () => {
  const ways: [string, string, Record<string, string>][] = [
    ['x-goog-api-key', '', { 'x-goog-api-key': testKey }],
    ['?key=', `key=${testKey}`, {}],
  ];
  it.each(ways)(
    'is in no record, log line, store, response or request to a provider: %s',
    async (_, query, headers) => {
      const lines: unknown[] = [];
      const log = (...given: unknown[]) => void lines.push(given);
      const store = new Map<string, unknown>();
      const { ask, upstream, records, gateway } = gemini({
        logger: { info: log, warn: log, error: log },
        records: { enabled: true },
        store: new Keyv({ store }),
        onOperation: (one) => void lines.push(one),
      });
      const seen: string[] = [];
      for (const [form, answer] of [
        [':generateContent', { body: completion() }],
        [':streamGenerateContent?alt=sse', { body: textStream('Hello') }],
        [':streamGenerateContent?alt=sse', { body: [sse(chunk({ content: 'Cut' }))] }],
        [':generateContent', { status: 401, body: { error: { message: 'Bad key' } } }],
        [':countTokens', null],
        [':embedContent', null],
      ] as const) {
        if (answer !== null) upstream.always(answer as never);
        const { headers: got, text } = await ask(
          'Hello',
          query === '' ? form : `${form}${form.includes('?') ? '&' : '?'}${query}`,
          {},
          headers,
        );
        seen.push(text, JSON.stringify([...got]));
      }
      await gateway.close();
      // Each place was written to, so that it shows something.
      expect(records.length).toBeGreaterThanOrEqual(4);
      expect([lines.length > 0, store.size > 0, upstream.sent.length > 3]).toEqual([true, true, true]);
      const kept = JSON.stringify([records, lines, [...store], upstream.sent, seen]);
      expect(kept).not.toContain(testKey);
    },
  );
});

describe('a provider of the Gemini wire that is silent', () => {
  it('is waited for with blank lines alone, in both forms: never with a comment', async () => {
    for (const form of forms.slice(1)) {
      const { ask, upstream } = gemini({ keepAlive: { firstMs: 1000, everyMs: 500 } });
      upstream.answer({
        afterMs: 2200,
        body: [sse(chunk({ content: 'Hi' })), { waitMs: 1200 }, sse(chunk({}, 'stop')), 'data: [DONE]\n\n'],
      });
      const { text } = await ask('Hello', form);
      expect(text).toMatch(/^(?:\r\n\r\n){3}\S/);
      expect(text).toMatch(/\}(?:\r\n\r\n)*(?:\r\n\r\n){2}[d,]/);
      expect(text).not.toMatch(/^:/m);
      const results = resultsOf(text, form);
      expect([textOf(results), results.at(-1).candidates[0].finishReason]).toEqual(['Hi', 'STOP']);
    }
  });
});

describe('a request of the Gemini wire with a single object in the place of a list', () => {
  const part = (text: string) => ({ parts: { text } });
  const declared = { name: 'look', parameters: { type: 'OBJECT', properties: { at: { type: 'STRING' } } } };
  const single = {
    system_instruction: part('Be brief'),
    contents: part('Hi'),
    tools: { function_declarations: declared },
    safety_settings: { category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' },
  };
  it.each([':generateContent', ':countTokens'])('is the same as one with lists: %s', async (form) => {
    const { ask, upstream } = gemini({
      providers: {
        up: { baseUrl: 'https://up.test/v1', apiKey: upstreamKeys.up, dialect: 'google-generate-content' },
        alt: { baseUrl: 'https://alt.test/v1', apiKey: upstreamKeys.alt },
      },
    });
    upstream.always({ status: 400, body: {} });
    for (const model of ['fast', 'other']) await ask('', form, single, undefined, `/v1beta/models/acme/${model}`);
    const [own, chat] = upstream.sent.map(({ body }) => body as Json);
    const listed = {
      system_instruction: { parts: [{ text: 'Be brief' }] },
      contents: [{ parts: [{ text: 'Hi' }] }],
      tools: [{ function_declarations: [declared] }],
      safety_settings: [single.safety_settings],
    };
    expect(own.generateContentRequest ?? own).toMatchObject(listed);
    if (form === ':countTokens') return;
    expect(chat.messages).toEqual([
      { role: 'system', content: 'Be brief' },
      { role: 'user', content: 'Hi' },
    ]);
    expect(chat.tools).toMatchObject([{ type: 'function', function: { name: 'look' } }]);
  });
  it('is looked at by guardrails', async () => {
    const { ask, upstream } = guarded({ builtin: 'email', action: 'block' });
    const { status } = await ask('', ':generateContent', { ...single, system_instruction: part(`Ask ${address}`) });
    expect([status, upstream.sent.length]).toEqual([403, 0]);
  });
});

describe('a call of the Gemini wire', () => {
  const said = (args: string) => ({
    body: [
      sse(chunk({ content: 'I do' })),
      sse(chunk({ tool_calls: [{ index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: args } }] })),
      sse(chunk({}, 'tool_calls')),
      'data: [DONE]\n\n',
    ],
  });
  it.each(['[1]', '"a"', '{"a":', 'null', '{}{}'])(
    'is left out where its arguments are no object, and the response says so: %s',
    async (args) => {
      const { ask, upstream } = gemini();
      upstream.always(said(args));
      const { text } = await ask('Hello', ':streamGenerateContent?alt=sse', {
        tools: [{ functionDeclarations: [{ name: 'f' }] }],
      });
      const results = resultsOf(text, 'alt=sse');
      expect(text).not.toContain('functionCall');
      expect([textOf(results), results.at(-1).candidates[0].finishReason]).toEqual(['I do', 'MALFORMED_FUNCTION_CALL']);
    },
  );
  it('has an empty object where the model wrote no arguments', async () => {
    const { ask, upstream } = gemini();
    upstream.answer(said(''));
    const { text } = await ask('Hello', ':streamGenerateContent?alt=sse');
    expect(resultsOf(text, 'alt=sse').at(-1).candidates[0]).toMatchObject({
      content: { parts: [{ functionCall: { id: 'c', name: 'f', args: {} } }] },
      finishReason: 'STOP',
    });
  });
});
