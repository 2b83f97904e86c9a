import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stallOf } from '../support/stalls/heartbeat.ts';
import { dialectNames, stallWorld, type World } from '../support/stalls/world.ts';

let world: World;
beforeAll(async () => {
  world = await stallWorld();
  const warm = JSON.stringify({ model: 'acme/fast', messages: [{ role: 'user', content: 'Hi' }] });
  for (let time = 0; time < 1_100; time++) await world.send('POST', '/messages', warm);
});
afterAll(() => world.gateway.close());

/** So many of an object as one body may hold: 50,000 values. @param share  the part of the body that they may take */
function many(one: (at: number) => object, share = 0.98): object[] {
  const values = (JSON.stringify(one(0)).match(/[{[,:]/g)?.length ?? 0) + 1;
  return Array.from({ length: Math.floor((50_000 * share) / values) }, (_, at) => one(at));
}

async function send(path: string, text: string): Promise<void> {
  const status = await world.send('POST', path, new TextEncoder().encode(text));
  // It is no larger than is allowed, and nothing is broken here: the provider answers chat requests alone.
  expect([413, 500, 503, 504]).not.toContain(status);
}

const hi = { role: 'user', content: 'Hi' };
const says = (...content: object[]) => [hi, { role: 'assistant', content }];
const asks = (...content: object[]) => [{ role: 'user', content }];
const use = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} });

const messages: readonly (readonly [string, object[]])[] = [
  ['calls of one id', says(...many(() => use('a')))],
  ['calls of one id, in turns of their own', many(() => ({ role: 'assistant', content: [use('a')] }))],
  ['calls whose ids begin alike', says(...many((at) => use(`${'a'.repeat(64)}.${at}`)))],
  ['results of one call', asks(...many(() => ({ type: 'tool_result', tool_use_id: 'a' })))],
  ['empty texts', asks(...many(() => ({ type: 'text', text: '' })))],
  ['marked texts', asks(...many(() => ({ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } })))],
  ['thoughts', says(...many((at) => ({ type: 'thinking', thinking: 'a', signature: `${at}` })))],
  ['blocks of unknown types', asks(...many((at) => ({ type: `a${at}` })))],
  ['references to tools', asks(...many((at) => ({ type: 'tool_reference', tool_name: `${at}` })))],
];

const model = (...parts: object[]) => [{ parts: [{ text: 'Hi' }] }, { role: 'model', parts }];
const call = (more: object = {}) => ({ functionCall: { name: 'f', args: {}, ...more } });
const answer = (more: object = {}) => ({ functionResponse: { name: 'f', response: {}, ...more } });

const contents: readonly (readonly [string, object[]])[] = [
  ['calls without ids', model(...many(() => call()))],
  ['calls of one id', model(...many(() => call({ id: 'a' })))],
  [
    'calls, and responses that name no call',
    [...model(...many(() => call(), 0.3)), { parts: many(() => answer({ name: 'g' }), 0.3) }],
  ],
  [
    'calls, and responses in the other order',
    [
      ...model(...many((at) => call({ id: `a${at}` }), 0.49)),
      { parts: many((at) => answer({ id: `a${at}` }), 0.49).toReversed() },
    ],
  ],
  ['turns of the model', many(() => ({ role: 'model', parts: [{ text: 'a' }] }))],
  ['signatures', model(...many((at) => ({ text: 'a', thoughtSignature: `${at}` })))],
  ['names of files', [{ parts: many((at) => ({ fileData: { fileUri: `files/${at}` } })) }]],
];

describe('no turn of the event loop is long, whatever a client says in', () => {
  it.each(dialectNames)('Messages, at a provider that speaks %s', async (dialect) => {
    const stalls: string[] = [];
    for (const [name, said] of messages) {
      const text = JSON.stringify({ model: `acme/${dialect}`, max_tokens: 10, messages: said });
      const stall = await stallOf(() => send('/messages', text), text);
      if (stall !== null) stalls.push(`${name}: ${stall}`);
    }
    expect(stalls).toEqual([]);
  });
  it.each(dialectNames)('the Gemini wire, at a provider that speaks %s', async (dialect) => {
    const stalls: string[] = [];
    for (const [name, said] of contents) {
      const text = JSON.stringify({ contents: said });
      const stall = await stallOf(() => send(`/models/acme/${dialect}:generateContent`, text), text);
      if (stall !== null) stalls.push(`${name}: ${stall}`);
    }
    expect(stalls).toEqual([]);
  });
});
