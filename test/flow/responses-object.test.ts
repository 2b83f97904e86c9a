import { expect, it } from 'vitest';
import { askResponses, nativeResponse, nativeUp, streamResponses } from '../support/ask-responses.ts';
import { checkResponsesResult, checkResponsesStream, type Loose } from '../support/check-responses.ts';
import { testGateway, testPricing } from '../support/gateway.ts';
import { problemsOfCompaction } from '../support/open-responses.ts';
import { describeWithShared, referenceErrors, sharedAvailable } from '../support/reference.ts';
import { chunk, completion, sse, textStream } from '../support/upstream.ts';

const format = { type: 'json_schema', name: 'answer', schema: { type: 'object', properties: {} } };
const asked = {
  temperature: 0.5,
  metadata: { run: '7' },
  tools: [{ type: 'function', name: 'f', parameters: { type: 'object', properties: {} } }],
  text: { format, verbosity: 'low' },
  reasoning: { effort: 'low' },
  truncation: 'auto',
  prompt_cache_key: 'k',
  safety_identifier: 's',
  max_output_tokens: 90,
};
/** The response in each event that holds one. */
const responsesIn = (events: readonly Loose[]) => events.flatMap(({ response }) => response ?? []);

it('repeats what holds, in JSON and in each event that holds the response', async () => {
  const held = {
    ...asked,
    tools: [{ ...asked.tools[0], description: null, strict: null }],
    text: { format: { ...format, description: null, strict: false }, verbosity: 'low' },
    reasoning: { effort: 'low', summary: null },
  };
  const test = testGateway();
  test.upstream.answer({ body: completion() }, { body: textStream('Hi') });
  const { json } = await askResponses(test, asked);
  expect(checkResponsesResult(json)).toMatchObject(held);
  const { events } = checkResponsesStream((await streamResponses(test, asked)).text);
  expect(responsesIn(events).map(({ status }) => status)).toEqual(['in_progress', 'in_progress', 'completed']);
  for (const response of responsesIn(events)) expect(response).toMatchObject(held);
});

it('says what the defaults of the model and a plugin have set, and not what the interface would', async () => {
  const plugin = {
    id: 'cool',
    isDefault: true,
    prepare: (request: object) => ({ ...request, presence_penalty: 0.25 }),
  };
  const defaults = { temperature: 0.2, max_tokens: 500, reasoning_effort: 'high' as const, parallel_tool_calls: false };
  const test = testGateway({
    catalog: { builtInModels: false },
    models: [{ slug: 'acme/fast', defaults, endpoints: [{ provider: 'up', model: 'm', pricing: testPricing }] }],
    plugins: [plugin as never],
  });
  test.upstream.answer({ body: completion() }, { body: textStream('Hi') }, { body: completion() });
  const held = {
    temperature: 0.2,
    max_output_tokens: 500,
    presence_penalty: 0.25,
    top_p: 1,
    reasoning: { effort: 'high', summary: null },
    parallel_tool_calls: false,
  };
  expect(checkResponsesResult((await askResponses(test)).json)).toMatchObject(held);
  const { events } = checkResponsesStream((await streamResponses(test)).text);
  for (const response of responsesIn(events)) expect(response).toMatchObject(held);
  const { json } = await askResponses(test, { temperature: 1.5, max_output_tokens: 20 });
  expect(json).toMatchObject({ temperature: 1.5, max_output_tokens: 20, presence_penalty: 0.25 });
});

it('names the tier that serves at the end, and until then the one that was asked for', async () => {
  const test = testGateway();
  const served = (tier?: string) =>
    sse(chunk({ content: 'Hi' }), { ...chunk({}, 'stop'), ...(tier ? { service_tier: tier } : {}) });
  test.upstream.answer({ body: served('priority') }, { body: served() });
  for (const tier of ['priority', 'default']) {
    const { events } = checkResponsesStream((await streamResponses(test, { service_tier: 'flex' })).text);
    expect(responsesIn(events).map(({ service_tier }) => service_tier)).toEqual(['flex', 'flex', tier]);
  }
});

it('has the phase of each message of a provider that speaks Responses, and none that is null', async () => {
  const test = testGateway(nativeUp);
  const message = (id: string, phase: unknown) => ({
    type: 'message',
    id,
    status: 'completed',
    role: 'assistant',
    phase,
    content: [{ type: 'output_text', text: id, annotations: [] }],
  });
  const output = [message('a', 'commentary'), message('b', 'final_answer'), message('c', null)];
  for (let count = 0; count < 2; count++) test.upstream.answer({ body: nativeResponse(output) });
  const { json } = await askResponses(test);
  const { final } = checkResponsesStream((await streamResponses(test)).text);
  for (const response of [checkResponsesResult(json), final])
    expect(response.output.map(({ phase }) => phase)).toEqual(['commentary', 'final_answer', undefined]);
});

it('has what clients of the public router take, and no more, with its compat', async () => {
  const test = testGateway({ compat: 'openrouter' });
  test.upstream.answer({ body: completion() }, { body: textStream('Hi') });
  const { json } = await askResponses(test, asked);
  expect(json.text).toEqual({ format, verbosity: 'low' });
  const { text } = await streamResponses(test, asked);
  const events = text.split('\n\n').flatMap((frame) => /^event: .*\ndata: (.*)$/.exec(frame)?.[1] ?? []);
  const responses = responsesIn(events.map((data) => JSON.parse(data) as Loose));
  expect(responses.map((response) => 'usage' in response)).toEqual([false, false, true]);
  if (!sharedAvailable) return;
  for (const response of [json, ...responses]) expect(referenceErrors('OpenResponsesResult', response)).toEqual([]);
});

describeWithShared('a compaction', () => {
  it('fits the specification', async () => {
    const test = testGateway();
    test.upstream.answer({ body: completion() });
    const input = [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Hi' },
      { role: 'user', content: [{ type: 'input_text', text: 'Go on' }] },
    ];
    const { status, json } = await askResponses(test, { input }, {}, '/responses/compact');
    expect([status, problemsOfCompaction(json)]).toEqual([200, []]);
  });
});
