import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SearchResult } from '../../src/call/search.ts';
import { textGuardrail } from '../../src/guardrails/text-guardrail.ts';
import { chatRequestSchema, chatResultSchema } from '../../src/schema/chat/chat.ts';
import { chatChunkSchema } from '../../src/schema/chat/chunk.ts';
import { responsesRequestSchema } from '../../src/schema/responses/responses.ts';
import { asZod, type Schema } from '../../src/schema/schema.ts';
import { createApiKeySchema, updateApiKeySchema } from '../../src/schema/tenants/api-key.ts';
import { putBudgetSchema } from '../../src/schema/tenants/budget.ts';
import { createCredentialSchema } from '../../src/schema/tenants/credential.ts';
import {
  builtinSlugs,
  createGuardrailSchema,
  keyAssignmentSchema,
  workspaceAssignmentSchema,
} from '../../src/schema/tenants/guardrail.ts';
import { createWorkspaceSchema, updateWorkspaceSchema } from '../../src/schema/tenants/workspace.ts';
import { memoryNow, peakOf } from '../support/hostile-upstream.ts';
import { engineOf, pageOf } from '../support/search.ts';
import { type Shaped, type Sizes, shapedBodies } from '../support/stalls/bodies.ts';
import { completeChat, completeResponses } from '../support/stalls/complete.ts';
import { stallOf } from '../support/stalls/heartbeat.ts';
import { pieces, texts } from '../support/stalls/shapes.ts';
import { dialectNames, stallWorld, type World } from '../support/stalls/world.ts';

/** What grows faster than its text takes a second here already. */
const every: Sizes = { characters: 60_000, values: 8_000, levels: 98, texts: 'all' };
/** One text at each place: over all places, every text comes many times. */
const some: Sizes = { ...every, texts: 'one' };
/** As much as one body may hold: 50,000 values, and of texts a part of 32 MiB, since each byte costs the same. */
const most: Sizes = { characters: 4_000_000, values: 47_000, levels: 98, texts: 'one' };

const zod = (schema: Schema) => asZod(schema);
const chat = (sizes: Sizes, model?: string) =>
  shapedBodies(zod(chatRequestSchema()), sizes, (body) => completeChat(body, model));
const responses = (sizes: Sizes) =>
  shapedBodies(zod(responsesRequestSchema()), sizes, (body) => completeResponses(body));

let world: World;
beforeAll(async () => {
  world = await stallWorld();
  const warm = JSON.stringify(completeChat({}));
  for (let time = 0; time < 1_100; time++) await world.send('POST', '/chat/completions', warm);
});
afterAll(() => world.gateway.close());

/** Every body of a list that makes others wait, with how long. */
async function stallsOf(bodies: readonly Shaped[], send: (text: string) => Promise<unknown>): Promise<string[]> {
  const stalls: string[] = [];
  for (const { name, text: made } of bodies) {
    const text = made();
    const stall = await stallOf(() => send(text), text);
    if (stall !== null) stalls.push(`${name}: ${stall}`);
  }
  return stalls;
}

const bytesOf = (text: string) => new TextEncoder().encode(text);
/** How many requests were served, and how many there were. */
const served = { all: 0, successes: 0 };
const posted =
  (path: string, method = 'POST') =>
  async (text: string) => {
    const status = await world.send(method, path, bytesOf(text));
    served.all++;
    if (status < 300) served.successes++;
    // 502: the provider answers chat requests alone.
    expect([500, 503, 504]).not.toContain(status);
  };

describe('no turn of the event loop is long, whatever a caller puts into one field:', () => {
  it.each([
    ['/chat/completions', 'every text', () => chat(every).filter((_, at) => at % 2 === 0)],
    ['/chat/completions', 'as much as is allowed', () => chat(most).filter((_, at) => at % 5 === 0)],
    ['/chat/completions/explain', 'some texts', () => chat(some)],
    ['/responses', 'every text', () => responses(every).filter((_, at) => at % 2 === 1)],
    ['/responses', 'as much as is allowed', () => responses(most).filter((_, at) => at % 8 === 0)],
    ['/responses/explain', 'some texts', () => responses(some)],
    ['/responses/compact', 'some texts', () => responses(some)],
    ['/responses/input_tokens', 'some texts', () => responses(some)],
  ])('%s, %s', async (path, _, bodies) => {
    expect(await stallsOf(bodies(), posted(path))).toEqual([]);
  });

  it.each(dialectNames)('/chat/completions, at a provider that speaks %s', async (dialect) => {
    const sent = chat(some, `acme/${dialect}`).filter(({ name }) => /^(?:messages|tools|response_format)/.test(name));
    expect(sent.length).toBeGreaterThan(100);
    expect(await stallsOf(sent, posted('/chat/completions'))).toEqual([]);
  });

  it.each<[string, string, () => Schema]>([
    ['POST', '/workspaces', createWorkspaceSchema],
    ['PATCH', '/workspaces/default', updateWorkspaceSchema],
    ['PUT', '/workspaces/default/budgets/weekly', putBudgetSchema],
    ['POST', '/byok', createCredentialSchema],
    ['POST', '/keys', createApiKeySchema],
    ['PATCH', `/keys/${'0'.repeat(64)}`, updateApiKeySchema],
    ['POST', '/guardrails', createGuardrailSchema],
    ['POST', '/guardrails/00000000-0000-4000-8000-000000000000/assignments/keys', keyAssignmentSchema],
    ['POST', '/guardrails/00000000-0000-4000-8000-000000000000/assignments/workspaces', workspaceAssignmentSchema],
  ])('%s %s', async (method, path, schema) => {
    const bodies = [every, most].flatMap((sizes) => shapedBodies(zod(schema()), sizes, (body) => body));
    expect(bodies.length).toBeGreaterThan(1);
    expect(await stallsOf(bodies, posted(path, method))).toEqual([]);
  });
});

