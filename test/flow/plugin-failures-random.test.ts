import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { PluginHooks, ResponseStep } from '../../src/call/hooks.ts';
import { defineGuardrail } from '../../src/guardrails/guardrail.ts';
import { definePlugin, type Plugin } from '../../src/plugins/plugin.ts';
import type { ChatChunk } from '../../src/schema/chat/chunk.ts';
import { askIn, type Failure, type Format, fail, formats, textOfChunk, withText } from '../support/failing-hooks.ts';
import { testGateway } from '../support/gateway.ts';
import { runs } from '../support/runs.ts';
import { completion, textStream } from '../support/upstream.ts';

type Deed = 'none' | 'ok' | Failure;
const failures = ['throw', 'hang', 'refuse'] as const;
/** Refusals end most calls: there are few of them. */
const failure = fc.constantFrom<Failure>(...failures, 'throw', 'hang', 'throw', 'hang');
const deed = fc.oneof({ weight: 12, arbitrary: fc.constantFrom<Deed>('none', 'ok') }, failure);
const calm = ['none', 'ok', 'none', 'ok'] as const;
const step = fc.record({
  way: fc.constantFrom('pass', 'mark', 'hold', 'delay'),
  /** At which text it fails; 'end' is its end. null: it does not. */
  failsAt: fc.constantFrom(null, null, null, null, null, 0, 1, 2, 'end' as const),
  how: failure,
});
/** What one plugin, or the guardrail, does. */
const actor = (id: string) =>
  fc.record({
    id: fc.constant(id),
    onError: fc.constantFrom('fail' as const, 'skip' as const, 'skip' as const),
    before: deed,
    prepare: deed,
    wrap: fc.constantFrom<Deed | 'after'>(...calm, ...calm, 'throw', 'throw', 'refuse', 'after'),
    steps: fc.array(step, { maxLength: 2 }),
  });
type Actor = ReturnType<typeof actor> extends fc.Arbitrary<infer T> ? T : never;
type StepOf = Actor['steps'][number];

const story = fc.record({
  format: fc.constantFrom<Format>(...formats),
  first: actor('a'),
  second: actor('b'),
  guard: actor('g'),
  isSecondFirst: fc.boolean(),
  texts: fc.array(fc.constantFrom('x', 'y', 'z'), { minLength: 1, maxLength: 4 }),
});

/** Adds to the request who has seen it. */
const noted = <R extends { user?: unknown }>(request: R, mark: string): R => ({
  ...request,
  user: `${request.user ?? ''}${mark}`,
});

function hooksOf({ id, before, prepare, wrap, steps }: Actor): PluginHooks {
  const does = (how: Deed) => (how === 'ok' || how === 'none' ? null : fail(how));
  return {
    ...(before === 'none' ? {} : { before: (request) => does(before) ?? noted(request, `${id}b `) }),
    ...(prepare === 'none' ? {} : { prepare: (request) => does(prepare) ?? noted(request, `${id}p `) }),
    ...(wrap === 'none'
      ? {}
      : {
          async wrap(generate, request) {
            if (wrap !== 'after' && wrap !== 'ok') return fail(wrap);
            const response = await generate(noted(request, `${id}w `));
            return wrap === 'ok' ? response : fail('throw');
          },
        }),
    ...(steps.length === 0 ? {} : { steps: () => steps.map((one) => stepOf(one, id)) }),
  };
}

function stepOf({ way, failsAt, how }: StepOf, id: string): ResponseStep {
  let held: ChatChunk[] = [];
  let texts = 0;
  const released = (one: ChatChunk): readonly ChatChunk[] => {
    if (way === 'pass') return [one];
    if (way === 'mark') return [textOfChunk(one) === '' ? one : withText(one, `${textOfChunk(one)}${id}`)];
    held.push(one);
    return way === 'delay' && held.length > 1 ? held.splice(0, 1) : [];
  };
  return {
    isAsync: how === 'hang',
    push: (one) => (textOfChunk(one) !== '' && texts++ === failsAt ? (fail(how) as never) : released(one)),
    end({ kind }) {
      if (failsAt === 'end' && kind === 'complete') return fail(how) as never;
      const rest = held;
      held = [];
      return rest;
    },
  };
}

/** What should come out: what would, were the hooks that fail and may be skipped not there. */
interface Expected {
  status: number;
  /** As the provider gets it; null: it gets nothing. */
  user: string | null;
  text: string;
}

const statusOf = (how: Failure) => ({ throw: 500, hang: 504, refuse: 403 })[how];
const without = (actors: readonly Actor[], actor: Actor, hook: 'before' | 'prepare' | 'wrap' | 'steps') =>
  actors.map((one) => (one === actor ? { ...one, [hook]: hook === 'steps' ? [] : ('none' as const) } : one));

