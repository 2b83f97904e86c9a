// Loaded beforehand: a guardrail loads it when it is first needed, which takes time that a manual clock knows nothing of.
import 're2js';
import { describe, expect, it } from 'vitest';
import { textGuardrail } from '../../src/guardrails/text-guardrail.ts';
import { definePlugin } from '../../src/plugins/plugin.ts';
import type { ChatRequest } from '../../src/schema/chat/chat.ts';
import { testGateway, testKey } from '../support/gateway.ts';
import { completion, type ScriptedAnswer } from '../support/upstream.ts';

// biome-ignore lint/suspicious/noExplicitAny: of any response, for a test to look into
type Json = any;

const pricing = { prompt: '0.000002', completion: '0.000008' };
const upstreamKey = 'AIza-upstream-0123456789';

/** A gateway before an upstream that speaks the wire itself. */
function nativeGateway({
  model = 'gemini-3-pro',
  quirks = {},
  ...options
}: Parameters<typeof testGateway>[0] & { model?: string; quirks?: object } = {}) {
  const made = testGateway({
    providers: {
      up: {
        baseUrl: 'https://up.test/v1beta',
        apiKey: upstreamKey,
        name: 'Up',
        dialect: 'google-generate-content',
        quirks,
      },
      alt: { baseUrl: 'https://alt.test/v1', apiKey: 'sk-upstream-alt-0123456789', name: 'Alt' },
    },
    models: [
      { slug: 'acme/own', endpoints: [{ provider: 'up', model, pricing }] },
      { slug: 'acme/chat', endpoints: [{ provider: 'alt', model: 'alt-chat', pricing }] },
    ],
    ...options,
  });
  const ask = async (
    body: object,
    form = ':generateContent',
    headers: Record<string, string> = {},
    slug = 'acme/own',
  ) => {
    const request = new Request(`http://gateway.test/v1beta/models/${slug}${form}`, {
      method: 'POST',
      headers: { 'x-goog-api-key': testKey, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    const response = await made.run(made.gateway.fetch(request));
    const text = await made.run(response.text());
    const dropped = response.headers.get('x-service-dropped')?.split(', ').toSorted() ?? [];
    return { status: response.status, text, headers: response.headers, dropped };
  };
  return { ...made, ask };
}

const answer = (more: object = {}, parts: object[] = [{ text: 'Hi' }]) => ({
  candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0, safetyRatings: [{ a: 1 }] }],
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 12, brandNew: 1 },
  modelVersion: 'gemini-3-pro-001',
  responseId: 'upstream-1',
  ...more,
});
const hello = [{ role: 'user', parts: [{ text: 'Hello' }] }];

/** A body as no schema of ours would write it: unknown fields everywhere, in an order of its own. */
const odd = {
  zeta: { later: [1, 2] },
  generation_config: {
    topK: 64,
    temperature: 1.5,
    brandNew: { x: 1 },
    thinkingConfig: { includeThoughts: true, y: 2 },
  },
  system_instruction: { parts: [{ text: 'Be brief' }, { text: 'and kind' }], role: 'user' },
  contents: [
    { parts: [{ inline_data: { data: 'aGk_-w', mime_type: 'image/png' }, mediaResolution: { level: 'LOW' } }] },
    {
      role: 'model',
      parts: [
        { text: '', thought: true, thoughtSignature: 'c2lnbmF0dXJl' },
        { executableCode: { language: 'PYTHON', code: 'print(1)', id: 'x' } },
        { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
        { brandNew: [{ y: 1 }] },
        { functionCall: { args: { b: 1, a: 2 }, name: 'read' }, thoughtSignature: 'Y2FsbA==' },
        { functionCall: { name: 'read', args: {} } },
      ],
    },
    {
      role: 'function',
      parts: [
        { functionResponse: { name: 'read', response: { output: 'A' }, scheduling: 'SILENT' } },
        { functionResponse: { name: 'read', response: { error: 'none' } } },
      ],
    },
  ],
  safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'OFF' }],
  tools: [
    { googleSearch: { excludeDomains: ['x.test'] }, urlContext: {} },
    { functionDeclarations: [{ name: 'read', behavior: 'NON_BLOCKING', parameters: { type: 'OBJECT' } }] },
    { codeExecution: {} },
  ],
  toolConfig: { functionCallingConfig: { mode: 'AUTO' }, includeServerSideToolInvocations: true },
  labels: { team: 'a' },
};

