import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { textGuardrail } from '../../src/guardrails/text-guardrail.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { fileParser } from '../../src/plugins/file-parser/index.ts';
import { testGateway } from '../support/gateway.ts';
import { pdfOf } from '../support/pdf.ts';
import { runs } from '../support/runs.ts';
import { engineOf, pageOf } from '../support/search.ts';
import { type Account, Overloaded, type Script, type Served, strictAnthropic } from '../support/strict-anthropic.ts';
import { askChat as chat, askInItems as responses, type TurnSaid as Said } from '../support/turn-clients.ts';

type Json = Record<string, unknown>;

const models = ['claude-opus-5-5', 'claude-sonnet-5-5', 'claude-fable-5-1'] as const;
const pdf = `data:application/pdf;base64,${Buffer.from(pdfOf(['Page one', 'Page two'])).toString('base64')}`;
const weather = {
  type: 'function',
  function: { name: 'weather', description: 'Weather', parameters: { type: 'object', properties: { z: {}, a: {} } } },
};
/** Without a thread of its own, which a manual clock would not wait for. */
const reader = { read: async () => ({ pages: ['Page one', 'Page two'], total: 2, isCut: false }) };
const mails = { name: 'mail', regex: '[a-z0-9]+@b[.]example', action: 'redact' as const };

/** A gateway with two accounts of the same provider, the second for when the first is overloaded. */
function growing(
  accounts: readonly [Account, Account],
  scripts: Iterator<Script>,
  options: Partial<GatewayOptions> = {},
  contextLength: number | null = null,
) {
  const state = { isOverloaded: false, searches: 0 };
  const claude = strictAnthropic(
    ({ url }) => {
      const isFirst = url.includes('one.test');
      if (isFirst && state.isOverloaded) throw new Overloaded();
      return accounts[isFirst ? 0 : 1];
    },
    () => scripts.next().value ?? ['thinking', 'text'],
  );
  const provider = { dialect: 'anthropic-messages' as const, apiKey: 'sk-ant-0123456789' };
  const tested = testGateway({
    transport: claude.transport,
    providers: {
      one: { ...provider, baseUrl: 'https://one.test/v1' },
      two: { ...provider, baseUrl: 'https://two.test/v1' },
    },
    models: models.map((model) => ({
      slug: `acme/${model}`,
      order: 'listed' as const,
      endpoints: ['one', 'two'].map((one) => ({ provider: one, model, ...(contextLength ? { contextLength } : {}) })),
    })),
    searchEngines: [engineOf(() => ({ results: [pageOf('news', { text: `News ${state.searches++}` })] }))],
    retry: { attemptsPerEndpoint: 1 },
    ...options,
  });
  return { ...tested, claude, state };
}

const input = fc.constantFrom<Json>({ z: 1, a: 'x' }, {}, { z: [1.5, null, { b: 'é"\\' }], a: '' });
const block = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('thinking' as const, 'text' as const) },
  fc.constant('redacted' as const),
);
const script = (names: readonly string[]) =>
  fc
    .tuple(
      fc.array(block, { maxLength: 4 }),
      fc.array(fc.record({ call: fc.constantFrom(...names), input }), { maxLength: 2 }),
    )
    .map(([blocks, calls]): Script => {
      // A thought first, as these models do, and something at the end.
      const all = ['thinking' as const, ...blocks, ...calls];
      return all.some((one) => one === 'text' || typeof one === 'object') ? all : [...all, 'text'];
    });

const turn = fc.record({
  web: fc.boolean(),
  model: fc.constantFrom(0, 0, 0, 1),
  isOverloaded: fc.integer({ min: 0, max: 4 }).map((one) => one === 0),
  stream: fc.boolean(),
  hasFile: fc.boolean(),
});
const story = fc.record({
  enforces: fc.tuple(fc.boolean(), fc.boolean()),
  models: fc.shuffledSubarray([...models], { minLength: 2, maxLength: 2 }),
  isResponses: fc.boolean(),
  hasServerTool: fc.boolean(),
  redactsOutput: fc.boolean(),
  redactsInput: fc.boolean(),
  usesWeb: fc.boolean(),
  changesModel: fc.boolean(),
  overloads: fc.boolean(),
  compresses: fc.integer({ min: 0, max: 3 }).map((one) => one === 0),
  turns: fc.array(turn, { minLength: 2, maxLength: 6 }),
});
type Story = typeof story extends fc.Arbitrary<infer T> ? T : never;

function scriptsOf(seed: fc.Arbitrary<Script>, numbers: number): Iterator<Script> {
  const list = fc.sample(seed, { numRuns: 40, seed: numbers });
  return list[Symbol.iterator]();
}