/** @param actors  in the order in which they are asked */
function expectedOf(actors: readonly Actor[], isGuard: (actor: Actor) => boolean, texts: readonly string[]): Expected {
  const skips = (one: Actor, how: Failure) => !isGuard(one) && one.onError === 'skip' && how !== 'refuse';
  const again = (one: Actor, hook: 'before' | 'prepare' | 'wrap' | 'steps') =>
    expectedOf(without(actors, one, hook), isGuard, texts);
  let user = '';
  for (const one of actors) {
    if (one.before === 'ok') user += `${one.id}b `;
    else if (one.before !== 'none')
      return skips(one, one.before) ? again(one, 'before') : { status: statusOf(one.before), user: null, text: '' };
  }
  for (const one of actors) {
    if (one.wrap === 'ok' || one.wrap === 'after') user += `${one.id}w `;
    else if (one.wrap !== 'none')
      return skips(one, one.wrap) ? again(one, 'wrap') : { status: statusOf(one.wrap), user: null, text: '' };
  }
  for (const one of actors) {
    if (one.prepare === 'ok') user += `${one.id}p `;
    else if (one.prepare !== 'none')
      return skips(one, one.prepare) ? again(one, 'prepare') : { status: statusOf(one.prepare), user: null, text: '' };
  }
  if (actors.some(({ wrap }) => wrap === 'after')) return { status: 500, user, text: '' };
  const chain = [...actors.toReversed().filter((one) => !isGuard(one)), ...actors.toReversed().filter(isGuard)];
  const played = play(chain, texts);
  if (typeof played === 'string') return { status: 200, user, text: played };
  const { by, hasChanged, how } = played;
  if (skips(by, how) && !hasChanged) return again(by, 'steps');
  return { status: statusOf(how), user, text: '' };
}

interface Said {
  text: string;
  /** Who has changed it. */
  by: readonly Actor[];
}

/** The text that comes through the steps; or whose step fails first, and whether that actor had changed something. */
function play(chain: readonly Actor[], texts: readonly string[]) {
  const all = chain.flatMap((actor) => actor.steps.map((one) => ({ ...one, actor, held: [] as Said[], seen: 0 })));
  const changed = new Set<Actor>();
  let out = '';
  let ending: { last: number; released: Said[] } | null = null;
  let failed: { by: Actor; how: Failure; hasChanged: boolean } | null = null;
  const fails = ({ actor, how }: (typeof all)[number]) => {
    failed ??= { by: actor, how, hasChanged: changed.has(actor) };
  };
  const release = (said: Said, from: number): void => {
    const { actor } = all[from] as (typeof all)[number];
    if (ending !== null && from === ending.last) {
      ending.released.push(said);
      return;
    }
    // What another step of the same actor still holds has not come out of it.
    if (all[from + 1]?.actor !== actor && said.by.includes(actor)) changed.add(actor);
    push(said, from + 1);
  };
  const push = (said: Said, to: number): void => {
    const at = all[to];
    if (failed !== null) return;
    if (at === undefined) out += said.text;
    else if (said.text !== '' && at.seen++ === at.failsAt) fails(at);
    else if (at.way === 'pass' || (at.way === 'mark' && said.text === '')) release(said, to);
    else if (at.way === 'mark') release({ text: `${said.text}${at.actor.id}`, by: [...said.by, at.actor] }, to);
    else {
      at.held.push(said);
      if (at.way === 'delay' && at.held.length > 1) release(at.held.shift() as Said, to);
    }
  };
  // The end of the choice is a chunk as well.
  for (const text of [...texts, '']) push({ text, by: [] }, 0);
  for (let at = 0; at < all.length && failed === null; at++) {
    const one = all[at] as (typeof all)[number];
    // The steps of an actor that may be skipped end together: what they release goes on when all of them have ended.
    if (one.actor.onError === 'skip' && ending === null) {
      const last = all.findLastIndex(({ actor }) => actor === one.actor);
      ending = { last, released: [] };
    }
    if (one.failsAt === 'end') fails(one);
    else for (const said of one.held.splice(0)) release(said, at);
    if (failed !== null || ending?.last !== at) continue;
    const { released } = ending;
    ending = null;
    for (const said of released) release(said, at);
  }
  return failed ?? out;
}

it('two plugins and a guardrail in every order: what comes out is what would without the hooks that are skipped', async () => {
  const seen = new Map<string, number>();
  const note = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1);
  await fc.assert(
    fc.asyncProperty(story, async ({ format, first, second, guard, isSecondFirst, texts }) => {
      const plugins = (isSecondFirst ? [second, first] : [first, second]) as Actor[];
      const test = testGateway({
        plugins: plugins.map(
          (one): Plugin => definePlugin({ id: one.id, isDefault: true, onError: one.onError, ...hooksOf(one) }),
        ),
        guardrails: [defineGuardrail({ id: guard.id, steps: () => [], ...hooksOf(guard) })],
      });
      const isStream = format.startsWith('a stream');
      test.upstream.always({
        body: isStream ? textStream(...texts) : completion({}, { content: texts.join('') }),
      });
      const got = await askIn(format, test, { user: '' });
      const expected = expectedOf([guard, ...plugins], (one) => one.id === 'g', isStream ? texts : [texts.join('')]);
      const [record] = test.records;
      expect([record?.status, got.hasError]).toEqual([expected.status, expected.status !== 200]);
      expect(test.upstream.sent.map(({ body }) => body.user ?? '')).toEqual(
        expected.user === null ? [] : [expected.user],
      );
      if (expected.status === 200) expect(got.text).toBe(expected.text);
      const skipped = got.pipeline.filter(({ summary }) => summary?.includes('skipped')).length;
      note(`${expected.status}${skipped > 0 ? ' skipped' : ''}`);
    }),
    { seed: 24, numRuns: runs(200, 1_500) },
  );
  for (const what of ['200', '200 skipped', '403', '500', '504']) expect(seen.get(what) ?? 0, what).toBeGreaterThan(3);
}, 600_000);
