import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { testGateway } from '../support/gateway.ts';
import { runs } from '../support/runs.ts';
import {
  type Said,
  type SpeakingFormat,
  sealOf,
  speakingFormats,
  speakingUpstream,
} from '../support/speaking-upstream.ts';
import { askChat, askInItems } from '../support/turn-clients.ts';

type Json = Record<string, unknown>;

const weather = {
  type: 'function',
  function: { name: 'weather', description: 'Weather', parameters: { type: 'object', properties: { z: {}, a: {} } } },
};
const clock = { type: 'service:datetime' };
const models: Record<SpeakingFormat, string> = {
  'openai-chat': 'own-1',
  'openai-responses': 'gpt-5.1',
  'google-generate-content': 'gemini-3-pro',
  'bedrock-converse': 'anthropic.claude-opus-5-5-v1:0',
};
const input = fc.constantFrom<Json>({ z: 1, a: 'x' }, {}, { z: [1.5, null, { b: 'é"\\' }], a: '' });

const said = (names: readonly string[]): fc.Arbitrary<Said> =>
  fc
    .tuple(
      fc.array(fc.constantFrom('thought' as const, 'text' as const), { maxLength: 3 }),
      fc.array(fc.record({ call: fc.constantFrom(...names), input }), { maxLength: 2 }),
    )
    .map(([parts, calls]) => {
      const all: Said = ['thought', ...parts, ...calls];
      return all.some((one) => one !== 'thought') ? all : [...all, 'text'];
    });

const story = fc.record({
  isResponses: fc.boolean(),
  hasServerTool: fc.boolean(),
  hasSystem: fc.boolean(),
  /** Whether each turn is streamed. */
  turns: fc.array(fc.boolean(), { minLength: 2, maxLength: 6 }),
});
type Story = typeof story extends fc.Arbitrary<infer T> ? T : never;

/** Plays a story. @returns what the provider was sent, call by call */
async function play(format: SpeakingFormat, one: Story, seed: number) {
  const names = one.hasServerTool ? ['weather', 'datetime'] : ['weather'];
  const scripts = fc.sample(said(names), { numRuns: 60, seed }).values();
  const upstream = speakingUpstream(format, () => scripts.next().value ?? ['text']);
  const quirks =
    format === 'openai-chat' ? { reasoningField: 'reasoning_details', reasoningFormat: 'anthropic-claude-v1' } : {};
  const tested = testGateway({
    transport: upstream.transport,
    providers: { up: { dialect: format, baseUrl: 'https://up.test/v1', apiKey: 'sk-up-0123456789', quirks } } as never,
    models: [{ slug: 'acme/one', endpoints: [{ provider: 'up', model: models[format] }] }],
  });
  const system = { role: 'system', content: 'Be kind.' };
  const history: Json[] = one.hasSystem ? [system] : [];
  let steps = 0;
  for (const [at, stream] of one.turns.entries()) {
    const text = `Question ${at}`;
    history.push({ role: 'user', content: one.isResponses ? [{ type: 'input_text', text }] : text });
    for (let calls: string[] | null = null; calls === null || (calls.length > 0 && steps++ < 10); ) {
      const tools = one.hasServerTool ? [weather, clock] : [weather];
      const turn = await (one.isResponses ? askInItems : askChat)(tested, {
        model: 'acme/one',
        stream,
        history,
        tools,
      });
      history.push(...turn.items);
      calls = turn.calls;
      for (const id of calls)
        history.push(
          one.isResponses
            ? { type: 'function_call_output', call_id: id, output: 'sunny' }
            : { role: 'tool', tool_call_id: id, content: 'sunny' },
        );
    }
    if (steps > 10) break;
  }
  return upstream;
}

/** Without the marks of a cache, which move on. */
const written = (value: unknown): string =>
  JSON.stringify(value, (key, inner) => (key === 'cache_control' || key === 'cachePoint' ? undefined : inner)) ?? '';

/** How often a model was told that what stood before its thoughts has changed: a test of nothing shows here. */
let switched = 0;
const dropBlock = { prefix_mismatch_behavior: 'drop_block' };

function judge(format: SpeakingFormat, { sent, head, messages }: Awaited<ReturnType<typeof play>>, one: Story): void {
  for (const [at, { body }] of sent.entries()) {
    const next = sent[at + 1]?.body;
    if (next === undefined) return;
    expect(written(head(next))).toBe(written(head(body)));
    const before = messages(body).map(written);
    const same = messages(next).map(written).slice(0, before.length);
    // The client never sees the steps of a tool that the gateway runs, and cannot send them back. Models that bind
    // their thoughts to what stood before are told so.
    const hasGrown = same.join() === before.join();
    if (one.hasServerTool) {
      const isBound =
        format === 'bedrock-converse' && !hasGrown && written(messages(next)).includes('reasoningContent');
      if (isBound) switched++;
      if (isBound) expect(next.additionalModelRequestFields).toMatchObject({ thinking: { block_binding: dropBlock } });
      continue;
    }
    expect(same).toEqual(before);
    expect(written(next)).not.toContain('block_binding');
    // What only the provider can read comes back. Google signs what it says and calls, the others what they think.
    for (const [place, part] of (sent[at]?.said ?? []).entries())
      if ((part === 'thought') === (format !== 'google-generate-content'))
        expect(written(next)).toContain(sealOf(at + 1, place));
  }
}

describe.each(Object.keys(speakingFormats) as SpeakingFormat[])(
  'a conversation at a provider that speaks %s',
  (format) => {
    it('only grows, over chat and over Responses, streamed and not', async () => {
      await fc.assert(
        fc.asyncProperty(story, fc.integer(), async (one, seed) => judge(format, await play(format, one, seed), one)),
        { numRuns: runs(25, 300) },
      );
      if (format === 'bedrock-converse') expect(switched).toBeGreaterThan(0);
    });
  },
);
