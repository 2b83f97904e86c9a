import fc from 'fast-check';
import { expect, it } from 'vitest';
import { unpackReasoning } from '../../src/formats/responses/packed-reasoning.ts';
import type { Transport } from '../../src/transport/transport.ts';
import { eventFrame } from '../support/converse-wire.ts';
import * as chat from '../support/fit/chat.ts';
import * as others from '../support/fit/others.ts';
import type { Validator } from '../support/fit/seen.ts';
import { testGateway, testKey } from '../support/gateway.ts';
import { runs } from '../support/runs.ts';
import { joinMessage } from '../support/said-messages.ts';
import { type Said, sealOf, speakingFormats } from '../support/speaking-upstream.ts';

type Json = Record<string, unknown>;

const callsIn = (said: Said) => said.some((one) => typeof one === 'object');
const idOf = (number: number, at: number) => `call|${number}.${at}`;

/** How Claude writes a response, at its maker's and at Bedrock. */
const blocksOf = (said: Said, number: number): Json[] =>
  said.map((one, at): Json => {
    if (one === 'thought')
      return { type: 'thinking', thinking: `thought ${number}.${at}`, signature: sealOf(number, at) };
    if (one === 'text') return { type: 'text', text: `said ${number}.${at}` };
    return { type: 'tool_use', id: `toolu_${number}_${at}`, name: one.call, input: one.input };
  });
const messageOf = (said: Said, number: number, content: Json[]) => ({
  id: `msg_${number}`,
  type: 'message',
  role: 'assistant',
  model: 'm',
  content,
  stop_reason: callsIn(said) ? 'tool_use' : 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 10 },
});
const eventsOf = (said: Said, number: number): Json[] => {
  const blocks = blocksOf(said, number).flatMap((block, index): Json[] => {
    const delta = (fields: Json) => ({ type: 'content_block_delta', index, delta: fields });
    const start = (fields: Json) => ({ type: 'content_block_start', index, content_block: { ...block, ...fields } });
    const more =
      block.type === 'text'
        ? [start({ text: '' }), delta({ type: 'text_delta', text: block.text })]
        : block.type === 'thinking'
          ? [
              start({ thinking: '', signature: '' }),
              delta({ type: 'thinking_delta', thinking: block.thinking }),
              delta({ type: 'signature_delta', signature: block.signature }),
            ]
          : [start({ input: {} }), delta({ type: 'input_json_delta', partial_json: JSON.stringify(block.input) })];
    return [...more, { type: 'content_block_stop', index }];
  });
  const { stop_reason, usage, ...begun } = messageOf(said, number, []);
  return [
    { type: 'message_start', message: { ...begun, stop_reason: null, usage } },
    ...blocks,
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 10 } },
    { type: 'message_stop' },
  ];
};
const complete = (said: Said, number: number) => messageOf(said, number, blocksOf(said, number));
const sse = (events: Json[]) => events.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`).join('');
const framed = (events: Json[]) =>
  Buffer.concat(
    events.map((one) => eventFrame('chunk', { bytes: Buffer.from(JSON.stringify(one)).toString('base64') })),
  );

interface Place {
  model: string;
  settings: Json;
  validate: Validator;
  /** Who reads what the provider has sealed. */
  family: string;
  complete(said: Said, number: number): unknown;
  stream(said: Said, number: number): Uint8Array | string;
  /** The parts that come back sealed, where the provider wants them. */
  seals: 'thought' | 'call' | null;
}

const spoken = (name: keyof typeof speakingFormats) => ({
  complete: (said: Said, number: number) => speakingFormats[name].complete(said, number),
  stream: (said: Said, number: number) => speakingFormats[name].stream(said, number),
});
/** Details in a form of their own, and ids of calls that no other provider takes. */
const inOwnForm = (text: string) =>
  text
    .replaceAll('anthropic-claude-v1', 'own-form-v1')
    .replace(/"call_(\d+)_(\d+)"/g, (_, n, at) => `"${idOf(Number(n), Number(at))}"`);

const places: Record<string, Place> = {
  claude: {
    model: 'claude-sonnet-4-6',
    settings: { dialect: 'anthropic-messages' },
    validate: others.anthropic,
    family: 'claude',
    complete,
    stream: (said, number) => sse(eventsOf(said, number)),
    seals: 'thought',
  },
  'amazon-bedrock': {
    model: 'anthropic.claude-sonnet-4-6',
    settings: { credential: { region: 'us-east-1' } },
    validate: others.anthropic,
    family: 'claude',
    complete,
    stream: (said, number) => framed(eventsOf(said, number)),
    seals: 'thought',
  },
  chat: {
    model: 'own-1',
    settings: {
      dialect: 'openai-chat',
      quirks: { reasoningField: 'reasoning_details', reasoningFormat: 'own-form-v1' },
    },
    validate: chat.openai,
    family: 'chat',
    complete: (said, number) =>
      JSON.parse(inOwnForm(JSON.stringify(speakingFormats['openai-chat'].complete(said, number)))),
    stream: (said, number) => inOwnForm(new TextDecoder().decode(speakingFormats['openai-chat'].stream(said, number))),
    seals: 'thought',
  },
  responses: {
    model: 'gpt-5.1',
    settings: { dialect: 'openai-responses' },
    validate: others.responses,
    family: 'responses',
    ...spoken('openai-responses'),
    seals: 'thought',
  },
  gemini: {
    model: 'gemini-3-pro',
    settings: { dialect: 'google-generate-content' },
    validate: others.google,
    family: 'gemini',
    ...spoken('google-generate-content'),
    seals: 'call',
  },
};
const names = Object.keys(places);

const saids: fc.Arbitrary<Said> = fc
  .tuple(fc.boolean(), fc.integer({ min: 0, max: 2 }))
  .map(
    ([hasText, calls]): Said => [
      'thought',
      ...(hasText || calls === 0 ? (['text'] as const) : []),
      ...Array.from({ length: calls }, (_, at) => ({ call: 'weather', input: { at } })),
    ],
  );
const story = fc.array(fc.record({ at: fc.constantFrom(...names), stream: fc.boolean() }), {
  minLength: 2,
  maxLength: 6,
});

interface SentTo {
  place: string;
  text: string;
  said: Said;
}

async function play(turns: readonly { at: string; stream: boolean }[], seed: number): Promise<SentTo[]> {
  const scripts = fc.sample(saids, { numRuns: 40, seed }).values();
  const sent: SentTo[] = [];
  const transport: Transport = {
    async send({ url, body }) {
      const place = names.find((name) => url.includes(`//${name}.test`)) ?? 'amazon-bedrock';
      const said = scripts.next().value ?? ['text'];
      const number = sent.push({ place, text: body as string, said });
      const speaks = places[place] as Place;
      const isStream = /stream/i.test(url) || (JSON.parse(body as string) as Json).stream === true;
      const out = isStream ? speaks.stream(said, number) : JSON.stringify(speaks.complete(said, number));
      const pieces = [typeof out === 'string' ? new TextEncoder().encode(out) : new Uint8Array(out)];
      const type = isStream
        ? place === 'amazon-bedrock'
          ? 'application/vnd.amazon.eventstream'
          : 'text/event-stream'
        : 'application/json';
      return {
        status: 200,
        headers: { 'content-type': type },
        body: { read: async () => pieces.shift() ?? null, cancel: () => undefined },
      };
    },
  };
  const providers = Object.fromEntries(
    names.map((name) => [
      name,
      {
        apiKey: `sk-${name}-0123456789`,
        ...(name === 'amazon-bedrock' ? {} : { baseUrl: `https://${name}.test/v1` }),
        ...places[name]?.settings,
      },
    ]),
  );
  const models = names.map((name) => ({
    slug: `acme/${name}`,
    endpoints: [{ provider: name, model: (places[name] as Place).model }],
  }));
  const tested = testGateway({ transport, providers, models } as never);
  const messages: Json[] = [];
  let steps = 0;
  for (const [number, { at, stream }] of turns.entries()) {
    messages.push({ role: 'user', content: [{ type: 'text', text: `Question ${number}` }] });
    for (;;) {
      const request = new Request('http://gateway.test/v1/messages', {
        method: 'POST',
        headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model: `acme/${at}`,
          max_tokens: 2_000,
          stream,
          messages,
          thinking: { type: 'adaptive' },
          tools: [{ name: 'weather', input_schema: { type: 'object', properties: { at: {} } } }],
        }),
      });
      const response = await tested.run(tested.gateway.fetch(request));
      const text = await tested.run(response.text());
      expect(response.status, text).toBe(200);
      const content = (stream ? joinMessage(text).message : (JSON.parse(text) as Json)).content as Json[];
      messages.push({ role: 'assistant', content });
      const calls = content.filter(({ type }) => type === 'tool_use');
      if (calls.length === 0) break;
      messages.push({
        role: 'user',
        content: calls.map(({ id }) => ({
          type: 'tool_result',
          tool_use_id: id,
          content: [{ type: 'text', text: 'sunny' }],
        })),
      });
      if (steps++ > 8) return sent;
    }
  }
  return sent;
}

