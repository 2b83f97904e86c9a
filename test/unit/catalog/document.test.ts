import { describe, expect, it } from 'vitest';
import { isGatewayError } from '../../../src/base/errors.ts';
import type { Model } from '../../../src/call/model.ts';
import { type CatalogSources, createCatalog } from '../../../src/catalog/catalog.ts';
import { CatalogError, createDocument, type DocumentReader } from '../../../src/catalog/document.ts';
import { manualClock } from '../../support/manual-clock.ts';

const providers = new Map([['up', { dataPolicy: { zeroRetention: null, trains: null } }]]);
const named = (slug: string): Model => ({ slug, name: slug, endpoints: [] });

/** A document whose content is what the test says: slugs, an error, or a promise of them. */
function setup(sources: Partial<CatalogSources> = {}) {
  const clock = manualClock();
  const told: [string, object, string][] = [];
  const state = { next: (): unknown => ['acme/a'], reads: 0, accepted: 0, signals: [] as AbortSignal[] };
  const read: DocumentReader = async (signal) => {
    state.reads++;
    state.signals.push(signal);
    const value = await state.next();
    return value === 'unchanged' ? value : { value, accepted: () => state.accepted++ };
  };
  const parse = (value: unknown): readonly Model[] => {
    if (Array.isArray(value)) return value.map(named);
    throw new CatalogError([{ path: 'models', message: `expected array, not ${value}` }]);
  };
  const logger = {
    info: (fields: object, text: string) => told.push(['info', fields, text]),
    warn: (fields: object, text: string) => told.push(['warn', fields, text]),
  };
  const document = createDocument({ read, parse, refreshMs: 60_000, timeoutMs: 1_000, clock, logger });
  const catalog = createCatalog({ models: [named('own/x')], document, providers, clock, ...sources });
  const slugs = async (...asked: string[]) => (await catalog.view(asked)).models.map(({ slug }) => slug);
  return { clock, told, state, catalog, document, slugs };
}

/** What a view that cannot be had fails with, now or later. */
async function failure(view: () => unknown): Promise<unknown> {
  try {
    await view();
  } catch (error) {
    return error;
  }
  throw new Error('It did not fail');
}

const broken = () => {
  throw new Error('no route to host');
};

describe('a document', () => {
  it('is waited for by the first request, and read once for all of them', async () => {
    const { state, slugs } = setup();
    expect(await Promise.all([slugs('acme/a'), slugs('own/x'), slugs()])).toEqual(
      Array.from({ length: 3 }, () => ['own/x', 'acme/a']),
    );
    expect(state).toMatchObject({ reads: 1, accepted: 1 });
  });
  it('is not read before a request comes, nor while it is believed', async () => {
    const { state, slugs, clock, catalog } = setup();
    await clock.advance(600_000);
    expect(state.reads).toBe(0);
    await slugs();
    await clock.advance(59_999);
    expect(catalog.view(['acme/a'])).not.toBeInstanceOf(Promise);
    await clock.advance(0);
    expect(state.reads).toBe(1);
    expect(clock.pending).toBe(0);
  });
  it('is read again behind the back of the request that finds it old', async () => {
    const { state, slugs, clock, catalog } = setup();
    await slugs();
    await clock.advance(60_000);
    state.next = () => ['acme/b'];
    const present = catalog.view(['acme/b']);
    expect(present).not.toBeInstanceOf(Promise);
    await clock.advance(0);
    expect(await slugs()).toEqual(['own/x', 'acme/b']);
    // A view stays what it was.
    expect((await present).models.map(({ slug }) => slug)).toEqual(['own/x', 'acme/a']);
  });
  it('that is unchanged is believed anew', async () => {
    const { state, slugs, clock, catalog } = setup();
    await slugs();
    const before = catalog.view([]);
    state.next = () => 'unchanged';
    await clock.advance(60_000);
    catalog.view([]);
    await clock.advance(59_999);
    expect(catalog.view([])).toBe(before);
    expect(state).toMatchObject({ reads: 2, accepted: 1 });
  });
});