async function play(one: Story, seed: number): Promise<void> {
  const names = one.hasServerTool ? ['weather', 'datetime'] : ['weather'];
  const accounts = one.enforces.map((enforces, at) => ({ organization: `org-${at}`, enforces })) as [Account, Account];
  const guardrails = [
    ...(one.redactsOutput ? [textGuardrail({ id: 'out', patterns: [{ ...mails, on: 'output' }] })] : []),
    ...(one.redactsInput ? [textGuardrail({ id: 'in', patterns: [{ ...mails, regex: 'secret', on: 'input' }] })] : []),
  ];
  const tested = growing(
    accounts,
    scriptsOf(script(names), seed),
    { guardrails, plugins: [fileParser({ reader })] },
    one.compresses ? 1_500 : null,
  );
  const { claude, state } = tested;
  const tools = one.hasServerTool ? [weather, { type: 'service:datetime' }] : [weather];
  const history: Json[] = [];
  /** The responses whose thoughts stand behind something that the client does not have. */
  const changed = new Set<number>();
  let steps = 0;
  for (const [at, { web, model, isOverloaded, stream, hasFile }] of one.turns.entries()) {
    const isWeb = web && one.usesWeb;
    const question = `Question ${at}, secret${one.compresses ? ' and so on'.repeat(100) : ''}`;
    const file = { type: 'file', file: { filename: 'a.pdf', file_data: pdf } };
    history.push(
      one.isResponses
        ? { role: 'user', content: [{ type: 'input_text', text: question }] }
        : { role: 'user', content: hasFile ? [{ type: 'text', text: question }, file] : question },
    );
    for (let calls: string[] | null = null; calls === null || (calls.length > 0 && steps++ < 12); ) {
      state.isOverloaded = isOverloaded && one.overloads;
      const before = claude.served.length;
      const said: Said = await (one.isResponses ? responses : chat)(tested, {
        model: `acme/${one.models[one.changesModel ? model : 0]}`,
        stream,
        history,
        plugins: [
          { id: 'file-parser', pdf: { engine: 'pdf-text' } },
          ...(isWeb ? [{ id: 'web' }] : []),
          ...(one.compresses ? [{ id: 'context-compression' }] : []),
        ],
        tools,
      });
      const of = claude.served.slice(before);
      judge(of.at(-1) as Served, one, changed, said.metadata);
      // Steps that the client never sees, results that it does not get, a text that is another for it.
      for (const [step, { response }] of of.entries())
        if (isWeb || step > 0 || one.redactsOutput) changed.add(response);
      history.push(...said.items);
      calls = said.calls;
      for (const id of calls)
        history.push(
          one.isResponses
            ? { type: 'function_call_output', call_id: id, output: 'sunny' }
            : { role: 'tool', tool_call_id: id, content: 'sunny' },
        );
    }
    if (steps > 12) break;
  }
  // Each refusal was made good, once for an account.
  expect(claude.refusals.filter((text) => !text.includes('bound to a different conversation'))).toEqual([]);
  expect(claude.refusals.length).toBeLessThanOrEqual(2);
  const isUntouched = !one.usesWeb && !one.hasServerTool && !one.redactsOutput && !one.compresses;
  if (isUntouched) expect(claude.refusals).toEqual([]);
  count('refused', claude.refusals.length);
  for (const { thoughts, hasSwitch } of claude.served) {
    if (hasSwitch) count('switched');
    for (const { droppedFor } of thoughts) count(droppedFor ?? 'kept');
  }
}

/** What the stories came to: a test of nothing shows here. */
const tried = new Map<string, number>();

function count(what: string, times = 1): void {
  tried.set(what, (tried.get(what) ?? 0) + times);
}

/** The reference: a thought is dropped where it has to be, and nowhere else. */
function judge({ thoughts, hasSwitch }: Served, one: Story, changed: ReadonlySet<number>, metadata: Json): void {
  for (const { response, droppedFor, isMismatch } of thoughts) {
    if (!changed.has(response) && !one.compresses)
      expect(isMismatch && droppedFor === 'prefix_binding_mismatch').toBe(false);
    // What cannot be read is not sent.
    expect(droppedFor).not.toBe('model_binding_mismatch');
    if (!one.overloads) expect(droppedFor).not.toBe('organization_binding_mismatch');
  }
  const dropped = thoughts.filter(({ droppedFor, isMismatch }) => droppedFor !== null || isMismatch).length;
  const shown = metadata.thought_bindings as Json | undefined;
  expect(shown?.transformed ?? 0).toBe(dropped);
  expect(shown?.drop_reason !== undefined).toBe(hasSwitch);
}

