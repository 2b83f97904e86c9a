import { describe, expect, it } from 'vitest';
import { geminiModelListSchema, geminiModelSchema } from '../../src/schema/models/gemini-model.ts';
import { testGateway, testKey } from '../support/gateway.ts';
import { completion, errorBody } from '../support/upstream.ts';

// biome-ignore lint/suspicious/noExplicitAny: of any response, for a test to look into
type Json = any;

const body = { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] };
const path = '/v1beta/models/acme/fast';

function geminiGateway(options: Parameters<typeof testGateway>[0] = {}) {
  const made = testGateway(options);
  const ask = async (more: object = {}, where = `${path}:generateContent`, headers: Record<string, string> = {}) => {
    const request = new Request(`http://gateway.test${where}`, {
      method: 'POST',
      headers: { 'x-goog-api-key': testKey, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ ...body, ...more }),
    });
    const response = await made.run(made.gateway.fetch(request));
    const text = await made.run(response.text());
    return { response, text, status: response.status };
  };
  return { ...made, ask };
}

/** What was sent to the upstream for a request. */
async function sentFor(more: object): Promise<Json> {
  const { ask, upstream } = geminiGateway();
  upstream.answer({ body: completion() });
  const { status, text } = await ask(more);
  expect(status, text).toBe(200);
  return upstream.sent[0]?.body;
}

/** The stream of a request, over chunks of a chat upstream. */
async function streamed(chunks: readonly object[], { isCut = false, query = '?alt=sse' } = {}) {
  const { ask, upstream, records } = geminiGateway();
  const frames = chunks.map((chunk) => `data: ${JSON.stringify({ object: 'chat.completion.chunk', ...chunk })}\n\n`);
  upstream.answer({ body: [...frames, ...(isCut ? [] : ['data: [DONE]\n\n'])] });
  const { response, text } = await ask({}, `${path}:streamGenerateContent${query}`);
  const events: Json[] = [...text.matchAll(/^data: (.+)\r$/gm)].map(([, data]) => JSON.parse(data as string));
  return { response, text, records, events };
}
const delta = (fields: object, finish: string | null = null) => ({
  choices: [{ index: 0, delta: fields, finish_reason: finish }],
});
const usage = {
  choices: [],
  usage: {
    prompt_tokens: 50,
    completion_tokens: 9,
    total_tokens: 59,
    prompt_tokens_details: { cached_tokens: 20 },
    completion_tokens_details: { reasoning_tokens: 4 },
  },
};
const call = (index: number, args: string, id?: string) => ({
  tool_calls: [
    { index, ...(id ? { id, type: 'function' } : {}), function: { ...(id ? { name: id } : {}), arguments: args } },
  ],
});
const partsOf = (events: readonly Json[]): Json[] => events.flatMap(({ candidates }) => candidates[0].content.parts);

