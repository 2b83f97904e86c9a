import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defineProvider } from '../../src/providers/provider.ts';
import { dialectTurns } from '../support/dialect-turns.ts';
import { cases } from '../support/fit/cases.ts';
import { replayGateway } from '../support/replay.ts';
import { runs } from '../support/runs.ts';

// biome-ignore lint/suspicious/noExplicitAny: of any response, for a test to look into
type Json = any;

/** A provider of each dialect, each with the rules of what it accepts. */
const names = ['any OpenAI-like server', 'OpenAI, Responses', 'Anthropic', 'Bedrock', 'Gemini 3', 'Cohere'];
const providers = names.map((name) => {
  const { dialect, quirks: usual, validate } = cases[name] as (typeof cases)[string];
  // A server whose thoughts have a known format gets those of no other. One of an unknown format may pass them on.
  const isChat = dialect.name === 'openai-chat';
  const quirks = isChat ? { reasoningField: 'reasoning_details', reasoningFormat: 'MiniMax-response-v1' } : usual;
  const provider = defineProvider({ slug: 'replay', baseUrl: 'http://replay.invalid/v1', dialect, quirks });
  const turns = dialectTurns[dialect.name] as (typeof dialectTurns)[string];
  return { name, validate, turns, replay: replayGateway({ provider }) };
});

const tools = [
  {
    functionDeclarations: [
      { name: 'get_weather', parameters: { type: 'OBJECT', properties: { city: { type: 'STRING' } } } },
    ],
  },
];
/** The response of a turn, whose calls have ids of their own. */
const pieces = (response: object, turn: number) => [
  new TextEncoder().encode(JSON.stringify(response).replace(/_(Paris|Rome)"/g, `_${turn}_$1"`)),
];

describe('a conversation of the Gemini wire that moves on to another provider at each turn', () => {
  it('is accepted by each of them, and each gets its own signatures alone', async () => {
    const orders = fc.shuffledSubarray(providers, { minLength: 2 });
    await fc.assert(
      fc.asyncProperty(orders, fc.boolean(), fc.boolean(), async (order, keepsThoughts, returnsToFirst) => {
        const contents: Json[] = [{ role: 'user', parts: [{ text: 'What is the weather in Paris and in Rome?' }] }];
        const asked: typeof providers = [];
        for (const one of returnsToFirst ? [...order, order[0] as (typeof order)[number]] : order) {
          const { status, text } = await one.replay.generate(
            { headers: { 'content-type': 'application/json' }, pieces: pieces(one.turns.response, asked.length) },
            { contents, tools },
            ':generateContent',
          );
          expect(status, `${one.name}: ${text}`).toBe(200);
          const sent = JSON.stringify(one.replay.lastSent());
          // Google's own calls need no id.
          const faults = one.validate(sent).faults.filter((fault) => !fault.endsWith('id undefined twice'));
          expect([one.name, faults], sent).toEqual([one.name, []]);
          const foreign = asked.filter(({ name }) => name !== one.name).flatMap(({ turns }) => turns.opaque);
          expect([one.name, foreign.filter((opaque) => sent.includes(opaque)), sent]).toEqual([one.name, [], sent]);
          expect(sent).not.toContain('gateway-reasoning');
          if (one.name === 'Gemini 3') expect(unsignedTurns(JSON.parse(sent))).toEqual([]);
          if (asked.includes(one) && one.name !== 'Cohere' && one.turns.takesBack)
            expect([one.name, one.turns.opaque.some((opaque) => sent.includes(opaque))]).toEqual([one.name, true]);
          if (asked.includes(one)) break;
          asked.push(one);
          const { content } = JSON.parse(text).candidates[0];
          const parts = content.parts.filter((part: Json) => keepsThoughts || part.thought !== true);
          const calls: Json[] = parts.flatMap(({ functionCall: call }: Json) => (call === undefined ? [] : [call]));
          expect(calls).toHaveLength(2);
          const responses = calls.map(({ id, name }) => ({
            functionResponse: { id, name, response: { output: '18' } },
          }));
          contents.push({ role: 'model', parts }, { role: 'user', parts: responses });
        }
      }),
      { numRuns: runs(20, 300), seed: 7 },
    );
  });
});

/** The turns of a model with calls of which the first has no signature: Gemini 3 refuses them. */
function unsignedTurns({ contents }: Json): Json[] {
  return contents.filter(({ role, parts }: Json) => {
    const first = parts.find(({ functionCall }: Json) => functionCall !== undefined);
    return role === 'model' && first !== undefined && !first.thoughtSignature;
  });
}
