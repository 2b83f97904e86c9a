import { describe, expect, it } from 'vitest';
import { openaiChat } from '../../src/entries/dialects.ts';
import * as search from '../../src/entries/search.ts';
import {
  contextCompression,
  createGateway,
  defineGuardrail,
  defineOperation,
  definePlugin,
  defineProvider,
  defineServerTool,
  fileParser,
  fromAiSdk,
  fusion,
  type GatewayOptions,
  isGatewayError,
  mistralOcr,
  moderation,
  openaiModerator,
  responseHealing,
  textGuardrail,
  web,
  webFetch,
} from '../../src/index.ts';

/** Every function of the package that takes an object of names that we know, with one that it takes. */
const takers: Record<string, [take: (given: never) => unknown, sound: object]> = {
  definePlugin: [definePlugin, { id: 'a', before: (request: object) => request }],
  defineGuardrail: [defineGuardrail, { id: 'a', before: (request: object) => request }],
  defineProvider: [defineProvider, { slug: 'a', baseUrl: 'https://a.test', dialect: openaiChat }],
  defineServerTool: [defineServerTool, { name: 'a', description: 'A', parameters: {}, run: () => 'a' }],
  defineOperation: [
    defineOperation,
    { name: 'a', method: 'GET', path: '/a', permissions: [], body: null, result: () => ({}), run: async () => ({}) },
  ],
  textGuardrail: [textGuardrail, { id: 'a', patterns: [{ name: 'word', regex: 'secret', action: 'block' }] }],
  contextCompression: [contextCompression, { smallContext: 1_000 }],
  fileParser: [fileParser, { maxFiles: 2 }],
  fusion: [fusion, { concurrency: 2 }],
  moderation: [moderation, { output: true }],
  responseHealing: [responseHealing, { streams: true }],
  web: [web, { maxResults: 3 }],
  webFetch: [webFetch, { maxUses: 3 }],
  mistralOcr: [mistralOcr, { apiKey: 'k' }],
  openaiModerator: [openaiModerator, { apiKey: 'k' }],
  fromAiSdk: [fromAiSdk, { slug: 'a', models: {} }],
  ...Object.fromEntries(
    Object.entries(search)
      .filter(([name]) => name.endsWith('Search'))
      .map(([name, make]) => [name, [make, name === 'searxngSearch' ? { baseUrl: 'http://a.test' } : { apiKey: 'k' }]]),
  ),
};

/** A name with two of its letters swapped. */
const misspelt = (name: string) => name.slice(0, -2) + name.slice(-1) + name.slice(-2, -1);

describe.each(Object.keys(takers))('%s', (name) => {
  const [take, sound] = takers[name] as [(given: unknown) => unknown, Record<string, unknown>];
  it('takes what has only known names', () => {
    expect(() => take(sound)).not.toThrow();
    expect(() => take({ ...sound, unheardOf: undefined })).not.toThrow();
  });
  it('refuses a name that nobody reads, and says which was meant', () => {
    for (const known of Object.keys(sound).filter(({ length }) => length > 4)) {
      const slip = misspelt(known);
      const error = thrownBy(() => take({ ...sound, [slip]: sound[known] }));
      // The nearest, which is another one where two differ by a letter.
      expect(error).toMatch(new RegExp(`${slip}: unknown name; did you mean "${known.slice(0, 4)}`));
    }
    expect(thrownBy(() => take({ ...sound, unheardOf: 1 }))).toMatch(/unheardOf: unknown name/);
  });
  it('refuses a value of the wrong type, and never quotes it', () => {
    for (const known of Object.keys(sound)) {
      const wrong = Symbol('sk-secret');
      const error = thrownBy(() => take({ ...sound, [known]: wrong }));
      expect(error).toMatch(new RegExp(`${known}.*expected`));
      expect(error).not.toContain('sk-secret');
    }
  });
  it.each([[null], [5], ['text'], [[1]]])('refuses %j', (given) => {
    expect(thrownBy(() => take(given))).toMatch(/expected an object/);
  });
});

describe('an object of a class', () => {
  it('may have what it needs beside its hooks, but no slip in the name of one', () => {
    class Counting {
      id = 'counting';
      seen = 0;
      before(request: never) {
        this.seen++;
        return request;
      }
      helper() {}
    }
    expect(() => definePlugin(new Counting())).not.toThrow();
    class Slip extends Counting {
      override id = 'slip';
      befroe(request: never) {
        return request;
      }
    }
    expect(thrownBy(() => definePlugin(new Slip()))).toMatch(/befroe: unknown name; did you mean "before"/);
  });
});

it('a provider has its defaults for what is undefined', () => {
  const given = { slug: 'a', name: undefined, auth: undefined, env: undefined, dataPolicy: undefined };
  const sound = { slug: 'a', baseUrl: 'https://a.test', dialect: openaiChat };
  expect(defineProvider({ ...sound, ...given } as never)).toEqual(defineProvider(sound));
  const models = {};
  expect(fromAiSdk({ models, ...given } as never).name).toBe('a');
});

it('a guardrail without a hook would guard nothing, and is refused', () => {
  expect(thrownBy(() => defineGuardrail({ id: 'a' }))).toMatch(/expected a hook: before, prepare, wrap, steps/);
});

describe('createGateway', () => {
  const build = (options: object) =>
    createGateway({ apiKeys: [{ key: 'sk-test-0123456789' }], ...options } as GatewayOptions);
  it.each([
    ['plugins', { id: 'a', befroe: () => {} }, /plugins\[0\]\.befroe: unknown name; did you mean "before"/],
    ['guardrails', { id: 'a', befroe: () => {} }, /guardrails\[0\]\.befroe: unknown name; did you mean "before"/],
    ['guardrails', { id: 'a' }, /guardrails\[0\]: expected a hook/],
    ['serverTools', { name: 'a', runs: () => '' }, /serverTools\[0\]\.runs: unknown name; did you mean "run"/],
    ['operations', { nmae: 'a' }, /operations\[0\]\.nmae: unknown name; did you mean "name"/],
  ])('refuses in %s what was not defined, and has a slip', (option, given, message) => {
    expect(thrownBy(() => build({ [option]: [given] }))).toMatch(message);
  });
});

function thrownBy(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(isGatewayError(error)).toBe(true);
    return (error as Error).message + JSON.stringify((error as { metadata?: unknown }).metadata);
  }
  return 'nothing was thrown';
}