describe('POST /v1beta/models/{model}:generateContent over a chat upstream', () => {
  it('answers with candidates, usage and the id of the generation', async () => {
    const { ask, upstream, records } = geminiGateway();
    upstream.answer({ body: completion() });
    const { status, text, response } = await ask();
    expect(status, text).toBe(200);
    const made: Json = JSON.parse(text);
    expect(made).toMatchObject({
      candidates: [
        { content: { role: 'model', parts: [{ text: expect.any(String) }] }, finishReason: 'STOP', index: 0 },
      ],
      usageMetadata: { promptTokenCount: expect.any(Number), candidatesTokenCount: expect.any(Number) },
      modelVersion: 'acme/fast',
      responseId: response.headers.get('x-generation-id'),
    });
    expect(records[0]).toMatchObject({ operation: 'generateContent', outcome: 'ok' });
  });
  it.each([
    '/v1/models/acme/fast:generateContent',
    '/v1beta/models/acme%2Ffast:generateContent',
    '/v1beta/acme/fast:generateContent',
    '/v1beta/models/models/acme/fast:generateContent',
    '/v1beta/models/acme/fast:generateContent?%24prettyPrint=1',
  ])('finds the model of %s', async (where) => {
    const { ask, upstream } = geminiGateway();
    upstream.answer({ body: completion() });
    const { status, text } = await ask({}, where);
    expect([status, JSON.parse(text).modelVersion], text).toEqual([200, 'acme/fast']);
  });
  it('takes the model up to the last colon', async () => {
    const { ask } = geminiGateway();
    const { status, text } = await ask({}, '/v1beta/models/acme/none:free:generateContent');
    expect([status, JSON.parse(text).error.message]).toMatchObject([400, expect.stringContaining('acme/none:free')]);
  });
  it('sends a conversation as chat has it, with ids for calls that have none', async () => {
    const sent = await sentFor({
      system_instruction: { role: 'user', parts: [{ text: 'Be brief' }, { text: 'and kind' }] },
      contents: [
        { parts: [{ text: 'Look' }, { inlineData: { mimeType: 'image/png', data: 'aGk_-w' } }] },
        {
          role: 'model',
          parts: [
            { text: 'I look' },
            { functionCall: { name: 'read', args: { path: 'a' } } },
            { functionCall: { name: 'read' } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { name: 'read', response: { output: 'A' } } },
            { functionResponse: { name: 'read', response: { error: 'none' } } },
            { text: 'Go on' },
          ],
        },
      ],
    });
    expect(sent.messages).toEqual([
      { role: 'system', content: 'Be brief\n\nand kind' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk/+w' } },
        ],
      },
      {
        role: 'assistant',
        content: 'I look',
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'read', arguments: '{"path":"a"}' } },
          { id: 'call_2', type: 'function', function: { name: 'read', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'A' },
      { role: 'tool', tool_call_id: 'call_2', content: 'Error: none' },
      { role: 'user', content: 'Go on' },
    ]);
  });
  it('joins neighbours of the model, as clients keep the events of a stream', async () => {
    const call = { name: 'get', args: {} };
    const sent = await sentFor({
      contents: [
        { role: 'user', parts: [{ text: 'Get it' }] },
        { role: 'model', parts: [{ text: 'I wi' }] },
        { role: 'model', parts: [{ text: 'll. ' }] },
        { role: 'model', parts: [{ functionCall: call }] },
        { role: 'user', parts: [{ functionResponse: { name: 'get', response: { output: 'it' } } }] },
      ],
    });
    expect(sent.messages).toMatchObject([
      { role: 'user', content: 'Get it' },
      { role: 'assistant', content: 'I will. ', tool_calls: [{ function: { name: 'get' } }] },
      { role: 'tool', content: 'it' },
    ]);
  });

  it('converts settings, tools and schemas, whose types are in capitals', async () => {
    const sent = await sentFor({
      tools: [
        {
          functionDeclarations: [
            { name: 'a', parameters: { type: 'OBJECT', properties: { type: { type: 'STRING', nullable: true } } } },
          ],
        },
        {
          function_declarations: [
            { name: 'b', parametersJsonSchema: { type: 'object', additionalProperties: false } },
            { name: 'c' },
          ],
        },
      ],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['a', 'c'] } },
      generationConfig: {
        temperature: 1,
        topP: 0.5,
        topK: 64,
        maxOutputTokens: '100',
        stopSequences: ['x'],
        responseMimeType: 'application/json',
        responseSchema: { type: 'ARRAY', items: { type: 'INTEGER' }, minItems: '1' },
      },
    });
    expect(sent).toMatchObject({
      tools: [
        { function: { name: 'a', parameters: { type: 'object', properties: { type: { type: ['string', 'null'] } } } } },
        { function: { name: 'c', parameters: { type: 'object', properties: {} } } },
      ],
      tool_choice: 'required',
      temperature: 1,
      top_p: 0.5,
      max_tokens: 100,
      response_format: { json_schema: { schema: { type: 'array', items: { type: 'integer' }, minItems: 1 } } },
    });
  });
  it('never refuses what Google alone has, and names it', async () => {
    const { ask, upstream } = geminiGateway();
    upstream.answer({ body: completion() });
    const { status, text, response } = await ask({
      tools: [{ codeExecution: {} }, { google_maps: {} }],
      safetySettings: [{ category: 'X', threshold: 'OFF' }],
      labels: { a: 'b' },
      generationConfig: { mediaResolution: 'LOW' },
    });
    expect(status, text).toBe(200);
    const dropped = response.headers.get('x-service-dropped') ?? '';
    for (const name of ['codeExecution', 'google_maps', 'labels', 'mediaResolution', 'safetySettings'])
      expect(dropped).toContain(name);
  });
  it('tells faults by their place in the caller’s own words', async () => {
    const { ask } = geminiGateway();
    const { status, text } = await ask({
      contents: [{ parts: [{ fileData: { fileUri: 'gs://a/b', mimeType: 'image/png' } }] }],
    });
    expect([status, JSON.parse(text)]).toMatchObject([
      400,
      {
        error: {
          code: 400,
          status: 'INVALID_ARGUMENT',
          message: expect.stringContaining('contents[0].parts[0].fileData.fileUri'),
        },
      },
    ]);
  });
  it('writes the errors of an upstream in the envelope of Google', async () => {
    const { ask, upstream } = geminiGateway();
    upstream.answer({ status: 400, body: errorBody('too long') });
    const { status, text } = await ask();
    expect([status, JSON.parse(text).error]).toMatchObject([400, { code: 400, status: 'INVALID_ARGUMENT' }]);
  });
  it('brings the plain text of a thought back, where the client drops the thoughts that it has shown', async () => {
    const { ask, upstream } = geminiGateway();
    const calls = [{ id: 'call_x', type: 'function', function: { name: 'read', arguments: '{}' } }];
    const said = { role: 'assistant', content: null, reasoning_content: 'Hm', tool_calls: calls };
    upstream.answer({
      body: completion({ choices: [{ index: 0, finish_reason: 'tool_calls', message: said }] }),
    });
    const { text } = await ask({ tools: [{ functionDeclarations: [{ name: 'read' }] }] });
    const { parts } = JSON.parse(text).candidates[0].content;
    expect(parts).toMatchObject([{ text: 'Hm', thought: true }, { thoughtSignature: expect.any(String) }]);
    const response = { functionResponse: { id: 'call_x', name: 'read', response: { output: 'A' } } };
    for (const kept of [parts, parts.slice(1)]) {
      upstream.answer({ body: completion() });
      await ask({
        contents: [...body.contents, { role: 'model', parts: kept }, { role: 'user', parts: [response] }],
      });
      const sent: Json = upstream.sent.at(-1);
      const answered = sent.body.messages[1];
      expect(answered).toMatchObject({ role: 'assistant', tool_calls: calls });
      expect(answered.reasoning ?? answered.reasoning_content).toBe('Hm');
    }
  });
  it('brings the thoughts of a provider back to it, by the signature of the first call', async () => {
    const details = [{ type: 'reasoning.text', text: 'Hm', signature: 'own', format: 'acme-v1', index: 0 }];
    const { ask, upstream } = geminiGateway();
    upstream.answer({
      body: completion({
        choices: [
          {
            index: 0,
            finish_reason: 'tool_calls',
            message: {
              role: 'assistant',
              content: null,
              reasoning: 'Hm',
              reasoning_details: details,
              tool_calls: [{ id: 'call_x', type: 'function', function: { name: 'read', arguments: '{}' } }],
            },
          },
        ],
      }),
    });
    const { text } = await ask({ tools: [{ functionDeclarations: [{ name: 'read' }] }] });
    const { content } = JSON.parse(text).candidates[0];
    expect(content.parts).toEqual([
      { text: 'Hm', thought: true },
      {
        functionCall: { id: 'call_x', name: 'read', args: {} },
        thoughtSignature: expect.stringMatching(/^[\w+/]+=*$/),
      },
    ]);
    upstream.answer({ body: completion() });
    const again = await ask({
      contents: [
        ...body.contents,
        { role: 'model', parts: content.parts.slice(1) },
        { role: 'user', parts: [{ functionResponse: { id: 'call_x', name: 'read', response: { output: 'A' } } }] },
      ],
    });
    expect(again.status, again.text).toBe(200);
    expect(upstream.sent[1]?.body).toMatchObject({
      messages: [{ role: 'user' }, { tool_calls: [{ id: 'call_x' }] }, { role: 'tool', tool_call_id: 'call_x' }],
    });
  });
});

