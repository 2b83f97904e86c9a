import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chatRequestSchema } from '../../../src/schema/chat.ts';
import { compiledChatRequest } from '../../../src/schema/compiled.ts';
import { chatRequest, clone, damagedBodies, damages } from './arbitrary.ts';

describe('the compiled schema of a chat request', () => {
  const compiled = compiledChatRequest();

  it('is another function, made once', () => {
    expect(compiled).not.toBe(chatRequestSchema);
    expect(compiledChatRequest()).toBe(compiled);
  });

  it('says of every request what the schema says, and makes the same of it', () => {
    const seen = { taken: 0, refused: 0 };
    fc.assert(
      fc.property(chatRequest, damages, (request, ways) => {
        for (const body of [clone(request), ...damagedBodies(request, ways)]) {
          const [ours, theirs] = [chatRequestSchema.safeParse(clone(body)), compiled.safeParse(clone(body))];
          expect(theirs.success).toBe(ours.success);
          expect(theirs.data).toEqual(ours.data);
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
    expect(compiled.safeParse({ messages: [{ role: 'user', content: 'Hi' }], ...fields }).success).toBe(false);
  });

  it('drops keys that are named __proto__, also in maps, where the schema keeps them, and pollutes nothing', () => {
    const body = '{"messages":[{"role":"user","content":"Hi","__proto__":{"a":1}}],"logit_bias":{"__proto__":1,"5":2}}';
    const { data } = compiled.safeParse(JSON.parse(body));
    expect(JSON.stringify(data)).toBe('{"messages":[{"role":"user","content":"Hi"}],"logit_bias":{"5":2}}');
    expect([data, data?.messages[0], data?.logit_bias].map((one) => Object.getPrototypeOf(one))).toEqual(
      Array(3).fill(Object.prototype),
    );
  });
});