describe('a request of the Gemini wire for an upstream of the same wire', () => {
  it('goes on as it came, to the byte', async () => {
    const { ask, upstream } = nativeGateway();
    upstream.answer({ body: answer() });
    const { status, text, dropped } = await ask(odd);
    expect(status, text).toBe(200);
    expect(JSON.stringify(upstream.sent[0]?.body)).toBe(JSON.stringify(odd));
    expect(upstream.sent[0]?.url).toBe('https://up.test/v1beta/models/gemini-3-pro:generateContent');
    expect(dropped).toEqual([]);
  });
  it('says nothing of the gateway to the provider', async () => {
    const { ask, upstream } = nativeGateway();
    upstream.answer({ body: answer() });
    const own = {
      models: ['acme/own'],
      provider: { order: ['up'] },
      session_id: 's',
      user: 'u',
      plugins: [],
      model: 'x',
    };
    const { status, text } = await ask({ ...odd, ...own });
    expect(status, text).toBe(200);
    expect(upstream.sent[0]?.body).toEqual(odd);
    expect(JSON.stringify(upstream.sent[0]?.headers)).not.toContain(testKey);
  });
  it('gets the answer as it came, but for the model and the id, and is paid and recorded', async () => {
    const { ask, upstream, records } = nativeGateway();
    const body = answer({ extra: [1], promptFeedback: {} }, [
      { executableCode: { code: 'x' } },
      { text: 'Hi', thoughtSignature: 'c2ln' },
      { brandNew: 1 },
    ]);
    upstream.answer({ body });
    const { text, headers } = await ask(odd);
    const id = headers.get('x-generation-id');
    expect(text).toBe(JSON.stringify({ ...body, modelVersion: 'acme/own', responseId: id }));
    expect(records[0]).toMatchObject({ outcome: 'ok', usage: { prompt_tokens: 10, completion_tokens: 2 } });
    expect(records[0]?.costNanoUsd).toBe(36_000);
  });
  it('shows the routing metadata beside it, where it is asked for', async () => {
    const { ask, upstream } = nativeGateway();
    upstream.always({ body: answer() });
    const wanted = { 'x-service-metadata': 'enabled' };
    expect(JSON.parse((await ask(odd, ':generateContent', wanted)).text).service_metadata.requested).toBe('acme/own');
    upstream.always({ body: [`data: ${JSON.stringify(answer())}\r\n\r\n`] });
    const { text } = await ask(odd, ':streamGenerateContent', wanted);
    expect(JSON.parse(text).at(-1)).toMatchObject({ service_metadata: { requested: 'acme/own' } });
  });
  it('is written anew where a guardrail takes something out, and its answer too', async () => {
    const guardrails = [
      textGuardrail({ id: 'hush', patterns: [{ name: 'hush', regex: 'hush-\\d+', action: 'redact' }] }),
    ];
    const { ask, upstream } = nativeGateway({ guardrails });
    upstream.always({ body: answer({}, [{ text: 'Yes hush-3' }, { executableCode: { code: 'hush-4' } }]) });
    const { status, text } = await ask({ contents: [{ parts: [{ text: 'Say hush-1' }] }], labels: { a: 'b' } });
    expect(status, text).toBe(200);
    expect((upstream.sent as Json[])[0].body.contents[0].parts).toEqual([{ text: 'Say [REDACTED:hush]' }]);
    expect(text).not.toContain('hush-');
    expect(JSON.parse(text).candidates[0].content.parts).toEqual([{ text: 'Yes [REDACTED:hush]' }]);
  });
  const secret = 'hush-1';
  it.each<[string, Json]>([
    ['a part that chat does not have', { contents: [{ parts: [{ brandNew: { x: secret } }, { text: 'Hi' }] }] }],
    [
      'a last turn of which no message is made',
      { contents: [...hello, { role: 'model', parts: [{ brandNew: secret }] }] },
    ],
    ['instructions of another kind', { systemInstruction: { parts: [{ brandNew: secret }] } }],
    ['a member of a turn', { contents: [{ parts: [{ text: 'Hi' }], note: secret }] }],
    [
      'code that ran',
      { contents: [...hello, { role: 'model', parts: [{ executableCode: { code: secret } }] }, ...hello] },
    ],
    [
      'the name of a file',
      { contents: [{ parts: [{ inlineData: { mimeType: 'image/png', data: 'aGk=', displayName: secret } }] }] },
    ],
    ['a declaration', { tools: [{ functionDeclarations: [{ name: 'a', response: { description: secret } }] }] }],
    [
      'a function that may not be called',
      {
        tools: [{ functionDeclarations: [{ name: 'a' }, { name: 'b', description: secret }] }],
        toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['a'] } },
      },
    ],
    ['a tool of the provider', { tools: [{ googleSearch: { brandNew: secret } }] }],
    ['a tool that nobody knows', { tools: [{ brandNew: { x: secret } }] }],
    ['the choice of a tool', { toolConfig: { brandNew: secret } }],
    ['a setting', { generationConfig: { brandNew: secret } }],
    ['a schema', { generationConfig: { responseSchema: { type: 'STRING', description: secret } } }],
    ['a label', { labels: { a: secret } }],
    ['a field that nobody knows', { zeta: [secret] }],
  ])('hides nothing from a guardrail: %s', async (_, more) => {
    const guardrails = [
      textGuardrail({ id: 'hush', patterns: [{ name: 'hush', regex: 'hush-\\d+', action: 'redact' }] }),
    ];
    const { ask, upstream } = nativeGateway({ guardrails });
    upstream.always({ body: answer() });
    const { status, text } = await ask({ contents: hello, ...more });
    expect([200, 403], text).toContain(status);
    expect(JSON.stringify(upstream.sent)).not.toContain('hush-');
    const { ask: free, upstream: other } = nativeGateway();
    other.always({ body: answer() });
    await free({ contents: hello, ...more });
    expect(JSON.stringify(other.sent[0]?.body)).toContain('hush-');
  });
  it('carries what a plugin has changed of settings, and stays as it came beside it', async () => {
    const before = (request: ChatRequest) => ({ ...request, temperature: 0, max_completion_tokens: 7, stop: ['x'] });
    const { ask, upstream } = nativeGateway({ plugins: [definePlugin({ id: 'test', isDefault: true, before })] });
    upstream.answer({ body: answer() });
    await ask(odd);
    const { generation_config: config, ...others } = (upstream.sent as Json[])[0].body;
    expect(config).toEqual({ ...odd.generation_config, temperature: 0, maxOutputTokens: 7, stopSequences: ['x'] });
    expect({ ...others, generation_config: odd.generation_config }).toEqual(odd);
  });
  it('falls back to an upstream of another wire as a chat request', async () => {
    const { ask, upstream } = nativeGateway({ retry: { maxAttempts: 2 } });
    upstream.answer({ status: 401, body: { error: { code: 401, message: 'Oops', status: 'UNAUTHENTICATED' } } });
    upstream.answer({ body: completion() });
    const { status, text } = await ask({ ...odd, models: ['acme/chat'] });
    expect(status, text).toBe(200);
    expect((upstream.sent as Json[]).at(-1).body.messages[0]).toMatchObject({ role: 'system' });
    expect(JSON.parse(text).modelVersion).toBe('acme/chat');
  });
  it('loses the thoughts that the gateway has packed of another provider, and keeps those of Google', async () => {
    const details = [{ type: 'reasoning.text', text: 'Hm', signature: 'own', format: 'acme-v1', index: 0 }];
    const called = { id: 'c1', type: 'function', function: { name: 'read', arguments: '{}' } };
    const message = {
      role: 'assistant',
      content: null,
      reasoning: 'Hm',
      reasoning_details: details,
      tool_calls: [called],
    };
    const { ask, upstream } = nativeGateway();
    upstream.answer({ body: completion({ choices: [{ index: 0, finish_reason: 'tool_calls', message }] }) });
    const first = await ask({ contents: hello }, ':generateContent', {}, 'acme/chat');
    const { content } = JSON.parse(first.text).candidates[0];
    const packed = content.parts.at(-1).thoughtSignature;
    expect(packed).toMatch(/^\S{20}/);
    const google = { role: 'model', parts: [{ functionCall: { name: 'read' }, thoughtSignature: 'Z29vZ2xl' }] };
    const response = { parts: [{ functionResponse: { name: 'read', response: {} } }] };
    upstream.answer({ body: answer() });
    await ask({ contents: [...hello, { ...content, parts: content.parts.slice(1) }, response, google, response] });
    const sent = (upstream.sent as Json[])[1].body.contents;
    expect(JSON.stringify(sent)).not.toContain(packed);
    expect(sent[1].parts).toEqual([
      { functionCall: { id: 'c1', name: 'read', args: {} }, thoughtSignature: 'skip_thought_signature_validator' },
    ]);
    expect(sent[3]).toEqual(google);
  });
  it('is fitted to Vertex AI: no ids of calls, the tier in a header', async () => {
    const { ask, upstream } = nativeGateway({ quirks: { callIds: false, serviceTier: 'header' } });
    upstream.answer({ body: answer() });
    await ask({
      serviceTier: 'flex',
      contents: [
        ...hello,
        { role: 'model', parts: [{ functionCall: { id: 'a', name: 'f' }, thoughtSignature: 'eA==' }] },
        { parts: [{ function_response: { id: 'a', name: 'f', response: { id: 'kept' } } }] },
      ],
    });
    const [sent] = upstream.sent as Json[];
    expect(sent.headers['x-vertex-ai-llm-shared-request-type']).toBe('flex');
    expect(sent.body).toEqual({
      contents: [
        ...hello,
        { role: 'model', parts: [{ functionCall: { name: 'f' }, thoughtSignature: 'eA==' }] },
        { parts: [{ function_response: { name: 'f', response: { id: 'kept' } } }] },
      ],
    });
  });
  it('leaves out the settings that a provider refuses, and names them', async () => {
    const quirks = { penaltiesIn25: false, dropParams: ['top_k', 'labels'] };
    const { ask, upstream } = nativeGateway({ model: 'gemini-2.5-flash', quirks });
    upstream.answer({ body: answer() });
    const { dropped } = await ask({
      contents: hello,
      labels: { a: 'b' },
      generationConfig: { topK: 1, presence_penalty: 1, seed: 3 },
    });
    expect(upstream.sent[0]?.body).toEqual({ contents: hello, generationConfig: { seed: 3 } });
    expect(dropped).toEqual(['generationConfig.presence_penalty', 'generationConfig.topK', 'labels']);
  });
  it.each([
    [{ generationConfig: { maxOutputTokens: 1, max_output_tokens: 9 } }, 'generationConfig.max_output_tokens'],
    [{ cachedContent: 'a', cached_content: 'b' }, 'cached_content'],
    [{ contents: [{ parts: [{ inlineData: { mimeType: 'a/b', data: '' }, inline_data: {} }] }] }, 'inline_data'],
    [{ generationConfig: { candidateCount: '8e0' } }, 'generationConfig.candidateCount'],
    [{ generationConfig: { temperature: 'hot' } }, 'generationConfig.temperature'],
  ])('is refused where two could read it in two ways: %o', async (more, place) => {
    const { ask, upstream } = nativeGateway();
    const { status, text } = await ask({ contents: hello, ...more });
    expect([status, JSON.parse(text).error.message]).toEqual([400, expect.stringContaining(place)]);
    expect(upstream.sent).toEqual([]);
  });
});