describe('POST /v1beta/models/{model}:streamGenerateContent', () => {
  const chunks = [
    delta({ role: 'assistant', reasoning: 'Hm' }),
    delta({ content: 'I ' }),
    delta({ content: 'look' }),
    delta(call(0, '{"path":', 'read')),
    delta(call(0, '"a"}')),
    delta({}, 'tool_calls'),
    usage,
  ];
  it('sends text as it comes, and a call once, whole, in the last event', async () => {
    const { events, response } = await streamed(chunks);
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    expect(partsOf(events)).toEqual([
      { text: 'Hm', thought: true },
      { text: 'I ' },
      { text: 'look' },
      {
        functionCall: { id: 'read', name: 'read', args: { path: 'a' } },
        thoughtSignature: expect.stringMatching(/^[\w+/]+=*$/),
      },
    ]);
    expect(events.filter(({ candidates }) => candidates[0].finishReason !== undefined)).toEqual([events.at(-1)]);
    expect(events.at(-1)).toMatchObject({
      candidates: [{ finishReason: 'STOP' }],
      usageMetadata: {
        promptTokenCount: 50,
        cachedContentTokenCount: 20,
        candidatesTokenCount: 5,
        thoughtsTokenCount: 4,
        totalTokenCount: 59,
      },
    });
  });
  it('writes one JSON array without alt=sse', async () => {
    const { text, response } = await streamed(chunks, { query: '' });
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(JSON.parse(text).at(-1).candidates[0].finishReason).toBe('STOP');
  });
  it.each([1, 2, 3, 4, 5])('shows no call and no end where the stream breaks behind chunk %i', async (count) => {
    for (const query of ['?alt=sse', '']) {
      const { text } = await streamed(chunks.slice(0, count), { isCut: true, query });
      expect(text).not.toMatch(/functionCall|finishReason|\]$/);
      expect(text).toContain('{"error":{"code":502');
      expect(text).not.toContain('data: {"error"');
      expect(text).toMatch(/\}$/);
    }
  });
});

