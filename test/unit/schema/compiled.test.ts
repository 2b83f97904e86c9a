import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { nextTurn } from '../../../src/base/async/next-turn.ts';
import { chatRequestSchema } from '../../../src/schema/chat/chat.ts';
import { compiledAfter } from '../../../src/schema/compiled.ts';
import { plainFirst } from '../../../src/schema/plain-first.ts';
import { chatRequest, clone, damagedBodies, damages } from './arbitrary.ts';

const check = compiledAfter(1);
const uncompiled = check();
const checks = {
  uncompiled,
  compiled: await vi.waitUntil(() => {
    const found = check();
    return found !== uncompiled && found;
  }),
};

describe('a chat request', () => {
  it('is checked by compiled code once so many were, and by the same from then on', () => {
    const check = compiledAfter(2);
    const first = check();
    expect(first).not.toBe(checks.compiled);
    expect(check()).toBe(first);
    expect(check()).toBe(checks.compiled);
    expect(check()).toBe(checks.compiled);
    expect(checks.compiled).not.toBe(chatRequestSchema());
  });

  it('is checked by the schema while the compiler is loaded, and as long again where it could not be loaded', async () => {
    const loads: PromiseWithResolvers<typeof checks.compiled>[] = [];
    const next = plainFirst(2, chatRequestSchema, () => {
      const load = Promise.withResolvers<typeof checks.compiled>();
      loads.push(load);
      return load.promise;
    });
    const plain = next();
    expect([next(), next()]).toEqual([plain, plain]);
    expect(loads).toHaveLength(1);
    loads[0]?.reject(new Error('no such file'));
    await nextTurn();
    expect([next(), next()]).toEqual([plain, plain]);
    expect(loads).toHaveLength(1);
    expect(next()).toBe(plain);
    expect(loads).toHaveLength(2);
  });
});

describe.each(Object.entries(checks))('the %s check of a chat request', (_name, check) => {
  it('says of every request what the schema says, and makes the same of it, in the same order', () => {
    const seen = { taken: 0, refused: 0 };
    fc.assert(
      fc.property(chatRequest, damages, (request, ways) => {
        for (const body of [clone(request), ...damagedBodies(request, ways)]) {
          const [ours, theirs] = [chatRequestSchema().safeParse(clone(body)), check.safeParse(clone(body))];
          expect(theirs.success).toBe(ours.success);
          expect(JSON.stringify(theirs.data)).toBe(JSON.stringify(ours.data));
          expect(theirs.error?.issues).toEqual(ours.error?.issues);
          seen[ours.success ? 'taken' : 'refused'] += 1;
        }
      }),
      { numRuns: 100, seed: 5 },
    );
    expect(seen.taken).toBeGreaterThan(300);
    expect(seen.refused).toBeGreaterThan(300);
  });

  it.each([
    [
      'too many pairs of metadata',
      { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, 'v'])) },
    ],
    ['a long key', { metadata: { ['k'.repeat(65)]: 'v' } }],
    ['a long value', { metadata: { k: 'v'.repeat(513) } }],
    ['too long a session', { session_id: 's'.repeat(257) }],
    ['no messages', { messages: [] }],
    ['an unknown preference', { provider: { nonsense: true } }],
  ])('refuses %s', (_, fields) => {
    expect(check.safeParse({ messages: [{ role: 'user', content: 'Hi' }], ...fields }).success).toBe(false);
  });

  const tool = (parameters: string) =>
    `"tools":[{"type":"function","function":{"name":"f","parameters":${parameters}}}]`;
  it.each([
    ['the request', '"__proto__":{"a":1}', ''],
    ['a map', '"logit_bias":{"__proto__":1,"5":2}', '"logit_bias":{"5":2}'],
    ['a map, where it is of the wrong kind', '"logit_bias":{"5":2,"__proto__":"x"}', '"logit_bias":{"5":2}'],
    [
      'a map of lists',
      '"image_config":{"__proto__":[1],"a":[{"__proto__":1}]}',
      '"image_config":{"a":[{"__proto__":1}]}',
    ],
    ['a full map', `"metadata":${fullMap(',"__proto__":"v"')}`, `"metadata":${fullMap('')}`],
    ['the schema of a tool', tool('{"b":1,"__proto__":{},"a":{"__proto__":2}}'), tool('{"b":1,"a":{"__proto__":2}}')],
    [
      'the schema of an answer',
      '"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"__proto__":{},"b":1}}}',
      '"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"b":1}}}',
    ],
    ['the deprecated route', '"route":{"__proto__":null,"x":1}', '"route":{"x":1}'],
  ])('drops a key that is named __proto__ of %s, and pollutes nothing', (_, given, expected) => {
    const messages = (more: string) => `"messages":[{"role":"user","content":"Hi"${more}}]`;
    const { data } = check.safeParse(JSON.parse(`{${messages(',"__proto__":{"a":1}')},${given}}`));
    expect(JSON.stringify(data)).toBe(`{${[messages(''), expected].filter((one) => one !== '').join(',')}}`);
    const objects = [data, data?.messages[0], data?.logit_bias, data?.metadata].filter((one) => one !== undefined);
    for (const one of objects) expect(Object.getPrototypeOf(one)).toBe(Object.prototype);
  });
});

/** As many pairs of metadata as are allowed, and what else is given. */
function fullMap(more: string): string {
  return `{${Array.from({ length: 16 }, (_, i) => `"k${i}":"v"`).join(',')}${more}}`;
}