describe('a document that was never read', () => {
  it.each<[string, () => unknown]>([
    ['cannot be reached', broken],
    ['is not what was expected', () => 'nonsense'],
    ['is not read in time', () => new Promise(() => undefined)],
  ])('and %s lets own models be served, and others be a 503 with Retry-After', async (_, next) => {
    const { state, catalog, clock, slugs } = setup();
    state.next = next;
    expect(await clock.until(slugs('own/x'))).toEqual(['own/x']);
    expect(await slugs('own/x:nitro', 'own/x')).toEqual(['own/x']);
    const error = await clock.until(failure(() => catalog.view(['own/x', 'acme/a'])));
    expect(isGatewayError(error) && error).toMatchObject({ status: 503, retryAfterMs: 5_000 });
    expect(await failure(() => catalog.view(['up/x']))).toMatchObject({ status: 503 });
    expect(await failure(() => catalog.view(['~own/x-latest']))).toMatchObject({ status: 503 });
    expect(state.reads).toBe(1);
  });
  it('is tried again every few seconds, and who needs it waits for that', async () => {
    const { state, catalog, clock, slugs } = setup();
    state.next = broken;
    await failure(() => catalog.view(['acme/a']));
    await clock.advance(4_999);
    expect(await failure(() => catalog.view(['acme/a']))).toMatchObject({ retryAfterMs: 1_000 });
    state.next = () => ['acme/a'];
    await clock.advance(1);
    expect(await slugs('acme/a')).toEqual(['own/x', 'acme/a']);
    expect(state.reads).toBe(2);
  });
  it('that hangs when it is tried again holds up nobody who can do without it', async () => {
    const { state, catalog, clock } = setup();
    state.next = broken;
    await failure(() => catalog.view(['acme/a']));
    state.next = () => new Promise(() => undefined);
    await clock.advance(5_000);
    expect(catalog.view(['own/x'])).not.toBeInstanceOf(Promise);
    expect(state.reads).toBe(1);
    await clock.advance(0);
    expect(state.reads).toBe(2);
    expect(catalog.view(['own/x'])).not.toBeInstanceOf(Promise);
    expect(catalog.view(['acme/a'])).toBeInstanceOf(Promise);
  });
  it('keeps nobody waiting for longer than the time-out', async () => {
    const { state, catalog, clock } = setup();
    let settled = 0;
    state.next = () => new Promise(() => undefined);
    void failure(() => catalog.view(['acme/a'])).then(() => settled++);
    await clock.advance(999);
    expect(settled).toBe(0);
    expect(state.signals[0]?.aborted).toBe(false);
    await clock.advance(1);
    expect(settled).toBe(1);
    expect(state.signals[0]?.aborted).toBe(true);
  });
  it('is not waited for once the gateway is closed', async () => {
    const { state, catalog } = setup();
    state.next = () => new Promise(() => undefined);
    const waiting = failure(() => catalog.view(['acme/a']));
    catalog.close();
    expect(await waiting).toMatchObject({ status: 503 });
  });
  it('whose answer comes too late stays unread', async () => {
    const { state, catalog, clock, slugs } = setup();
    let answer: (value: unknown) => void = () => undefined;
    state.next = () => new Promise((resolve) => (answer = resolve));
    await clock.until(failure(() => catalog.view(['acme/a'])));
    answer(['acme/late']);
    expect(await slugs('own/x')).toEqual(['own/x']);
  });
});

describe('a document that went bad', () => {
  it('leaves the last good copy in place, is tried again soon, and comes back', async () => {
    const { state, slugs, clock, catalog } = setup();
    await slugs();
    state.next = broken;
    await clock.advance(60_000);
    catalog.view([]);
    await clock.advance(4_999);
    expect(await slugs('acme/a')).toEqual(['own/x', 'acme/a']);
    expect(state.reads).toBe(2);
    state.next = () => ['acme/c'];
    await clock.advance(1);
    catalog.view([]);
    await clock.advance(0);
    expect(await slugs()).toEqual(['own/x', 'acme/c']);
  });
  it('is told of once for each mistake until it is good again', async () => {
    const { state, clock, catalog, told, slugs } = setup();
    await slugs();
    const turns: unknown[] = ['x', 'x', 'y', 'x', 'y', ['acme/a'], ['acme/a'], 'x', 'x'];
    for (const turn of turns) {
      state.next = () => turn;
      await clock.advance(60_000);
      catalog.view([]);
      await clock.advance(0);
    }
    const mistake = (value: string) => ({ issues: [{ path: 'models', message: `expected array, not ${value}` }] });
    expect(told).toEqual([
      ['warn', mistake('x'), 'the last good catalogue document stays'],
      ['warn', mistake('y'), 'the last good catalogue document stays'],
      ['info', { models: 1 }, 'the catalogue document is good again'],
      ['warn', mistake('x'), 'the last good catalogue document stays'],
    ]);
  });
  it('is no worse for a logger that fails', async () => {
    const clock = manualClock();
    const fail = () => {
      throw new Error('disk full');
    };
    const logger = { info: fail, warn: fail };
    const read = async () => broken();
    const document = createDocument({ read, parse: () => [], refreshMs: 1, timeoutMs: 1_000, clock, logger });
    const catalog = createCatalog({ models: [named('own/x')], document, providers, clock });
    expect((await catalog.view(['own/x'])).models).toHaveLength(1);
  });
});

describe('refresh', () => {
  it('reads the document at once, and says how many models it holds', async () => {
    const { state, catalog, slugs } = setup();
    await slugs();
    state.next = () => ['acme/a', 'acme/b'];
    expect(await catalog.refresh()).toEqual({ models: 2 });
    expect(await slugs()).toEqual(['own/x', 'acme/a', 'acme/b']);
  });
  it('rejects with what is wrong, and keeps the last good copy', async () => {
    const { state, catalog, slugs } = setup();
    await slugs();
    state.next = () => 'nonsense';
    const error = await failure(() => catalog.refresh());
    expect(error).toBeInstanceOf(CatalogError);
    expect(error).toMatchObject({
      message: 'catalog: models: expected array, not nonsense',
      issues: [{ path: 'models', message: 'expected array, not nonsense' }],
    });
    expect(await slugs()).toEqual(['own/x', 'acme/a']);
  });
  it('does not take a reading that began before for its own', async () => {
    const { state, catalog, slugs } = setup();
    let answer: (value: unknown) => void = () => undefined;
    state.next = () => new Promise((resolve) => (answer = resolve));
    const first = slugs();
    await Promise.resolve();
    const refreshed = Promise.all([catalog.refresh(), catalog.refresh()]);
    state.next = () => ['acme/new'];
    answer(['acme/old']);
    await first;
    await refreshed;
    expect(await slugs()).toEqual(['own/x', 'acme/new']);
    expect(state.reads).toBe(2);
  });
  it('has nothing to do without a document', async () => {
    expect(await createCatalog({ models: [], providers, clock: manualClock() }).refresh()).toEqual({ models: 0 });
  });
});