describe('POST /v1beta/models/{model}:countTokens', () => {
  it('estimates, with the request in the body or in one field', async () => {
    const { ask } = geminiGateway();
    const plain = await ask({}, `${path}:countTokens`);
    const inner = await ask(
      { contents: undefined, generateContentRequest: { ...body, model: 'x' } },
      `${path}:countTokens`,
    );
    expect([plain.status, inner.status]).toEqual([200, 200]);
    expect(JSON.parse(plain.text)).toEqual({ totalTokens: expect.any(Number) });
    expect(inner.text).toBe(plain.text);
    expect((await ask({ generateContentRequest: body }, `${path}:countTokens`)).status).toBe(400);
  });
});

describe('GET /v1beta/models', () => {
  const models = [
    {
      slug: 'acme/fast',
      name: 'Fast',
      contextLength: 1000,
      aliases: ['gemini-fast'],
      endpoints: [{ provider: 'up', model: 'a', maxCompletionTokens: 100, supportedParameters: ['reasoning'] }],
    },
    { slug: 'acme/other:free', endpoints: [{ provider: 'alt', model: 'b' }] },
  ];
  const methods = ['generateContent', 'streamGenerateContent', 'countTokens'];
  const get = async (where: string, headers: Record<string, string> = { 'x-goog-api-key': testKey }) => {
    const { gateway, run } = testGateway({ models });
    const response = await run(gateway.fetch(new Request(`http://gateway.test${where}`, { headers })));
    return { status: response.status, json: (await run(response.json())) as Json };
  };
  const names = ({ models: listed }: Json): string[] => listed.map(({ name }: Json) => name);
  const all = ['models/acme/fast', 'models/gemini-fast', 'models/acme/other:free'];

  it('lists models with sizes and calls, and aliases beside their slugs', async () => {
    const { status, json } = await get('/v1beta/models');
    expect(status).toBe(200);
    expect(json).toEqual({
      models: [
        {
          name: 'models/acme/fast',
          baseModelId: 'acme/fast',
          version: '',
          displayName: 'Fast',
          description: '',
          inputTokenLimit: 1000,
          outputTokenLimit: 100,
          supportedGenerationMethods: methods,
          thinking: true,
        },
        expect.objectContaining({ name: 'models/gemini-fast', baseModelId: 'acme/fast', inputTokenLimit: 1000 }),
        {
          name: 'models/acme/other:free',
          baseModelId: 'acme/other:free',
          version: '',
          displayName: expect.any(String),
          description: '',
          supportedGenerationMethods: methods,
        },
      ],
    });
    expect(geminiModelListSchema().parse(json)).toEqual(json);
  });
  it.each([
    ['/v1/models', { 'x-goog-api-key': testKey }],
    [`/v1beta/models?key=${testKey}`, {}],
    [`/v1/models?key=${testKey}`, {}],
    ['/v1beta/models', { authorization: `Bearer ${testKey}` }],
    ['/v1beta/models?%24alt=json%3Benum-encoding%3Dint&pageSize=5000', { 'x-goog-api-key': testKey }],
  ])('is the same at %s with %o', async (where, headers) => {
    const { status, json } = await get(where, headers as Record<string, string>);
    expect([status, names(json), json.nextPageToken]).toEqual([200, all, undefined]);
  });
  it.each([1, 2, 3, 4])('gives all of them, each once, in pages of %i', async (size) => {
    const seen: string[] = [];
    let token = '';
    for (let pages = 0; ; pages++) {
      expect(pages).toBeLessThan(4);
      const { json } = await get(`/v1beta/models?pageSize=${size}&pageToken=${encodeURIComponent(token)}`);
      expect(json.models.length).toBeLessThanOrEqual(size);
      seen.push(...names(json));
      if (json.nextPageToken === undefined) break;
      token = json.nextPageToken;
    }
    expect(seen).toEqual(all);
  });
  it.each([
    ['pageToken=models/acme/none', 'pageToken: no page of this list gave it'],
    ['pageSize=0', 'pageSize: expected an integer of at least 1'],
    ['pageSize=many', 'pageSize: expected an integer of at least 1'],
  ])('refuses ?%s', async (query, message) => {
    const { status, json } = await get(`/v1beta/models?${query}`);
    expect([status, json.error]).toMatchObject([
      400,
      { code: 400, status: 'INVALID_ARGUMENT', message: expect.stringContaining(message) },
    ]);
  });
  it.each(['acme/fast', 'acme%2Ffast', 'models/acme/fast', 'gemini-fast', 'acme/other:free'])(
    'has %s below it',
    async (wanted) => {
      const { status, json } = await get(`/v1beta/models/${wanted}`);
      const id = decodeURIComponent(wanted).replace(/^models\//, '');
      expect([status, json]).toMatchObject([200, { name: `models/${id}`, supportedGenerationMethods: methods }]);
      expect(geminiModelSchema().parse(json)).toEqual(json);
    },
  );
  it('tells that a model is missing in the envelope of Google', async () => {
    const { status, json } = await get('/v1beta/models/acme/none');
    expect([status, json.error]).toMatchObject([404, { code: 404, status: 'NOT_FOUND' }]);
  });
});
