import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GatewayOptions } from '../../src/options.ts';
import { hello, type TestGateway, testGateway } from '../support/gateway.ts';
import { engineOf } from '../support/search.ts';
import { completion } from '../support/upstream.ts';

/** How a function of the host app fails; each gives what the function gives back, or throws. */
const failures: Record<string, () => unknown> = {
  'throws at once': () => {
    throw new Error('at once');
  },
  'gives a rejected promise': () => Promise.reject(new Error('rejected')),
  'rejects later': () => new Promise((_, reject) => setImmediate(() => reject(new Error('later')))),
  'gives a thenable that throws': () => ({
    // biome-ignore lint/suspicious/noThenProperty: it is what is tested
    then() {
      throw new Error('of then');
    },
  }),
  'gives an object whose then throws when it is read': () => ({
    // biome-ignore lint/suspicious/noThenProperty: it is what is tested
    get then() {
      throw new Error('of the getter');
    },
  }),
  'never comes to an end': () => new Promise(() => undefined),
};

type Fail = () => never;
interface Case {
  /** Options of `createGateway` that it has to do with. */
  options: (fail: Fail) => Partial<GatewayOptions>;
  /** Default: a chat completion. */
  ask?: (tested: TestGateway) => Promise<{ status: number }>;
  /** The request is served whatever happens; else it may fail, in the envelope. Default true. */
  isServed?: boolean;
  /** Its contract is to end when its signal is aborted. */
  mustEnd?: boolean;
}

const stranger = { authorization: 'Bearer unknown' };
const model = 'acme/fast';
const body = { model, messages: hello, max_tokens: 100 };
const chat =
  (more: object = {}) =>
  (tested: TestGateway) =>
    tested.post({ ...body, ...more });
const stream = chat({ stream: true });
const plugin = (hooks: (fail: Fail) => object, onError: 'fail' | 'skip' = 'fail'): Case => ({
  options: (fail) => ({ plugins: [{ id: 'own', isDefault: true, onError, ...hooks(fail) } as never] }),
  isServed: onError === 'skip',
});
const step = (own: (fail: Fail) => object) => (fail: Fail) => ({
  steps: () => [{ push: (one: unknown) => [one], ...own(fail) }],
});
const follower = (own: (fail: Fail) => object): Case => ({
  options: (fail) => ({
    onRecord: Object.assign(() => undefined, { begin: () => ({ ended() {}, ...own(fail) }) }) as never,
  }),
});
const fromSite = (tested: TestGateway) => tested.post(body, { origin: 'https://site.example' });
const toolCall = {
  tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'own', arguments: '{}' } }],
};
const logger = (own: (fail: Fail) => object): Case['options'] => {
  const quiet = { info() {}, warn() {}, error() {} };
  return (fail) => ({ logger: { ...quiet, ...own(fail) } as never });
};
const withBudget = async (tested: TestGateway) => {
  const [first] = (await tested.call('GET', '/workspaces')).json.data;
  await tested.call('PUT', `/workspaces/${first.id}/budgets/daily`, { limit_usd: 0.000001 });
  const answer = await tested.post(body);
  await tested.clock.advance(10_000);
  return { status: answer.status === 402 ? 200 : answer.status };
};