describe('a stream of an upstream of the Gemini wire', () => {
  const event = (parts: object[], more: object = {}, of: object = {}) => ({
    ...answer(),
    candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
    ...of,
  });
  const frames = (...events: object[]) => events.map((one) => `data: ${JSON.stringify(one)}\r\n\r\n`);
  const whole = [
    event([{ text: 'Hm', thought: true }]),
    event([{ executableCode: { code: 'print(1)' } }]),
    event([{ text: 'Hi' }], { groundingMetadata: { x: 1 } }),
    event([{ functionCall: { name: 'f', args: { modelVersion: 'x' } } }]),
    event([{ text: '', thoughtSignature: 'eA==' }], { finishReason: 'STOP', avgLogprobs: -0.1 }),
  ];
  const asOurs = (text: string, id: string | null) =>
    text.replaceAll('"gemini-3-pro-001"', '"acme/own"').replaceAll('"upstream-1"', `"${id}"`);

  it('comes as it is, to the byte, but for the model and the id', async () => {
    const { ask, upstream, records } = nativeGateway();
    upstream.answer({ body: frames(...whole) });
    const { text, headers } = await ask({ contents: hello }, ':streamGenerateContent?alt=sse');
    expect(text).toBe(asOurs(frames(...whole).join(''), headers.get('x-generation-id')));
    expect(upstream.sent[0]?.url).toMatch(/:streamGenerateContent\?alt=sse$/);
    expect(records[0]).toMatchObject({ outcome: 'ok', costNanoUsd: 36_000 });
  });
  it('is one JSON array where the client asked for none of events', async () => {
    const { ask, upstream } = nativeGateway();
    upstream.answer({ body: frames(...whole) });
    const { text, headers } = await ask({ contents: hello }, ':streamGenerateContent');
    expect(JSON.parse(text)).toEqual(JSON.parse(asOurs(JSON.stringify(whole), headers.get('x-generation-id'))));
  });
  it.each([1, 2, 3, 4])('shows no call and no end where it breaks behind event %i', async (count) => {
    for (const form of [':streamGenerateContent?alt=sse', ':streamGenerateContent']) {
      const { ask, upstream } = nativeGateway();
      upstream.answer({ body: [...frames(...whole.slice(0, count)), { breaks: true }] } as ScriptedAnswer);
      const { text } = await ask({ contents: hello }, form);
      expect(text).not.toMatch(/functionCall|finishReason|\]$/);
      expect(text).toContain('{"error":{"code":502');
      expect(text.match(/executableCode/g)?.length ?? 0).toBe(count > 1 ? 1 : 0);
    }
  });
  it('brings a candidate on while another has ended', async () => {
    const { ask, upstream } = nativeGateway();
    const second = event([{ text: 'B' }], { index: 1 });
    const ends = [event([], { finishReason: 'STOP' }), event([], { index: 1, finishReason: 'STOP' })];
    upstream.answer({ body: frames(event([{ text: 'A' }]), ends[0] as object, second, ends[1] as object) });
    const { text } = await ask(
      { contents: hello, generationConfig: { candidateCount: 2 } },
      ':streamGenerateContent?alt=sse',
    );
    const got = [...text.matchAll(/^data: (.+)\r$/gm)].map(([, data]) => JSON.parse(data as string).candidates[0]);
    expect(got.map(({ index, finishReason }) => [index, finishReason])).toEqual([
      [0, undefined],
      [1, undefined],
      [0, 'STOP'],
      [1, 'STOP'],
    ]);
  });
  it.each([':streamGenerateContent?alt=sse', ':generateContent'])(
    'never shows the key of the provider, in whatever pieces it comes: %s',
    async (form) => {
      const half = upstreamKey.length / 2;
      const pieces = [upstreamKey.slice(0, half), upstreamKey.slice(half)];
      const { ask, upstream } = nativeGateway();
      upstream.answer(
        form === ':generateContent'
          ? {
              body: answer(
                {},
                pieces.map((text) => ({ text })),
              ),
            }
          : {
              body: frames(
                ...pieces.map((text) => event([{ text }])),
                event([{ text: '!' }], { finishReason: 'STOP' }),
              ),
            },
      );
      const { text, status } = await ask({ contents: hello }, form);
      const said = [...text.matchAll(/"text":"([^"]*)"/g)].map(([, one]) => one).join('');
      expect(status).toBe(200);
      expect(said).not.toContain(upstreamKey);
      expect(said).toContain('[redacted]');
    },
  );
});
