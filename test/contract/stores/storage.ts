import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Address, Change, RankRange, RankSpan, Storage } from '../../../src/stores/storage/storage.ts';

export interface OpenedStorage {
  storage: Storage;
  close(): Promise<void>;
}

/** What every storage promises. Partitions are new in each test, so that the server may hold whatever else. */
export interface StorageSuiteOptions {
  /** Most concurrent commits of a test; fewer for a server that is slow to start a transaction. Default 100. */
  writers?: number;
}

/**
 * @param open  Each call opens one more handle, with a connection of its own, on the same data where `isShared` is
 *   true.
 */
export function testStorage(
  name: string,
  open: () => Promise<OpenedStorage>,
  { writers = 100 }: StorageSuiteOptions = {},
): void {
  describe(`storage: ${name}`, () => {
    let opened: OpenedStorage;
    let storage: Storage;
    beforeAll(async () => {
      opened = await open();
      storage = opened.storage;
    });
    afterAll(() => opened?.close());

    /** Partitions of one test; `part()` is always the same one. */
    function place() {
      const base = `t${crypto.randomUUID()}`;
      const at = (id: string, kind = 'thing', partition = base): Address => ({ partition, kind, id });
      const ids = async (kind = 'thing', partition = base) =>
        (await storage.list(partition, kind, { offset: 0, limit: 1000 })).records.map(({ id }) => id);
      return { base, at, ids };
    }
    const put = async (at: Address, value: string | null, rest: Partial<Change> = {}) =>
      expect(await storage.commit([{ at, value, ...rest }])).toBe(true);

    describe('reading and writing', () => {
      it('gives null for what is not there', async () => {
        const { at } = place();
        expect(await storage.get(at('a'))).toBeNull();
        expect(await storage.getMany([at('a'), at('b')])).toEqual([null, null]);
      });
      it('gives back what was written, and what it was replaced by', async () => {
        const { at } = place();
        await put(at('a'), 'one');
        expect(await storage.get(at('a'))).toBe('one');
        await put(at('a'), 'two');
        expect(await storage.get(at('a'))).toBe('two');
      });
      it('removes, and does not mind that there is nothing to remove', async () => {
        const { at } = place();
        await put(at('a'), 'one');
        await put(at('a'), null);
        expect(await storage.get(at('a'))).toBeNull();
        await put(at('a'), null);
        await put(at('never'), null);
      });
      it('gives many in the order asked, of several kinds, the same one twice too', async () => {
        const { at } = place();
        await storage.commit([
          { at: at('a'), value: 'thing a' },
          { at: at('b'), value: 'thing b' },
          { at: at('a', 'other'), value: 'other a' },
        ]);
        expect(await storage.getMany([at('b'), at('none'), at('a', 'other'), at('a'), at('b')])).toEqual([
          'thing b',
          null,
          'other a',
          'thing a',
          'thing b',
        ]);
      });
      it('reads nothing and writes nothing when asked for nothing', async () => {
        expect(await storage.getMany([])).toEqual([]);
        expect(await storage.commit([])).toBe(true);
      });
      it('keeps apart what has the same id in another kind or another partition', async () => {
        const { base, at } = place();
        const places = [at('a'), at('a', 'other'), at('a', 'thing', `${base}x`), at('thing', 'a')];
        for (const [index, one] of places.entries()) await put(one, `${index}`, { rank: index });
        for (const [index, one] of places.entries()) expect(await storage.get(one)).toBe(`${index}`);
        await put(places[0] as Address, null);
        expect(await Promise.all(places.map((one) => storage.get(one)))).toEqual([null, '1', '2', '3']);
      });
      it('keeps apart ids, kinds and partitions that begin with one another, or meet in the middle', async () => {
        const { base, at } = place();
        const places = [
          at('a'),
          at('a.b'),
          at('a-b'),
          at('a_b'),
          at('aa'),
          at('A'),
          at('a', 'thing-a'),
          at('a.a', 'thing'),
          at('a', 'thin'),
          at('a', 'thing', `${base}.a`),
          at('a', 'thing', `${base}-thing`),
          at('a', 'thing', `${base}.thing`),
          at('thing', 'thing', base),
          at('thing.a', 'thing', base),
        ];
        for (const [index, one] of places.entries()) await put(one, `${index}`, { rank: index, expect: null });
        const seen = await Promise.all(places.map((one) => storage.get(one)));
        expect(seen).toEqual(places.map((_, index) => `${index}`));
        const listed = await storage.list(`${base}.a`, 'thing', { offset: 0, limit: 10 });
        expect(listed).toEqual({ records: [{ id: 'a', value: '9' }], total: 1 });
      });
      it('takes the longest names there are', async () => {
        const long: Address = {
          partition: `p${'-'.repeat(63)}`.padEnd(100, crypto.randomUUID()),
          kind: 'k'.repeat(30),
          id: 'i'.repeat(100),
        };
        const other = { ...long, id: `${'i'.repeat(99)}j` };
        await put(long, 'here', { rank: 1 });
        expect(await storage.getMany([long, other])).toEqual(['here', null]);
        expect(await storage.list(long.partition, long.kind, { offset: 0, limit: 5 })).toEqual({
          records: [{ id: long.id, value: 'here' }],
          total: 1,
        });
        await put(long, null);
      });
      it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty', '.', '..', '-', '_', '0', '00', '1e3', '-1'])(
        'finds nothing under the id %s until it is written, and that afterwards',
        async (id) => {
          const { at, ids } = place();
          expect(await storage.get(at(id))).toBeNull();
          await put(at(id), 'x', { expect: null, rank: 0 });
          expect(await storage.get(at(id))).toBe('x');
          expect(await ids()).toEqual([id]);
          await put(at(id), null, { expect: 'x' });
          expect([await storage.get(at(id)), await ids()]).toEqual([null, []]);
        },
      );
    });

    describe('text', () => {
      const backslash = '\\';
      it.each<[string, string]>([
        ['an empty text', ''],
        ['a space', ' '],
        ['white space around it', '\t\r\n x \n\n'],
        ['an object', '{"a":1,"b":[true,null],"expires":1}'],
        ['an object such as Keyv writes', '{"value":"x","expires":1000}'],
        ['a number', '1'],
        ['a number no float can hold', '12345678901234567890.10'],
        ['the word null', 'null'],
        ['the word undefined', 'undefined'],
        ['the word true', 'true'],
        ['a JSON text', '"quoted"'],
        ['a text that begins like base64', ':base64:aGVsbG8='],
        ['colons', '::x:'],
        ['quotes and backslashes', `'"\`${backslash}${backslash}n${backslash}u0000${backslash}`],
        ['what SQL and Lua would read', `'; DROP TABLE keyv; -- $1 ? %s %% :a @b {{x}} [[x]]`],
        ['a Redis reply', '+OK\r\n$-1\r\n*0\r\n'],
        ['umlauts, Chinese, emoji, a family', 'äöüß 漢字 🦊 👨‍👩‍👧‍👦'],
        ['accents apart and together', 'e\u0301 \u00e9'],
        ['separators and marks of direction', '\u2028\u2029\u200f\u202e\ufeff'],
        ['control characters but NUL', '\u0001\u0007\u001b[31m\u007f\u0085'],
      ])('comes back as it was: %s', async (_, value) => {
        const { at } = place();
        await put(at('a'), value, { rank: 1 });
        expect(await storage.get(at('a'))).toBe(value);
        expect((await storage.getMany([at('a')]))[0]).toBe(value);
        expect((await storage.list(at('a').partition, 'thing', { offset: 0, limit: 1 })).records[0]?.value).toBe(value);
        // What is there is what is compared with, to the letter.
        expect(await storage.commit([{ at: at('a'), expect: `${value} `, value: 'no' }])).toBe(false);
        expect(await storage.commit([{ at: at('a'), expect: null, value: 'no' }])).toBe(false);
        expect(await storage.commit([{ at: at('a'), expect: value, value: 'yes' }])).toBe(true);
      });
      it.each([
        ['letters', 'x'.repeat(1_000_000)],
        ['emoji', '🦊'.repeat(250_000)],
        ['JSON', JSON.stringify(Array.from({ length: 20_000 }, (_, index) => ({ index, text: '"quoted" \\ text' })))],
      ])('of a megabyte comes back as it was: %s', async (_, value) => {
        const { at } = place();
        await put(at('a'), value, { rank: 1 });
        expect((await storage.get(at('a'))) === value).toBe(true);
        expect(await storage.commit([{ at: at('a'), expect: `${value}!`, value: 'no' }])).toBe(false);
        expect(await storage.commit([{ at: at('a'), expect: value, value: 'yes' }])).toBe(true);
      });
    });

    describe('expectations', () => {
      it('absent: writes where nothing is, and only there', async () => {
        const { at } = place();
        expect(await storage.commit([{ at: at('a'), expect: null, value: 'first' }])).toBe(true);
        expect(await storage.commit([{ at: at('a'), expect: null, value: 'second' }])).toBe(false);
        expect(await storage.get(at('a'))).toBe('first');
        await put(at('a'), null);
        expect(await storage.commit([{ at: at('a'), expect: null, value: 'third' }])).toBe(true);
      });
      it('an empty text is something, not nothing', async () => {
        const { at } = place();
        await put(at('a'), '');
        expect(await storage.commit([{ at: at('a'), expect: null, value: 'x' }])).toBe(false);
        expect(await storage.commit([{ at: at('b'), expect: '', value: 'x' }])).toBe(false);
        expect(await storage.commit([{ at: at('a'), expect: '', value: 'x' }])).toBe(true);
      });
      it('exact: writes over that text, and over no other', async () => {
        const { at } = place();
        expect(await storage.commit([{ at: at('a'), expect: 'one', value: 'two' }])).toBe(false);
        await put(at('a'), 'one');
        expect(await storage.commit([{ at: at('a'), expect: 'One', value: 'two' }])).toBe(false);
        expect(await storage.commit([{ at: at('a'), expect: 'on', value: 'two' }])).toBe(false);
        expect(await storage.get(at('a'))).toBe('one');
        expect(await storage.commit([{ at: at('a'), expect: 'one', value: 'two' }])).toBe(true);
        expect(await storage.get(at('a'))).toBe('two');
      });
      it('hold for a removal as well', async () => {
        const { at, ids } = place();
        await put(at('a'), 'one', { rank: 1 });
        expect(await storage.commit([{ at: at('a'), expect: 'two', value: null }])).toBe(false);
        expect(await ids()).toEqual(['a']);
        expect(await storage.commit([{ at: at('a'), expect: 'one', value: null }])).toBe(true);
        expect(await storage.commit([{ at: at('a'), expect: 'one', value: null }])).toBe(false);
        expect(await storage.commit([{ at: at('a'), expect: null, value: null }])).toBe(true);
        expect([await storage.get(at('a')), await ids()]).toEqual([null, []]);
      });
      it('may look at a record without changing it', async () => {
        const { at } = place();
        await put(at('guard'), 'open');
        const attempt = (value: string) =>
          storage.commit([
            { at: at('guard'), expect: 'open', value: 'open' },
            { at: at('a'), value },
          ]);
        expect(await attempt('one')).toBe(true);
        await put(at('guard'), 'shut');
        expect(await attempt('two')).toBe(false);
        expect(await storage.getMany([at('guard'), at('a')])).toEqual(['shut', 'one']);
      });
      it.each([0, 1, 2])('of several: one that does not hold (the %i.) lets nothing be written', async (wrong) => {
        const { at, ids } = place();
        await put(at('replaced'), 'old', { rank: 5 });
        await put(at('removed'), 'old', { rank: 6 });
        const changes: Change[] = [
          { at: at('new'), expect: null, value: 'new', rank: 1 },
          { at: at('replaced'), expect: 'old', value: 'new', rank: 9 },
          { at: at('removed'), expect: 'old', value: null },
        ];
        const spoiled = changes.map((change, index) => (index === wrong ? { ...change, expect: 'other' } : change));
        const all = [at('new'), at('replaced'), at('removed')];
        expect(await storage.commit(spoiled)).toBe(false);
        expect(await storage.getMany(all)).toEqual([null, 'old', 'old']);
        expect(await ids()).toEqual(['replaced', 'removed']);
        expect(await storage.commit(changes)).toBe(true);
        expect(await storage.getMany(all)).toEqual(['new', 'new', null]);
        expect(await ids()).toEqual(['new', 'replaced']);
      });
    });

    describe('lists', () => {
      it('show what has a rank, in its order, with what it holds now', async () => {
        const { base, at } = place();
        await put(at('c'), 'three', { rank: 30 });
        await put(at('a'), 'one', { rank: 10 });
        await put(at('b'), 'two', { rank: 20 });
        await put(at('unlisted'), 'four');
        await put(at('b'), 'TWO');
        expect(await storage.list(base, 'thing', { offset: 0, limit: 10 })).toEqual({
          records: [
            { id: 'a', value: 'one' },
            { id: 'b', value: 'TWO' },
            { id: 'c', value: 'three' },
          ],
          total: 3,
        });
      });
      it('are read from a rank, from their end, and counted up to a number, where the store can', async () => {
        if (!storage.seek) return;
        const { base, at } = place();
        for (const [id, rank] of Object.entries({ a: -30, b: -20, d: -20, c: 10 })) await put(at(id), id, { rank });
        await put(at('unlisted'), 'e');
        const read = async (range: Partial<RankRange>) => {
          const all = { from: null, limit: 10, isFromEnd: false, countUpTo: 10, ...range };
          const { records, total } = await (storage.seek as NonNullable<Storage['seek']>)(base, 'thing', all);
          return [records.map(({ id }) => id).join(''), total];
        };
        expect(await read({})).toEqual(['abdc', 4]);
        expect(await read({ from: -20, limit: 2 })).toEqual(['bd', 4]);
        expect(await read({ from: -19 })).toEqual(['c', 4]);
        expect(await read({ isFromEnd: true, limit: 2, countUpTo: 3 })).toEqual(['cd', 3]);
        expect(await read({ from: 11, countUpTo: 0 })).toEqual(['', 0]);
      });
      it('are read in parts, several at once and of several partitions, where the store can', async () => {
        if (!storage.seekAll) return;
        const [one, other] = [place(), place()];
        for (const [id, rank] of Object.entries({ a: -30, b: -20, d: -20, c: 10 }))
          await put(one.at(id), `${id} of "one"\n {}`, { rank });
        await put(one.at('unlisted'), 'e');
        await put(other.at('a.b-c'), 'ä \ud83d\ude00', { rank: 5 });
        const read = async (...asked: Partial<RankSpan>[]) => {
          const spans = asked.map((span) => {
            const all = { partition: one.base, kind: 'thing', from: Number.MIN_SAFE_INTEGER };
            return { ...all, before: Number.MAX_SAFE_INTEGER, limit: 10, ...span };
          });
          return (await (storage.seekAll as NonNullable<Storage['seekAll']>)(spans)).map((records) =>
            records.map(({ id, value, rank }) => [id, value, rank]),
          );
        };
        const [a, b, d, c] = [
          ['a', 'a of "one"\n {}', -30],
          ['b', 'b of "one"\n {}', -20],
          ['d', 'd of "one"\n {}', -20],
          ['c', 'c of "one"\n {}', 10],
        ];
        const ofOther = { partition: other.base };
        expect(await read()).toEqual([]);
        expect(await read({}, ofOther, { kind: 'none' })).toEqual([[a, b, d, c], [['a.b-c', 'ä \ud83d\ude00', 5]], []]);
        expect(await read({ from: -20, before: 10 }, { limit: 2 }, { limit: 0 })).toEqual([[b, d], [a, b], []]);
        expect(await read({ having: ['b of', '"one"\n'] }, { having: [] }, { ...ofOther, having: ['%', 'ä'] })).toEqual(
          [
            [a, b, d, c].map((record) => (record === b ? b : [record?.[0], '', record?.[2]])),
            [a, b, d, c],
            [['a.b-c', '', 5]],
          ],
        );
      });
      it('are empty where nothing is', async () => {
        const { base } = place();
        expect(await storage.list(base, 'thing', { offset: 0, limit: 10 })).toEqual({ records: [], total: 0 });
        expect(await storage.list(base, 'thing', { offset: 7, limit: 0 })).toEqual({ records: [], total: 0 });
      });
      it('put equal ranks in the order of the bytes of their ids', async () => {
        const { at, ids } = place();
        const sorted = [
          '-',
          '.',
          '0',
          '10',
          '9',
          'A',
          'A.',
          'A0',
          'B',
          'Z',
          '_',
          'a',
          'a-',
          'a.b',
          'aA',
          'aa',
          'b',
          'z',
        ];
        await storage.commit(sorted.toReversed().map((id) => ({ at: at(id), value: id, rank: 7 })));
        await put(at('last'), 'x', { rank: 8 });
        await put(at('zfirst'), 'x', { rank: 6 });
        expect(await ids()).toEqual(['zfirst', ...sorted, 'last']);
      });
      it('order ranks as numbers, negative and huge ones too', async () => {
        const { at, ids } = place();
        const ranks = [
          -Number.MAX_SAFE_INTEGER,
          -1000,
          -9,
          0,
          1,
          9,
          10,
          100,
          1_767_225_600_000,
          Number.MAX_SAFE_INTEGER,
        ];
        const shuffled = ranks.map((rank, index) => ({ rank, index })).sort((a, b) => (a.index % 3) - (b.index % 3));
        for (const { rank, index } of shuffled) await put(at(`i${index}`), `${rank}`, { rank });
        expect(await ids()).toEqual(ranks.map((_, index) => `i${index}`));
      });
      it('tell neighbours among the largest ranks apart', async () => {
        const { at, ids } = place();
        const largest = Number.MAX_SAFE_INTEGER;
        await put(at('a'), 'x', { rank: largest });
        await put(at('b'), 'x', { rank: largest - 1 });
        await put(at('c'), 'x', { rank: largest - 2 });
        expect(await ids()).toEqual(['c', 'b', 'a']);
      });
      it('follow a change of rank, and stay when there is none', async () => {
        const { at, ids } = place();
        await put(at('a'), '1', { rank: 1 });
        await put(at('b'), '1', { rank: 2 });
        await put(at('a'), '2', { rank: 3 });
        expect(await ids()).toEqual(['b', 'a']);
        await put(at('a'), '3', { rank: 0 });
        await put(at('b'), '2');
        expect(await ids()).toEqual(['a', 'b']);
        await put(at('a'), '4', { rank: 0 });
        expect(await ids()).toEqual(['a', 'b']);
      });
      it('take in a record that was there before it had a rank', async () => {
        const { at, ids } = place();
        await put(at('a'), 'x');
        expect(await ids()).toEqual([]);
        await put(at('a'), 'x', { rank: 1 });
        expect(await ids()).toEqual(['a']);
      });
      it('drop what is removed, and do not take it back unless it has a rank again', async () => {
        const { at, ids } = place();
        await put(at('a'), 'x', { rank: 1 });
        await put(at('b'), 'x', { rank: 2 });
        await put(at('a'), null, { rank: 5 });
        expect(await ids()).toEqual(['b']);
        await put(at('a'), 'y');
        expect(await ids()).toEqual(['b']);
        await put(at('a'), 'y', { rank: 9 });
        expect(await ids()).toEqual(['b', 'a']);
      });
      it('change with several records at once: some come, some go, some move', async () => {
        const { base, at } = place();
        await storage.commit(['a', 'b', 'c', 'd'].map((id, rank) => ({ at: at(id), value: id, rank })));
        expect(
          await storage.commit([
            { at: at('a'), value: null },
            { at: at('b'), value: 'B', rank: 10 },
            { at: at('c'), value: 'C' },
            { at: at('e'), value: 'e', rank: -1 },
            { at: at('x', 'other'), value: 'x', rank: 0 },
          ]),
        ).toBe(true);
        expect(await storage.list(base, 'thing', { offset: 0, limit: 10 })).toEqual({
          records: [
            { id: 'e', value: 'e' },
            { id: 'c', value: 'C' },
            { id: 'd', value: 'd' },
            { id: 'b', value: 'B' },
          ],
          total: 4,
        });
        expect((await storage.list(base, 'other', { offset: 0, limit: 10 })).total).toBe(1);
      });
      it('hold neither foreign kinds nor foreign partitions', async () => {
        const { base, at, ids } = place();
        await put(at('mine'), 'x', { rank: 1 });
        await put(at('other-kind', 'thing-two'), 'x', { rank: 1 });
        await put(at('prefix-kind', 'thin'), 'x', { rank: 1 });
        await put(at('longer', 'thing', `${base}.b`), 'x', { rank: 1 });
        await put(at('longer-too', 'thing', `${base}0`), 'x', { rank: 1 });
        await put(at('shorter', 'thing', base.slice(0, -1)), 'x', { rank: 1 });
        expect(await ids()).toEqual(['mine']);
        expect(await ids('thin')).toEqual(['prefix-kind']);
        expect(await ids('thing', `${base}.b`)).toEqual(['longer']);
      });
      it('come in pages that together are the whole, each knowing how many there are', async () => {
        const { base, at } = place();
        const wanted = Array.from({ length: 257 }, (_, index) => `id-${String(index).padStart(4, '0')}`);
        // In an order that is none: 100 and 257 have no common divisor.
        for (let from = 0; from < wanted.length; from += 50) {
          const some = wanted.slice(from, from + 50).map((_, index) => ((from + index) * 100) % wanted.length);
          await storage.commit(
            some.map((n) => ({ at: at(wanted[n] as string), value: `${n}`, rank: Math.floor(n / 10) })),
          );
        }
        const seen: string[] = [];
        for (let offset = 0; offset < 300; offset += 50) {
          const { records, total } = await storage.list(base, 'thing', { offset, limit: 50 });
          expect(total).toBe(257);
          expect(records.length).toBe(Math.max(0, Math.min(50, 257 - offset)));
          seen.push(...records.map(({ id }) => id));
        }
        expect(seen).toEqual(wanted);
        expect(await storage.list(base, 'thing', { offset: 0, limit: 0 })).toEqual({ records: [], total: 257 });
        expect(await storage.list(base, 'thing', { offset: 257, limit: 10 })).toEqual({ records: [], total: 257 });
        expect((await storage.list(base, 'thing', { offset: 256, limit: 1000 })).records).toEqual([
          { id: 'id-0256', value: '256' },
        ]);
        await put(at('id-0100'), null);
        const { records, total } = await storage.list(base, 'thing', { offset: 99, limit: 2 });
        expect([records.map(({ id }) => id), total]).toEqual([['id-0099', 'id-0101'], 256]);
      });
    });

    describe('at the same time', () => {
      const many = Array.from({ length: writers }, (_, index) => index);

      it('of writers who all expect nothing exactly one wins', async () => {
        const { at, ids } = place();
        const won = await Promise.all(
          many.map((n) => storage.commit([{ at: at('a'), expect: null, value: `${n}`, rank: n }])),
        );
        expect(won.filter(Boolean)).toHaveLength(1);
        expect(await storage.get(at('a'))).toBe(`${won.indexOf(true)}`);
        expect(await ids()).toEqual(['a']);
      });
      it('of writers who also claim a name one gets it, and the others leave nothing behind', async () => {
        const { base, at, ids } = place();
        const won = await Promise.all(
          many.map((n) =>
            storage.commit([
              { at: at(`id-${n}`), expect: null, value: `${n}`, rank: n },
              { at: at('shop', 'name'), expect: null, value: `id-${n}` },
            ]),
          ),
        );
        expect(won.filter(Boolean)).toHaveLength(1);
        const winner = `id-${won.indexOf(true)}`;
        expect(await storage.get(at('shop', 'name'))).toBe(winner);
        expect(await ids()).toEqual([winner]);
        const seen = await storage.getMany(many.map((n) => at(`id-${n}`)));
        expect(seen.filter((value) => value !== null)).toHaveLength(1);
        expect((await storage.list(base, 'thing', { offset: 0, limit: 1 })).total).toBe(1);
      });
      it('a counter that is compared and set loses no count', async () => {
        const { at } = place();
        await put(at('count'), '0');
        await countUp(storage, at('count'), Math.min(20, writers), 5);
        expect(await storage.get(at('count'))).toBe(`${Math.min(20, writers) * 5}`);
      });
      it('records of different ids are all written and all listed', async () => {
        const { base, at, ids } = place();
        const done = await Promise.all(
          many.map((n) =>
            storage.commit([{ at: at(`id-${String(n).padStart(3, '0')}`), expect: null, value: 'x', rank: 0 }]),
          ),
        );
        expect(done.every(Boolean)).toBe(true);
        expect(await ids()).toEqual(many.map((n) => `id-${String(n).padStart(3, '0')}`));
        expect((await storage.list(base, 'thing', { offset: 0, limit: 1 })).total).toBe(writers);
      });
      it('records in opposite orders block nobody', async () => {
        const { at } = place();
        const pair = [at('a'), at('b')];
        const done = await Promise.all(
          many.map((n) =>
            storage.commit((n % 2 ? pair : pair.toReversed()).map((one) => ({ at: one, value: `${n}` }))),
          ),
        );
        expect(done.every(Boolean)).toBe(true);
        const [a, b] = await storage.getMany(pair);
        expect(a).toBe(b);
      });
      it('a pair written together is never read apart', async () => {
        const { at } = place();
        const pair = [at('a'), at('b')];
        await storage.commit(pair.map((one) => ({ at: one, value: '0' })));
        let isWriting = true;
        const write = async () => {
          for (let n = 1; n <= 40; n++) await storage.commit(pair.map((one) => ({ at: one, value: `${n}` })));
          isWriting = false;
        };
        let reads = 0;
        const read = async () => {
          while (isWriting) {
            const [a, b] = await storage.getMany(pair);
            expect(a).toBe(b);
            // One after the other: the second may be newer, never older.
            const [first, second] = [await storage.get(at('b')), await storage.get(at('a'))];
            expect(Number(second)).toBeGreaterThanOrEqual(Number(first));
            reads++;
          }
        };
        await Promise.all([write(), read(), read()]);
        expect(reads).toBeGreaterThan(0);
        expect(await storage.getMany(pair)).toEqual(['40', '40']);
      });
      it('a record that comes and goes is in the list exactly when it is there', async () => {
        const { base, at } = place();
        await Promise.all(
          many.map((n) =>
            storage.commit([{ at: at('a'), value: n % 2 ? `${n}` : null, ...(n % 2 ? { rank: n } : {}) }]),
          ),
        );
        const value = await storage.get(at('a'));
        expect(await storage.list(base, 'thing', { offset: 0, limit: 5 })).toEqual(
          value === null ? { records: [], total: 0 } : { records: [{ id: 'a', value }], total: 1 },
        );
      });
      it('a list is of one moment: it counts what it shows, and shows nothing that is gone', async () => {
        const { base, at } = place();
        let isWriting = true;
        const write = async (writer: number) => {
          for (let n = 0; n < 15; n++) {
            const pair = [at(`${writer}.${n}.a`), at(`${writer}.${n}.b`)];
            await storage.commit(pair.map((one) => ({ at: one, value: `${n}`, rank: n })));
            if (n % 3 > 0) await storage.commit(pair.map((one) => ({ at: one, value: null })));
          }
        };
        const read = async () => {
          while (isWriting) {
            const { records, total } = await storage.list(base, 'thing', { offset: 0, limit: 1000 });
            expect(records).toHaveLength(total);
            expect(total % 2).toBe(0);
            expect(records.every(({ value }) => typeof value === 'string')).toBe(true);
          }
        };
        const writing = Promise.all([write(0), write(1), write(2)]).finally(() => {
          isWriting = false;
        });
        await Promise.all([writing, read(), read()]);
        expect((await storage.list(base, 'thing', { offset: 0, limit: 1 })).total).toBe(30);
      });
      it('other partitions do not matter', async () => {
        const { base, at } = place();
        const done = await Promise.all(
          many.map((n) =>
            storage.commit([{ at: at('a', 'thing', `${base}.${n}`), expect: null, value: `${n}`, rank: 1 }]),
          ),
        );
        expect(done.every(Boolean)).toBe(true);
        const seen = await Promise.all(many.map((n) => storage.get(at('a', 'thing', `${base}.${n}`))));
        expect(seen).toEqual(many.map(String));
      });
    });

    describe('over two connections', () => {
      let second: OpenedStorage | undefined;
      beforeAll(async () => {
        if (storage.isShared) second = await open();
      });
      afterAll(() => second?.close());

      it('what one writes the other sees, lists and expects', async ({ skip }) => {
        if (!second) return skip('what it holds is seen by one process only');
        const { base, at } = place();
        const other = second.storage;
        await put(at('a'), 'one', { rank: 1 });
        expect(await other.get(at('a'))).toBe('one');
        expect(await other.commit([{ at: at('a'), expect: 'one', value: 'two' }])).toBe(true);
        expect(await storage.commit([{ at: at('a'), expect: 'one', value: 'three' }])).toBe(false);
        expect(await storage.list(base, 'thing', { offset: 0, limit: 5 })).toEqual({
          records: [{ id: 'a', value: 'two' }],
          total: 1,
        });
        expect(await other.commit([{ at: at('a'), value: null }])).toBe(true);
        expect(await storage.get(at('a'))).toBeNull();
      });
      it('one of all who expect nothing wins, and a counter loses no count', async ({ skip }) => {
        if (!second) return skip('what it holds is seen by one process only');
        const { at } = place();
        const both = [storage, second.storage] as const;
        const won = await Promise.all(
          Array.from({ length: writers }, (_, n) =>
            both[n % 2 ? 1 : 0].commit([{ at: at('a'), expect: null, value: `${n}` }]),
          ),
        );
        expect(won.filter(Boolean)).toHaveLength(1);
        await put(at('count'), '0');
        await Promise.all(both.map((one) => countUp(one, at('count'), 8, 5)));
        expect(await storage.get(at('count'))).toBe('80');
      });
    });
  });
}

/** Each of several counters reads, adds one and writes back where nobody came between. */
async function countUp(storage: Storage, at: Address, counters: number, timesEach: number): Promise<void> {
  await Promise.all(
    Array.from({ length: counters }, async () => {
      for (let done = 0; done < timesEach; ) {
        const seen = (await storage.get(at)) as string;
        if (await storage.commit([{ at, expect: seen, value: `${Number(seen) + 1}` }])) done++;
      }
    }),
  );
}