const cases: Record<string, Case> = {
  onRecord: { options: (fail) => ({ onRecord: fail }) },
  'onRecord, for a stream': { options: (fail) => ({ onRecord: fail }), ask: stream },
  'onRecord.begin': { options: (fail) => ({ onRecord: Object.assign(() => undefined, { begin: fail }) }) },
  'follower.attempt': follower((fail) => ({ attempt: fail })),
  'follower.attempt.decided': follower((fail) => ({ attempt: () => ({ decided: fail }) })),
  'follower.worked': {
    options: (fail) => ({
      ...follower((own) => ({ worked: own })).options(fail),
      plugins: [{ id: 'own', isDefault: true, before: (one: unknown) => one } as never],
    }),
  },
  'follower.ended': follower((fail) => ({ ended: fail })),
  'follower.wantsContent': follower((fail) => ({
    get wantsContent() {
      return fail();
    },
  })),
  onOperation: { options: (fail) => ({ onOperation: fail }), ask: (tested) => tested.call('GET', '/models') },
  'onOperation, of a refusal': {
    options: (fail) => ({ onOperation: fail }),
    ask: async (tested) => ({ status: (await tested.call('GET', '/nowhere')).status === 404 ? 200 : 500 }),
  },
  onAudit: {
    options: (fail) => ({ onAudit: fail }),
    ask: (tested) => tested.call('POST', '/workspaces', { name: 'N', slug: 'north' }),
  },
  'budgetEvents.onEvent': { options: (fail) => ({ budgetEvents: { onEvent: fail } }), ask: withBudget },
  'logger.info': { options: logger((fail) => ({ info: fail })) },
  'logger.warn': {
    options: logger((fail) => ({ warn: fail })),
    ask: async (tested) => {
      tested.upstream.always({ status: 500, body: { error: { message: 'broken' } } });
      await tested.post(body);
      return { status: 200 };
    },
  },
  'logger.error': {
    options: (fail) => ({
      ...logger((one) => ({ error: one }))(fail),
      authenticate: () => Promise.reject(new Error('x')),
    }),
    ask: async (tested) => ({ status: (await tested.call('GET', '/models', undefined, stranger)).status }),
    isServed: false,
  },
  'cors.origins': { options: (fail) => ({ cors: { origins: fail } }), ask: fromSite },
  trustedOrigins: {
    options: (fail) => ({ trustedOrigins: fail, authenticate: () => ({ permissions: ['inference'] }) }),
    ask: (tested) => tested.post(body, { authorization: '', origin: 'https://site.example' }),
    isServed: false,
  },
  authenticate: {
    options: (fail) => ({ authenticate: fail }),
    ask: (tested) => tested.call('GET', '/models', undefined, stranger),
    isServed: false,
  },
  difficulty: { options: (fail) => ({ difficulty: fail }), ask: chat({ model: 'service/auto' }), isServed: false },
  fetchUrl: {
    options: (fail) => ({ fetchUrl: fail }),
    ask: chat({
      messages: [
        {
          role: 'user',
          content: [{ type: 'file', file: { filename: 'a.pdf', file_data: 'https://a.example/a.pdf' } }],
        },
      ],
      plugins: [{ id: 'file-parser' }],
    }),
    isServed: false,
  },
  fetch: { options: (fail) => ({ fetch: fail, transport: undefined as never }), isServed: false },
  'fetch, for a stream': {
    options: (fail) => ({ fetch: fail, transport: undefined as never }),
    ask: stream,
    isServed: false,
  },
  transport: { options: (fail) => ({ transport: { send: fail } }), isServed: false, mustEnd: true },
  'plugin.before': plugin((fail) => ({ before: fail })),
  'plugin.prepare': plugin((fail) => ({ prepare: fail })),
  'plugin.wrap': plugin((fail) => ({ wrap: fail })),
  'plugin.steps': plugin((fail) => ({ steps: fail })),
  'step.push': plugin(step((fail) => ({ push: fail }))),
  'step.push, async': plugin(step((fail) => ({ isAsync: true, push: fail }))),
  'step.end': plugin(step((fail) => ({ end: fail }))),
  'step.end, async': plugin(step((fail) => ({ isAsync: true, end: fail }))),
  'plugin.before, skipped': plugin((fail) => ({ before: fail }), 'skip'),
  'plugin.steps, skipped': plugin((fail) => ({ steps: fail }), 'skip'),
  'step.push, skipped': plugin(
    step((fail) => ({ push: fail })),
    'skip',
  ),
  'plugin.foresee': {
    ...plugin((fail) => ({ before: (one: unknown) => one, foresee: fail })),
    ask: (tested) => tested.call('POST', '/chat/completions/explain', body),
  },
  'guardrail.appliesTo': {
    options: (fail) => ({ guardrails: [{ id: 'own', appliesTo: fail, before: (one: unknown) => one } as never] }),
    isServed: false,
  },
  'guardrail.before': { options: (fail) => ({ guardrails: [{ id: 'own', before: fail } as never] }), isServed: false },
  'searchEngine.search': {
    options: (fail) => ({ searchEngines: [{ ...engineOf([]), search: fail } as never] }),
    ask: chat({ plugins: [{ id: 'web' }] }),
    isServed: false,
  },
  'searchEngine.priceOf': {
    options: (fail) => ({ searchEngines: [{ ...engineOf([]), priceOf: fail } as never] }),
    ask: chat({ plugins: [{ id: 'web' }] }),
    isServed: false,
  },
  'serverTool.run': {
    options: (fail) => ({
      serverTools: [{ name: 'own', description: 'd', parameters: { type: 'object' }, run: fail } as never],
    }),
    ask: (tested) => {
      tested.upstream.answer({ body: completion({}, { content: null, ...toolCall }, { finish_reason: 'tool_calls' }) });
      return tested.post({ ...body, tools: [{ type: 'service:own' }] });
    },
    isServed: false,
  },
  'operation.run': {
    options: (fail) => ({
      operations: [
        {
          name: 'own',
          method: 'GET',
          path: '/own',
          permissions: ['management'],
          body: null,
          result: () => null,
          run: fail,
        } as never,
      ],
    }),
    ask: (tested) => tested.call('GET', '/own'),
    isServed: false,
  },
};

