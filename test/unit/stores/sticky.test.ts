import { describe, expect, it } from 'vitest';
import { defaultWorkspaceId, type WorkspaceId } from '../../../src/call/workspace.ts';
import { createSticky, type StickyAddress } from '../../../src/stores/sticky.ts';
import { manualClock } from '../../support/manual-clock.ts';

const at: StickyAddress = {
  workspaceId: defaultWorkspaceId,
  slug: 'm/1',
  conversation: { kind: 'session', key: 's1' },
};
const ttlMs = 600_000;
const setUp = (max = 100) => {
  const clock = manualClock();
  return { clock, sticky: createSticky({ clock, ttlMs, max }) };
};

describe('what a conversation used last', () => {
  it('is remembered until its time is up, which starts anew with each success', async () => {
    const { clock, sticky } = setUp();
    expect(sticky.get(at)).toBe(null);
    sticky.pin(at, 'up a');
    await clock.advance(ttlMs - 1);
    expect(sticky.get(at)).toBe('up a');
    // Being asked for is no success.
    await clock.advance(1);
    expect(sticky.get(at)).toBe(null);
    sticky.pin(at, 'up a');
    await clock.advance(ttlMs - 1);
    sticky.pin(at, 'alt b');
    await clock.advance(ttlMs - 1);
    expect(sticky.get(at)).toBe('alt b');
  });
  it.each<[string, StickyAddress]>([
    ['workspace', { ...at, workspaceId: '11111111-1111-4111-8111-111111111111' as WorkspaceId }],
    ['model', { ...at, slug: 'm/2' }],
    ['session', { ...at, conversation: { kind: 'session', key: 's2' } }],
    ['kind of key', { ...at, conversation: { kind: 'opening', key: 1 } }],
  ])('is not that of another %s', (_, other) => {
    const { sticky } = setUp();
    sticky.pin(at, 'up a');
    expect(sticky.get(other)).toBe(null);
    sticky.pin(other, 'alt b');
    expect([sticky.get(at), sticky.get(other)]).toEqual(['up a', 'alt b']);
  });
  it('is forgotten for those who came last when there are too many', () => {
    const { sticky } = setUp(3);
    const session = (n: number): StickyAddress => ({ ...at, conversation: { kind: 'session', key: `${n}` } });
    for (let n = 0; n < 4; n++) {
      sticky.pin(session(n), `up ${n}`);
      sticky.get(session(0));
    }
    expect([0, 1, 2, 3].map((n) => sticky.get(session(n)))).toEqual(['up 0', null, 'up 2', 'up 3']);
  });
});

describe('a workspace with more conversations than there are places', () => {
  const conversation = (kind: 'session' | 'opening', n: number): StickyAddress['conversation'] =>
    kind === 'session' ? { kind, key: `${n}` } : { kind, key: n };
  it.each(['session', 'opening'] as const)('forgets its own, and none of another (%s)', (kind) => {
    const { sticky } = setUp(10);
    const other = '22222222-2222-4222-8222-222222222222' as WorkspaceId;
    const theirs = (n: number): StickyAddress => ({ ...at, workspaceId: other, conversation: conversation(kind, n) });
    const own = (n: number): StickyAddress => ({ ...at, conversation: conversation(kind, n) });
    for (let n = 0; n < 5; n++) sticky.pin(theirs(n), `up ${n}`);
    for (let n = 0; n < 1_000; n++) sticky.pin(own(n), 'up');
    expect([0, 1, 2, 3, 4].map((n) => sticky.get(theirs(n)))).toEqual([0, 1, 2, 3, 4].map((n) => `up ${n}`));
    expect([sticky.get(own(994)), sticky.get(own(995))]).toEqual([null, 'up']);
  });
  it('has the places of one that is gone, whose pins are over', async () => {
    const { clock, sticky } = setUp(4);
    const other = '22222222-2222-4222-8222-222222222222' as WorkspaceId;
    for (const key of ['1', '2'])
      sticky.pin({ ...at, workspaceId: other, conversation: { kind: 'session', key } }, 'up');
    await clock.advance(ttlMs);
    const own = ['1', '2', '3', '4'].map((key): StickyAddress => ({ ...at, conversation: { kind: 'session', key } }));
    for (const one of own) sticky.pin(one, 'up');
    expect(own.map(sticky.get)).toEqual(['up', 'up', 'up', 'up']);
  });
});

describe('a conversation known by its opening', () => {
  const opening: StickyAddress = { ...at, conversation: { kind: 'opening', key: 4711 } };

  it.each<[string, StickyAddress]>([
    ['workspace', { ...opening, workspaceId: '11111111-1111-4111-8111-111111111111' as WorkspaceId }],
    ['model', { ...opening, slug: 'm/2' }],
    ['opening', { ...opening, conversation: { kind: 'opening', key: 4712 } }],
  ])('is not that of another %s', (_, other) => {
    const { sticky } = setUp();
    sticky.pin(opening, 'up a');
    expect(sticky.get(other)).toBe(null);
    sticky.pin(other, 'alt b');
    expect([sticky.get(opening), sticky.get(other)]).toEqual(['up a', 'alt b']);
  });
  it('is kept for its whole time from the last success on, however soon that came after the one before', async () => {
    const { clock, sticky } = setUp();
    for (let n = 0; n < 5; n++) {
      sticky.pin(opening, 'up a');
      await clock.advance(1);
    }
    await clock.advance(ttlMs - 2);
    expect(sticky.get(opening)).toBe('up a');
    await clock.advance(1);
    expect(sticky.get(opening)).toBe(null);
  });
  it('is not among the oldest after a success', () => {
    const { sticky } = setUp(3);
    const nth = (key: number): StickyAddress => ({ ...at, conversation: { kind: 'opening', key } });
    for (let n = 0; n < 4; n++) {
      sticky.pin(nth(n), `up ${n}`);
      sticky.pin(nth(0), 'up 0');
    }
    expect([0, 1, 2, 3].map((n) => sticky.get(nth(n)))).toEqual(['up 0', null, 'up 2', 'up 3']);
  });
});

it('openings need not be looked up before there is one', () => {
  const { sticky } = setUp();
  sticky.pin(at, 'up a');
  expect(sticky.hasOpenings()).toBe(false);
  sticky.pin({ ...at, conversation: { kind: 'opening', key: 4711 } }, 'up a');
  expect(sticky.hasOpenings()).toBe(true);
});
