import { describe, expect, it } from 'vitest';
import type { Dialect } from '../../src/dialects/dialect.ts';
import { defineProvider } from '../../src/providers/provider.ts';
import type { ChatResult } from '../../src/schema/chat/chat.ts';
import { type DialectTurns, dialectTurns } from '../support/dialect-turns.ts';
import { dialects } from '../support/dialects.ts';
import { replayGateway } from '../support/replay.ts';

const all = Object.entries(dialects) as unknown as [string, Dialect][];
const turnsOf = (name: string) => dialectTurns[name] as DialectTurns;

/** Every dialect, and those whose quirks decide what comes back. */
const targets: [string, Dialect, object][] = [
  ...all.map(([name, dialect]): [string, Dialect, object] => [name, dialect, {}]),
  ...['reasoning_content', 'reasoning', 'reasoning_details'].map((reasoningField): [string, Dialect, object] => [
    'openai-chat',
    dialects['openai-chat'] as unknown as Dialect,
    { reasoningField, reasoningFormat: 'of-its-own' },
  ]),
];
const pairs = all.flatMap(([from]) =>
  targets.map(([to, dialect, quirks]): [string, string, object, Dialect] => [from, to, quirks, dialect]),
);

const question = { role: 'user', content: 'What is the weather in Paris and in Rome?' };
const tools = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  },
];
const weather: Readonly<Record<string, string>> = { Paris: '18 degrees', Rome: '24 degrees' };

function gatewayFor(dialect: Dialect, quirks: object = {}) {
  return replayGateway({
    provider: defineProvider({ slug: 'replay', baseUrl: 'http://replay.invalid/v1', dialect, quirks }),
  });
}

/** What the client gets of a dialect's response. */
async function firstTurn(name: string, dialect: Dialect): Promise<ChatResult['choices'][number]> {
  const pieces = [new TextEncoder().encode(JSON.stringify(turnsOf(name).response))];
  const headers = { 'content-type': 'application/json' };
  const { status, text } = await gatewayFor(dialect).send({ headers, pieces }, { messages: [question], tools });
  expect([status, text]).toEqual([200, expect.any(String)]);
  return (JSON.parse(text) as ChatResult).choices[0] as ChatResult['choices'][number];
}

/** The body that a provider gets, of a conversation in which the client sends everything back as it came. */
async function secondTurn(
  { message }: ChatResult['choices'][number],
  name: string,
  dialect: Dialect,
  quirks: object = {},
) {
  const gateway = gatewayFor(dialect, quirks);
  const results = (message.tool_calls ?? []).map((call) => ({
    role: 'tool',
    tool_call_id: call.id,
    content: weather[JSON.parse(call.function.arguments).city],
  }));
  const pieces = [new TextEncoder().encode(JSON.stringify(turnsOf(name).response))];
  const headers = { 'content-type': 'application/json' };
  const { status, text } = await gateway.send(
    { headers, pieces },
    { messages: [question, message, ...results], tools, reasoning: { effort: 'low' } },
  );
  expect([status, text]).toEqual([200, expect.any(String)]);
  return { body: gateway.lastSent(), dropped: gateway.lastRecord().attempts[0]?.dropped ?? [] };
}

describe('a conversation that goes on at another provider', () => {
  it('is tried with every dialect', () => {
    expect(Object.keys(dialectTurns)).toEqual(expect.arrayContaining(all.map(([name]) => name)));
  });
  it.each(all)(
    'begins with a response of %s, of which the client gets the thought and both calls',
    async (name, dialect) => {
      const { message, finish_reason: reason } = await firstTurn(name, dialect);
      expect(reason).toBe('tool_calls');
      const calls = message.tool_calls ?? [];
      expect(calls.map((call) => [call.function.name, JSON.parse(call.function.arguments)])).toEqual([
        ['get_weather', { city: 'Paris' }],
        ['get_weather', { city: 'Rome' }],
      ]);
      expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
      expect(message.reasoning).toContain('two cities');
      for (const opaque of turnsOf(name).opaque) expect(JSON.stringify(message)).toContain(opaque);
    },
  );
  it.each(pairs)(
    'goes from %s to %s (%j) with its calls and results, and without what is not for that provider',
    async (from, to, quirks, dialect) => {
      const first = await firstTurn(from, (dialects as unknown as Record<string, Dialect>)[from] as Dialect);
      const { body, dropped } = await secondTurn(first, to, dialect, quirks);
      const { calls, results } = turnsOf(to).read(body);
      const given = first.message.tool_calls ?? [];
      expect(calls.map(({ name, arguments: args }) => [name, args])).toEqual([
        ['get_weather', { city: 'Paris' }],
        ['get_weather', { city: 'Rome' }],
      ]);
      // A dialect without ids knows results by the name and the order of their calls.
      const ids = given.map(({ id }) => id);
      if (calls.every(({ id }) => id === ''))
        expect(results.map(({ id }) => id)).toEqual(['get_weather', 'get_weather']);
      else expect([calls.map(({ id }) => id), results.map(({ id }) => id)]).toEqual([ids, ids]);
      expect(results.map(({ text }) => text)).toEqual(
        Object.values(weather).map((text) => expect.stringContaining(text)),
      );
      const text = JSON.stringify(body);
      const { opaque, takesBack } = turnsOf(from);
      const comesBack = from === to && takesBack;
      for (const one of opaque) expect([one, text.includes(one)]).toEqual([one, comesBack]);
      if (!comesBack && opaque.length > 0)
        expect(dropped.filter((path) => path.startsWith('messages[].reasoning'))).not.toEqual([]);
    },
  );
});
