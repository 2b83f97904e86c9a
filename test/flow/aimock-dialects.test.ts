import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AssistantMessage } from '../../src/schema/chat/chat.ts';
import { type AimockGateway, aimockGateway } from '../support/aimock.ts';
import { aimockTable, aimockTargets, seals } from '../support/aimock-targets.ts';
import { dialects } from '../support/dialects.ts';
import { type Answer, joined } from '../support/gateway.ts';

const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
const text = 'Grüße — "quoted"\n\\ and 日本語 👋 to all of you, in many chunks';
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const thinking = { reasoning: { effort: 'low' }, max_tokens: 4000 };
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const tools = [{ type: 'function', function: { name: 'get_weather', description: 'The weather.', parameters } }];
const paris = { id: 'call_paris_01', name: 'get_weather', arguments: '{"city":"Paris"}' };
const rome = {
  id: 'call_rome_02',
  name: 'get_weather',
  arguments: '{"city":"Rome","days":[1,{"of":"March \\"26\\""}]}',
};

let aimock: AimockGateway;

/** What the client got, streamed or not, as it sends it back. */
function messageOf({ chunks, json }: Answer) {
  if (chunks.length === 0) {
    const { message, finish_reason: finish } = json.choices[0] as (typeof json.choices)[number];
    return { message: message as AssistantMessage, finish };
  }
  const { content, reasoning, calls, finish } = joined(chunks);
  const details = chunks.flatMap(({ choices }) => choices.flatMap(({ delta }) => delta.reasoning_details ?? []));
  const message = {
    role: 'assistant',
    content,
    ...(reasoning === '' ? {} : { reasoning }),
    ...(details.length === 0 ? {} : { reasoning_details: details }),
    ...(calls.length === 0
      ? {}
      : { tool_calls: calls.map(({ id, ...called }) => ({ id, type: 'function', function: called })) }),
  } as AssistantMessage;
  return { message, finish };
}

const callsOf = ({ tool_calls: calls = [] }: AssistantMessage) =>
  calls.map(({ id, function: { name, arguments: given } }) => ({ id, name, arguments: JSON.parse(given) }));
const asCalls = (calls: readonly (typeof paris)[]) =>
  calls.map((call) => ({ ...call, arguments: JSON.parse(call.arguments) }));

/** What aimock's matcher saw of the last request. */
const matched = () => aimock.mock.getLastRequest()?.body as { messages: AssistantMessage[] };

it('has every dialect that speaks HTTP', () => {
  // The remaining one calls a model in the same process.
  const inProcess = 'ai-sdk';
  expect(new Set(aimockTargets.map(({ dialect }) => dialect))).toEqual(
    new Set(Object.keys(dialects).filter((name) => name !== inProcess)),
  );
});

