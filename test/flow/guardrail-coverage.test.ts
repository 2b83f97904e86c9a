// Loaded beforehand: a guardrail loads it when it is first needed, which takes time that a manual clock knows nothing of.
import 're2js';
import { describe, expect, it } from 'vitest';
import type { GuardrailAction } from '../../src/guardrails/text/pattern.ts';
import { textGuardrail } from '../../src/guardrails/text-guardrail.ts';
import { chatRequestSchema, chatResultSchema } from '../../src/schema/chat/chat.ts';
import { chatChunkSchema } from '../../src/schema/chat/chunk.ts';
import { responsesEventSchema } from '../../src/schema/responses/events.ts';
import { responsesRequestSchema } from '../../src/schema/responses/responses.ts';
import { outputItemSchema } from '../../src/schema/responses/result.ts';
import { nativeMessage, nativeMessageEvents, nativeResponse, nativeStream } from '../support/ask-responses.ts';
import { dialects } from '../support/dialects.ts';
import { type TestGateway, testGateway, testKey } from '../support/gateway.ts';
import { type Hiding, hidingsIn } from '../support/hidden-texts.ts';
import { runs } from '../support/runs.ts';
import { chunk, completion, errorBody, sse } from '../support/upstream.ts';

/** Those of a provider that a host app sets up by its URL. */
const spoken = Object.keys(dialects).filter((name) => name !== 'ai-sdk');

/** Each dialect is tried with another part of the places; in the long run, with all. */
const stride = runs(6, 1);

const hidden = { text: 'bluebird', number: 4_242_424_242 };
const needles = [hidden.text, String(hidden.number)];

/** The exceptions that docs/guardrails.md lists. */
const excepted = /^(?:\.?(?:models?|provider|route)(?:[.[]|$)|plugins\[\]\.(?:\w+_)?models?(?:\[|$))/;

const wires = {
  '/chat/completions': hidingsIn(chatRequestSchema(), hidden),
  '/responses': hidingsIn(responsesRequestSchema() as never, hidden),
};
/** In how many of the places a pattern that blocks is met: the others refuse the request for what it is, or go nowhere. */
const leastFound = { '/chat/completions': 570, '/responses': 690 };
const hidingsOf = (path: keyof typeof wires): Hiding[] => wires[path].filter(({ place }) => !excepted.test(place));

interface Guarded extends TestGateway {
  logs: string[];
}

function guarded(action: GuardrailAction, dialect: string): Guarded {
  const logs: string[] = [];
  const log = (...said: unknown[]) => void logs.push(JSON.stringify(said));
  const test = testGateway({
    guardrails: [
      textGuardrail({
        id: 'hidden',
        patterns: needles.map((literal) => ({ literal, name: 'found', action })),
      }),
    ],
    providers: { up: { baseUrl: 'https://up.test/v1', apiKey: 'sk-a-key-of-the-operator', dialect: dialect as never } },
    models: [{ slug: 'acme/m', endpoints: [{ provider: 'up', model: 'claude-sonnet-4-5' }] }],
    retry: { maxAttempts: 1 },
    logger: { debug: log, info: log, warn: log, error: log } as never,
  });
  test.upstream.always({ status: 400, body: errorBody('Not now') });
  return { ...test, logs };
}

interface Loose {
  [name: string]: unknown;
}

const chatPrefix = (id: unknown) => [
  { role: 'user', content: 'Hi' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '{}' } }],
  },
];
const itemsPrefix = (id: unknown, custom: boolean) => [
  { type: 'message', role: 'user', content: 'Hi' },
  custom
    ? { type: 'custom_tool_call', call_id: id, name: 'f', input: 'x' }
    : { type: 'function_call', call_id: id, name: 'f', arguments: '{}' },
];

/** The hidden value in a request that has what it refers to. */
function bodyOf(path: string, value: unknown): Loose {
  const given = value as Loose;
  const body: Loose = { ...given, model: 'acme/m' };
  if (path === '/responses') {
    const [item] = Array.isArray(given.input) ? (given.input as Loose[]) : [];
    const type = String(item?.type);
    if (item !== undefined)
      body.input = [...itemsPrefix(item.call_id ?? item.id ?? 'x', type.startsWith('custom')), item];
  } else {
    const [message] = (given.messages ?? []) as Loose[];
    if (message !== undefined) body.messages = [...chatPrefix(message.tool_call_id ?? 'x'), message];
  }
  return body;
}

async function askRaw(test: Guarded, path: string, body: Loose) {
  const [sent, records] = [test.upstream.sent.length, test.records.length];
  const response = await test.run(
    test.gateway.fetch(`http://gateway.test/v1${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${testKey}`,
        'content-type': 'application/json',
        'x-service-metadata': 'enabled',
      },
      body: JSON.stringify(body),
    }),
  );
  const { status } = response;
  const text = await test.run(response.text());
  const told = {
    sent: test.upstream.sent.slice(sent).map(({ text: one, url, headers: of }) => [one, url, of]),
    answer: text,
    records: test.records.slice(records),
  };
  const leaks = Object.entries(told).flatMap(([where, what]) => {
    const all = JSON.stringify(what);
    return needles.some((needle) => all.includes(needle)) ? [`${where} ${status}`] : [];
  });
  return { status, text, leaks };
}

async function ask(test: Guarded, path: string, value: unknown) {
  const answer = await askRaw(test, path, bodyOf(path, value));
  return { ...answer, json: JSON.parse(answer.text) };
}