const result = (body: object) => {
  const choice = { index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' };
  const { choices = [choice], ...rest } = body as { choices?: object[] };
  const whole = { id: 'x', object: 'chat.completion', created: 1, model: 'm', ...rest };
  return { ...whole, choices: choices.map((one) => ({ ...choice, ...one })) };
};
const event = (body: object) => ({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', ...body });
const stop = event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
const format = { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object', properties: {} } } };
const ask = completeChat({});
const askResponses = completeResponses({ input: 'Hello' });

describe('no turn of the event loop is long, whatever a provider puts into one field of', () => {
  it.each([
    ['its response', '/chat/completions', ask, some],
    ['a large response', '/chat/completions', ask, { ...most, values: 50_000 }],
    [
      'a response that is healed',
      '/chat/completions',
      { ...ask, response_format: format, plugins: [{ id: 'response-healing' }] },
      some,
    ],
    ['a response to a Responses client', '/responses', askResponses, some],
  ])('%s', async (_, path, asked, sizes) => {
    const bodies = shapedBodies(zod(chatResultSchema()), sizes as Sizes, result);
    const send = async (text: string) => {
      world.answer(text);
      await world.send('POST', path, JSON.stringify(asked));
    };
    const isLarge = sizes !== some;
    expect(await stallsOf(isLarge ? bodies.filter((_, at) => at % 4 === 0) : bodies, send)).toEqual([]);
  });

  it.each([
    ['an event', '/chat/completions', { ...ask, stream: true }],
    ['an event for a client that wants JSON', '/chat/completions', ask],
    ['an event for a Responses client', '/responses', { ...askResponses, stream: true }],
  ])('%s', async (_, path, asked) => {
    const bodies = shapedBodies(zod(chatChunkSchema()), some, event);
    const send = async (text: string) => {
      world.answer(`data: ${text}\n\ndata: ${JSON.stringify(stop)}\n\ndata: [DONE]\n\n`, 'text/event-stream');
      await world.send('POST', path, JSON.stringify(asked));
    };
    expect(await stallsOf(bodies, send)).toEqual([]);
  });
});

describe('no turn of the event loop is long, where plugins and guardrails are at work:', () => {
  const builtins = builtinSlugs.map((builtin) => ({ builtin, action: 'redact' as const }));
  const further = [
    { literal: 'bluebird', name: 'literal', action: 'redact' as const, ignoreCase: true },
    { regex: '(?:[a-z]+@?[a-z]*)+\\d{6}', name: 'regex', action: 'redact' as const, maxLength: 500 },
  ];
  let found: readonly SearchResult[] = [];
  const engine = engineOf(() => ({ results: found }));
  let busy: World;
  beforeAll(async () => {
    busy = await stallWorld({
      guardrails: [textGuardrail({ id: 'redacts', patterns: [...builtins, ...further] })],
      searchEngines: [engine],
    });
    const warm = JSON.stringify({ ...completeChat({}), plugins: [{ id: 'web' }] });
    found = [pageOf('warm')];
    for (let time = 0; time < 200; time++) expect(await busy.send('POST', '/chat/completions', warm)).toBe(200);
  });
  afterAll(() => busy.gateway.close());

  const sent = async (text: string) => {
    const status = await busy.send('POST', '/chat/completions', bytesOf(text));
    expect([500, 503, 504]).not.toContain(status);
  };
  const searching = (more: object = {}) => JSON.stringify({ ...completeChat({}), plugins: [{ id: 'web' }], ...more });
  const answering = (content: string, more: object = {}) =>
    JSON.stringify(result({ choices: [{ index: 0, message: { role: 'assistant', content }, ...more }] }));
  const hello = answering('Hello');
  const characters = 60_000;

  it('what is said is redacted, and searched for', async () => {
    found = [pageOf('a')];
    busy.answer(hello);
    const bodies = chat(some).filter(({ name }) => /^(?:messages|tools|response_format|metadata)/.test(name));
    const withPlugin = bodies.map(({ name, text }) => ({
      name,
      text: () => JSON.stringify({ ...JSON.parse(text()), plugins: [{ id: 'web' }] }),
    }));
    expect(withPlugin.length).toBeGreaterThan(100);
    engine.asked.length = 0;
    expect(await stallsOf(withPlugin, sent)).toEqual([]);
    expect(engine.asked.length).toBeGreaterThan(100);
  });

  const places: [string, (text: string) => SearchResult[]][] = [
    ['the text', (text) => [pageOf('a', { text })]],
    ['the title', (title) => [pageOf('a', { title })]],
    ['the address', (path) => [pageOf('a', { url: `https://a.example/${path}` })]],
    ['many results', (text) => Array.from({ length: 600 }, (_, at) => pageOf(`a${at}`, { text: text.slice(0, 100) }))],
  ];
  it.each(places)('of what an engine finds, %s', async (_, pagesOf) => {
    busy.answer(hello);
    const bodies = [...texts].map(([name, text]) => ({ name, text: () => text(characters) }));
    const send = async (text: string) => {
      found = pagesOf(text);
      await sent(searching());
    };
    expect(await stallsOf(bodies, send)).toEqual([]);
  });

  it.each([false, true])('citations of what was found, streamed: %j', async (isStreamed) => {
    found = Array.from({ length: 20 }, (_, at) => pageOf(`a${at}`));
    const link = (at: number) => `[About a${at % 20}](${found[at % 20]?.url}) `;
    const links = Array.from({ length: 2_000 }, (_, at) => link(at)).join('');
    const bodies = [
      { name: 'links', text: () => links },
      ...[...texts].map(([name, text]) => ({ name, text: () => `${link(0)}${text(characters)}${link(1)}` })),
    ];
    const send = async (content: string) => {
      const chunk = event({ choices: [{ index: 0, delta: { role: 'assistant', content } }] });
      const events = [chunk, stop].map((one) => `data: ${JSON.stringify(one)}\n\n`).join('');
      if (isStreamed) busy.answer(`${events}data: [DONE]\n\n`, 'text/event-stream');
      else busy.answer(answering(content));
      await sent(searching({ stream: isStreamed }));
    };
    expect(await stallsOf(bodies, send)).toEqual([]);
  });
});

/** What is stored is at its limit, too: patterns of a key, of its maker, of credentials and of guardrails. */
describe('no turn of the event loop is long, whatever patterns are stored:', () => {
  const stars = (at: number) => `${'*a'.repeat(100)}*${at}/`;
  const patterns = Array.from({ length: 100 }, (_, at) => stars(at));
  const slugs = Array.from({ length: 20 }, (_, at) => `groq/${'a'.repeat(240)}${at}`);
  const asked = JSON.stringify({ models: slugs, messages: [{ role: 'user', content: 'a'.repeat(100_000) }] });

  it('those of a key, and of a key that it makes', async () => {
    const maker = (await world.manage('POST', '/keys', {
      name: 'maker',
      permissions: ['inference', 'management'],
      allowed_models: patterns,
    })) as { key: string };
    const made = JSON.stringify({ name: 'made', allowed_models: patterns });
    expect(await stallOf(() => world.send('POST', '/keys', made, maker.key), made)).toBeNull();
    expect(await stallOf(() => world.send('POST', '/chat/completions', asked, maker.key), asked)).toBeNull();
  });

  it('those of credentials and guardrails', async () => {
    for (let at = 0; at < 10; at++)
      await world.manage('POST', '/byok', { provider: 'groq', key: `gsk-012345678-${at}`, allowed_models: patterns });
    for (let at = 0; at < 10; at++) {
      const guardrail = { name: `g${at}`, ignored_models: patterns.map((one) => `x${one}`) };
      const { data } = (await world.manage('POST', '/guardrails', guardrail)) as { data: { id: string } };
      await world.manage('POST', `/guardrails/${data.id}/assignments/workspaces`, {
        workspace_ids: ['00000000-0000-4000-8000-000000000001'],
      });
    }
    expect(await stallOf(() => world.send('POST', '/chat/completions', asked), asked)).toBeNull();
  });
});

/** What the default allows of memory beside the body: what a request loads, and garbage that is not collected yet. */
const constantBytes = 64 * 1024 * 1024;

describe('no body takes more than eight times its size in memory:', () => {
  it.each(Object.entries(pieces))('a message of %s', async (_, piece) => {
    const content = piece.repeat(Math.floor(6_000_000 / piece.length));
    const body = bytesOf(JSON.stringify({ model: 'acme/fast', messages: [{ role: 'user', content }] }));
    let peak = Number.POSITIVE_INFINITY;
    for (let time = 0; time < 3 && peak > 8 * body.length + constantBytes; time++) {
      memoryNow();
      peak = Math.min(peak, (await peakOf(world.send('POST', '/chat/completions', body))).peakBytes);
    }
    expect(peak).toBeLessThan(8 * body.length + constantBytes);
  });
});