describe.each(aimockTable)('%s at aimock', (_, target) => {
  beforeEach(async () => {
    aimock = await aimockGateway(target);
  });
  afterEach(() => aimock.close());

  describe.each([false, true])('stream: %s', (stream) => {
    it('answers what system and user said, with its usage and cost in the response and in the record', async () => {
      aimock.mock.on({ userMessage: 'hello', systemMessage: 'Be brief.' }, { content: text, usage }, { chunkSize: 3 });
      const messages = [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'hello' },
      ];
      const answer = await aimock.ask('', { messages, stream });
      const { message, finish } = messageOf(answer);
      expect([answer.status, message.content, finish]).toEqual([200, text, 'stop']);
      if (stream) expect(answer.chunks.length).toBeGreaterThan(10);
      const { usage: reported } = stream ? (answer.chunks.at(-1) ?? {}) : answer.json;
      expect(reported).toMatchObject({ ...usage, cost: 0.000013 });
      expect(aimock.records).toMatchObject([
        {
          outcome: 'ok',
          status: 200,
          provider: target.name,
          streamed: stream,
          usage: { ...usage, cost: 0.000013 },
          costNanoUsd: 13_000,
          isEstimated: false,
        },
      ]);
    });
    it('is asked at the address of the provider, with the credential where the provider wants it', async () => {
      aimock.mock.onMessage('hello', { content: 'Hi' });
      expect((await aimock.ask('hello', { stream })).status).toBe(200);
      const [sent] = aimock.sent;
      const base = new URL(target.baseUrl(aimock.mock.url)).pathname.replace(/\/$/, '');
      expect([aimock.sent.length, sent?.path]).toEqual([1, `${base}${target.paths[stream ? 1 : 0]}`]);
      if (sent) target.checkCredential(sent);
    });
    it('says that the limit of the output ended it', async () => {
      aimock.mock.onMessage('hello', { content: 'Once upon a', finishReason: 'length', usage });
      const { message, finish } = messageOf(await aimock.ask('hello', { stream, max_tokens: 3 }));
      expect([message.content, finish]).toEqual(['Once upon a', 'length']);
    });
    it('thinks first', async () => {
      aimock.mock.onMessage('hello', { content: 'Yes', reasoning: 'Let me see' }, { chunkSize: 3 });
      const { message } = messageOf(await aimock.ask('hello', { ...thinking, stream }));
      const inText = target.limits.thoughts !== undefined;
      expect([message.reasoning ?? '', message.content]).toEqual(
        inText ? ['', 'Let me seeYes'] : ['Let me see', 'Yes'],
      );
    });
    it('says something, then calls a tool with arguments that are valid', async () => {
      aimock.mock.on(
        { userMessage: 'weather?', toolName: 'get_weather' },
        { content: 'I look it up.', toolCalls: [rome] },
        { chunkSize: 5 },
      );
      const { message, finish } = messageOf(await aimock.ask('weather?', { tools, stream }));
      expect([message.content, callsOf(message), finish]).toEqual(['I look it up.', asCalls([rome]), 'tool_calls']);
    });
    it('calls two tools at once, and takes the message back as it was, with both results', async () => {
      aimock.mock.on(
        { userMessage: 'weather?', hasToolResult: false },
        {
          toolCalls: [paris, rome],
          ...(target.limits.thoughts ? {} : { reasoning: 'Two cities' }),
          reasoningSignature: seals.signature,
          redactedThinking: [seals.redacted],
        },
        { chunkSize: 5 },
      );
      aimock.mock.on({ hasToolResult: true, toolResultContains: '24 degrees' }, { content: 'Rome is warmer' });
      const question = { role: 'user', content: 'weather?' };
      const fields = { tools, stream, ...thinking };
      const { message, finish } = messageOf(await aimock.ask('', { ...fields, messages: [question] }));
      expect([callsOf(message), finish]).toEqual([asCalls([paris, rome]), 'tool_calls']);
      const results = [
        { role: 'tool', tool_call_id: paris.id, content: '18 degrees' },
        { role: 'tool', tool_call_id: rome.id, content: '24 degrees' },
      ];
      const second = await aimock.ask('', { ...fields, messages: [question, message, ...results] });
      expect(messageOf(second)).toMatchObject({ message: { content: 'Rome is warmer' }, finish: 'stop' });
      const seen = matched().messages;
      const ids = target.ownIds ?? [paris.id, rome.id];
      expect(seen.flatMap((one) => callsOf(one))).toEqual(
        asCalls([paris, rome]).map((call, at) => ({ ...call, id: ids[at] })),
      );
      expect(seen.filter(({ role }) => (role as string) === 'tool')).toEqual([
        { role: 'tool', tool_call_id: ids[0], content: expect.stringContaining('18 degrees') },
        { role: 'tool', tool_call_id: ids[1], content: expect.stringContaining('24 degrees') },
      ]);
      // aimock is strict: without its thought in front, it refuses a call of Anthropic that comes back.
      for (const seal of target.sealed)
        expect(aimock.sent.map((sent) => sent.text.includes(seal))).toEqual([false, true]);
    });
    it('calls, says, calls again: no word and no call is lost', async () => {
      const blocks = [
        { type: 'toolCall' as const, ...paris },
        { type: 'text' as const, text: 'And now Rome.' },
        { type: 'toolCall' as const, ...rome },
      ];
      aimock.mock.onMessage('weather?', { blocks }, { chunkSize: 5 });
      const { message, finish } = messageOf(await aimock.ask('weather?', { tools, stream }));
      expect([message.content, callsOf(message), finish]).toEqual([
        'And now Rome.',
        asCalls([paris, rome]),
        'tool_calls',
      ]);
    });
    it.each(['{}', ''])("calls a tool that takes nothing by '%s': its arguments are an empty object", async (given) => {
      aimock.mock.onMessage('time?', { toolCalls: [{ id: 'call_time_03', name: 'get_time', arguments: given }] });
      const clock = [
        { type: 'function', function: { name: 'get_time', parameters: { type: 'object', properties: {} } } },
      ];
      const { message, finish } = messageOf(await aimock.ask('time?', { tools: clock, stream }));
      expect([callsOf(message), finish]).toEqual([
        [{ id: 'call_time_03', name: 'get_time', arguments: {} }],
        'tool_calls',
      ]);
    });
    it('gets the schema of the output, and gives back such JSON', async () => {
      const schema = { ...parameters, additionalProperties: false };
      const json_schema = { name: 'place', strict: true, schema };
      for (const responseFormat of ['json_schema', 'json_object'])
        aimock.mock.on({ userMessage: 'place?', responseFormat }, { content: '{"city":"Bern"}' });
      aimock.mock.onMessage('place?', { content: '{"city":"Nowhere"}' });
      const fields = { stream, response_format: { type: 'json_schema', json_schema } };
      const { message } = messageOf(await aimock.ask('place?', fields));
      const isSeen = target.limits.seesForm === undefined;
      expect(JSON.parse(String(message.content))).toEqual({ city: isSeen ? 'Bern' : 'Nowhere' });
      expect(target.schemaIn(aimock.sent[0]?.body)).toMatchObject(schema);
    });
    it('gets an image, byte for byte', async () => {
      aimock.mock.onMessage('What is this?', { content: 'A pixel' });
      const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } };
      const answer = await aimock.ask([{ type: 'text', text: 'What is this?' }, image], { stream });
      expect(messageOf(answer).message.content).toBe('A pixel');
      expect(target.imageIn(aimock.sent[0]?.body)).toBe(png);
    });
  });
});