describe.each(Object.keys(wires) as (keyof typeof wires)[])('a text that is hidden in a request to %s', (path) => {
  it('is found at every place of its schema that goes anywhere', async () => {
    const test = guarded('block', 'openai-chat');
    const missed: string[] = [];
    let found = 0;
    for (const { place, value } of hidingsOf(path)) {
      const { status, json, leaks } = await ask(test, path, value);
      if (status === 403 && json.error.metadata.patterns?.[0] === 'found') found++;
      if (leaks.length > 0) missed.push(`${place}: ${leaks} ${JSON.stringify(json.error?.message)}`);
    }
    expect(missed).toEqual([]);
    expect(found).toBeGreaterThan(leastFound[path]);
    for (const needle of needles) expect(JSON.stringify(test.logs)).not.toContain(needle);
  }, 120_000);

  it.each(spoken)(
    'is redacted, or the request refused, before anybody gets it: %s',
    async (dialect) => {
      const test = guarded('redact', dialect);
      const missed: string[] = [];
      const first = spoken.indexOf(dialect);
      for (const { place, value } of hidingsOf(path).filter((_, at) => (at + first) % stride === 0)) {
        const { leaks } = await ask(test, path, value);
        if (leaks.length > 0) missed.push(`${place}: ${leaks}`);
      }
      expect(missed).toEqual([]);
      for (const needle of needles) expect(JSON.stringify(test.logs)).not.toContain(needle);
      expect(JSON.stringify(test.upstream.sent.map(({ text }) => text))).toContain('[REDACTED:found]');
    },
    120_000,
  );
});

/** What an upstream answers, with something hidden in it. */
interface HidingAnswer {
  place: string;
  dialect: string;
  isStream: boolean;
  body: object | string[];
}

/** The gateway counts and checks usage, and writes ids, models and times itself: docs/guardrails.md has both. */
const exceptedOfAnswers = /^(?:\w*\.?)?(?:usage|id|model|provider|created|object|service_metadata|debug)(?:[.[]|$)/;

function answers(): HidingAnswer[] {
  const others = (found: Hiding[]) => found.filter(({ place }) => !exceptedOfAnswers.test(place));
  const chat = others(hidingsIn(chatResultSchema(), hidden)).map(({ place, value }): HidingAnswer => {
    const given = value as { choices: Loose[] };
    const choices = given.choices.length > 0 ? given.choices : [{ index: 0, message: { role: 'assistant' } }];
    const body = completion({ ...given, choices: choices.map((one) => ({ ...one, index: 0, finish_reason: 'stop' })) });
    return { place: `chat ${place}`, dialect: 'openai-chat', isStream: false, body };
  });
  const chunks = others(hidingsIn(chatChunkSchema(), hidden)).map(({ place, value }): HidingAnswer => {
    const given = value as { choices: Loose[] };
    const said = {
      ...chunk({}),
      ...given,
      choices: given.choices.map((one) => ({ finish_reason: null, ...one, index: 0 })),
    };
    const body = [sse(chunk({ role: 'assistant', content: 'Hi' }), said, chunk({}, 'stop'), '[DONE]')];
    return { place: `chunk ${place}`, dialect: 'openai-chat', isStream: true, body };
  });
  const items = hidingsIn(outputItemSchema() as never, hidden).flatMap(({ place, value }): HidingAnswer[] => {
    const item = { id: 'item_1', status: 'completed', ...(value as Loose) };
    const events = [
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.output_item.done', output_index: 0, item },
    ];
    const of = { dialect: 'openai-responses' };
    return [
      { ...of, place: `item ${place}`, isStream: false, body: nativeResponse([item, nativeMessage('Hi')]) },
      { ...of, place: `item ${place}`, isStream: true, body: nativeStream(events, [item, nativeMessage('Hi')]) },
    ];
  });
  const told = others(hidingsIn(responsesEventSchema() as never, hidden)).map(({ place, value }): HidingAnswer => {
    const [added, ...more] = nativeMessageEvents(0, ['Hi']) as [object, ...object[]];
    const body = nativeStream([added, value as object, ...more], [nativeMessage('Hi')]);
    return {
      place: `event ${String((value as Loose).type)} ${place}`,
      dialect: 'openai-responses',
      isStream: true,
      body,
    };
  });
  return [...chat, ...chunks, ...items, ...told];
}

describe('a text that a provider hides in its response', () => {
  it.each([
    ['redact', '/chat/completions', runs(37, 85)],
    ['block', '/chat/completions', runs(38, 87)],
    ['redact', '/responses', runs(22, 88)],
    ['block', '/responses', runs(17, 68)],
  ] as const)(
    'reaches neither the client nor a record where it is to be found: %s, %s',
    async (action, path, least) => {
      const tests = new Map(['openai-chat', 'openai-responses'].map((name) => [name, guarded(action, name)]));
      const missed: string[] = [];
      let found = 0;
      for (const { place, dialect, isStream, body } of answers().filter((_, at) => at % runs(4, 1) === 0)) {
        const test = tests.get(dialect) as Guarded;
        test.upstream.answer({ body: body as object });
        const asked = path === '/responses' ? { input: 'Hi' } : { messages: [{ role: 'user', content: 'Hi' }] };
        const { status, text, leaks } = await askRaw(test, path, { ...asked, model: 'acme/m', stream: isStream });
        if (status === 403 || text.includes('"code":403') || text.includes('[REDACTED:found]')) found++;
        if (leaks.length > 0) missed.push(`${place} (stream: ${isStream}): ${leaks}`);
      }
      expect(missed).toEqual([]);
      expect(found).toBeGreaterThan(least);
      for (const { logs } of tests.values())
        for (const needle of needles) expect(JSON.stringify(logs)).not.toContain(needle);
    },
    120_000,
  );
});