describe('a conversation that may only grow', () => {
  it('ends in no refusal, and keeps every thought whose prefix the gateway did not change', async () => {
    await fc.assert(
      fc.asyncProperty(story, fc.integer(), (one, seed) => play(one, seed)),
      { numRuns: runs(25, 600) },
    );
    for (const what of ['switched', 'kept', 'prefix_binding_mismatch'])
      expect([what, tried.get(what) ?? 0]).not.toEqual([what, 0]);
  });

  const account = (enforces: boolean) => ({ organization: 'org', enforces });
  const thinking: Script = ['thinking', 'text'];
  const plain = { model: 'acme/claude-opus-5-5', stream: false, plugins: [], tools: [] };
  const user = (content: string) => ({ role: 'user', content });
  /** A conversation of two turns, of which the client has changed the first. */
  async function edited(tested: ReturnType<typeof growing>, stream = false, model = plain.model) {
    const first = await chat(tested, { ...plain, model, history: [user('One')] });
    return chat(tested, { ...plain, model, stream, history: [user('Another'), ...first.items, user('Two')] });
  }

  it.each([false, true])(
    'is asked once more, without what does not fit, after a refusal (stream: %j)',
    async (stream) => {
      const tested = growing(
        [account(true), account(true)],
        [thinking, thinking, thinking, thinking][Symbol.iterator](),
      );
      const said = await edited(tested, stream);
      expect(tested.claude.refusals).toHaveLength(1);
      expect(said.metadata).toMatchObject({
        attempt: 2,
        attempts: [
          { provider: 'one', status: 400 },
          { provider: 'one', status: 200 },
        ],
        thought_bindings: {
          drop_reason: 'provider_refused',
          transformed: 1,
          input_transformations: [{ type: 'thinking_dropped', reason: 'prefix_binding_mismatch', path: 'messages' }],
        },
      });
      const [, sent] = tested.claude.served;
      expect(sent?.body.thinking).toEqual({
        type: 'adaptive',
        display: 'summarized',
        block_binding: { prefix_mismatch_behavior: 'drop_block' },
      });
      expect(
        tested.records
          .at(-1)
          ?.attempts.map(({ status, thoughts }) => [status, thoughts?.dropReason, thoughts?.reported.count]),
      ).toEqual([
        [400, null, 0],
        [200, 'provider_refused', 1],
      ]);
      // The account is known by now.
      await edited(tested);
      expect(tested.claude.refusals).toHaveLength(1);
      await tested.clock.advance(86_400_001);
      await edited(tested);
      expect(tested.claude.refusals).toHaveLength(2);
    },
  );

  it('loses nothing at an account that does not refuse, and the metadata says what does not fit', async () => {
    const tested = growing([account(false), account(false)], [thinking, thinking][Symbol.iterator]());
    const said = await edited(tested);
    expect(tested.claude.served.map(({ hasSwitch }) => hasSwitch)).toEqual([false, false]);
    expect(said.metadata.thought_bindings).toEqual({
      transformed: 1,
      input_transformations: [
        { type: 'thinking_mismatch_allowed', reason: 'prefix_binding_mismatch', path: 'messages' },
      ],
    });
  });

  it('gets the results of a search behind what the user said, in the role of the user', async () => {
    const tested = growing([account(true), account(true)], [thinking, thinking][Symbol.iterator]());
    const first = await chat(tested, { ...plain, history: [user('One')] });
    await chat(tested, { ...plain, plugins: [{ id: 'web' }], history: [user('One'), ...first.items, user('Two')] });
    const [, sent] = tested.claude.served;
    const turns = sent?.body.messages as { role: string; content: { text?: string }[] }[];
    expect(turns.map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    expect(turns[2]?.content[0]).toEqual({ type: 'text', text: 'Two' });
    expect(turns[2]?.content[1]?.text).toContain('News 0');
    expect(sent?.thoughts).toMatchObject([{ droppedFor: null, isMismatch: false }]);
  });

  it.each([false, true])(
    'puts thoughts back among the texts of a response over Responses (stream: %j)',
    async (stream) => {
      const scripts: Script[] = [['thinking', 'text', 'redacted', 'text', 'thinking', 'text'], thinking];
      const tested = growing([account(true), account(true)], scripts[Symbol.iterator]());
      const first = await responses(tested, { ...plain, stream, history: [user('One')] });
      await responses(tested, { ...plain, stream, history: [user('One'), ...first.items, user('Two')] });
      expect(tested.claude.refusals).toEqual([]);
      const fits = { droppedFor: null, isMismatch: false };
      expect(tested.claude.served[1]?.thoughts).toMatchObject([fits, fits, fits]);
    },
  );

  it('takes no thoughts to a model that cannot read them', async () => {
    const tested = growing([account(true), account(true)], [thinking, thinking][Symbol.iterator]());
    const first = await chat(tested, { ...plain, model: 'acme/claude-fable-5-1', history: [user('One')] });
    const said = await chat(tested, { ...plain, history: [user('One'), ...first.items, user('Two')] });
    expect(tested.claude.served[1]?.thoughts).toEqual([]);
    expect(said.metadata.dropped).toContain('messages[].reasoning_details');
  });
});