let cameBack = 0;
let stayedAway = 0;

function judge(sent: readonly SentTo[]): void {
  for (const [at, { place, text }] of sent.entries()) {
    const { validate, family } = places[place] as Place;
    expect([place, validate(text).faults]).toEqual([place, []]);
    for (const seal of sealsIn(JSON.parse(text))) expect(unpackReasoning(seal)).toBeNull();
    for (const [earlier, { place: maker, said }] of sent.slice(0, at).entries())
      for (const [part, one] of said.entries()) {
        const { seals, family: own } = places[maker] as Place;
        const isSealed = seals === 'thought' ? one === 'thought' : seals === 'call' && typeof one === 'object';
        const isThere = text.includes(sealOf(earlier + 1, part));
        if (own !== family) {
          expect([place, maker, isThere]).toEqual([place, maker, false]);
          stayedAway++;
        } else if (isSealed) {
          expect([place, maker, one, isThere]).toEqual([place, maker, one, true]);
          cameBack++;
        }
      }
  }
}

/** Whatever a body has in a field for something sealed. */
function sealsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    typeof inner === 'string' && /signature|data|encrypted/i.test(name) ? [inner] : sealsIn(inner),
  );
}

it('a conversation of Messages that moves between providers is taken by each, and what is sealed goes to its maker alone', async () => {
  await fc.assert(
    fc.asyncProperty(story, fc.integer(), async (turns, seed) => judge(await play(turns, seed))),
    { numRuns: runs(12, 300), seed: 7 },
  );
  expect([cameBack > 5, stayedAway > 5]).toEqual([true, true]);
});