describe('a function of the host app', () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => void unhandled.push(reason);
  beforeEach(() => void process.on('unhandledRejection', note));
  afterEach(() => {
    process.off('unhandledRejection', note);
    unhandled.length = 0;
  });

  for (const [name, { options, ask = chat(), isServed = true, mustEnd }] of Object.entries(cases)) {
    const hows = Object.keys(failures).filter((how) => !mustEnd || how !== 'never comes to an end');
    it.each(hows)(`${name} that %s ends no process`, async (how) => {
      let calls = 0;
      const fail = () => {
        calls++;
        return (failures[how] as () => unknown)() as never;
      };
      const tested = testGateway(options(fail));
      tested.upstream.always({ body: completion() });
      const { status } = await ask(tested);
      expect(calls, 'it was asked').toBeGreaterThan(0);
      if (isServed) expect(status).toBeLessThan(300);
      else expect(status).toBeGreaterThanOrEqual(200);
      await tested.run(tested.gateway.close());
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
      expect(unhandled).toEqual([]);
    });
  }

  it('is in the table above, whichever option takes it', () => {
    const text = readFileSync('src/options.ts', 'utf8') + readFileSync('src/schema/settings/budget-events.ts', 'utf8');
    const named = [
      ...text.matchAll(/^ {2,8}(\w+): (?:\(\) =>\s*)?(?:z\s*\.array\(\s*)?(?:func|objectWith|withId)</gm),
    ].map(([, name]) => name);
    expect(named.length).toBeGreaterThan(15);
    const walked = Object.values(cases).flatMap(({ options }) => {
      const given = options((() => undefined) as never);
      return [...Object.keys(given), ...Object.keys(given.budgetEvents ?? {})];
    });
    expect(
      named.filter((name) => !walked.includes(name as string) && !Object.hasOwn(elsewhere, name as string)),
    ).toEqual([]);
  });
});

/** Options that are not walked here, each with the reason. */
const elsewhere = {
  store: 'its calls are awaited within storeTimeoutMs: test/contract/stores',
  ledger: 'of a host app, through the same guard as the store: test/contract/stores',
  sealer: 'awaited within its time: test/flow/sealer.test.ts',
  clock: 'for exact tests; gives numbers',
  random: 'for exact tests; gives numbers',
  ids: 'for exact tests; gives texts',
  randomBytes: 'for exact tests; gives bytes',
};
