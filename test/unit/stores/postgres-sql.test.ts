import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { defineLedgerFunctions } from '../../../src/stores/ledger/postgres-functions.ts';
import { defineRates } from '../../../src/stores/rates/postgres-functions.ts';
import { defineRecords } from '../../../src/stores/storage/postgres/records.ts';
import { postgresNames, quoteText, setupText } from '../../../src/stores/storage/postgres/sql.ts';

const names = postgresNames('gateway', 'keyv');

describe('functions on the server', () => {
  // A function that is there is not made again. Where it would have another text, it needs another name, for processes
  // of the version before may still be calling it: give it the next number, then write down its new fingerprint.
  it.each([
    ['keyv_read_1', '2bbebf3f66ca857c'],
    ['keyv_list_1', 'b7e757baf6625a94'],
    ['keyv_seek_1', '40d02181d5d80c6d'],
    ['keyv_seek_all_1', 'f1c5351f871e73af'],
    ['keyv_commit_1', '0c55a57dd3e02fd9'],
    ['keyv_book_1', '1e5eff372f99259f'],
    ['keyv_states_1', 'ba023206c4cfa4bd'],
    ['keyv_expire_1', '92126c95bd36354a'],
    ['keyv_rate_1', '31bec39e9914d5b0'],
    ['keyv_take_6', '3dec879cc41dd971'],
  ])('%s has the text that belongs to its number', (name, fingerprint) => {
    const all = [...defineRecords(names), ...defineLedgerFunctions(names), ...defineRates(names)].filter(
      ({ kind }) => kind === 'function',
    );
    expect(all).toHaveLength(10);
    const [found] = all.filter((one) => one.name === `"gateway"."${name}"`);
    const text = found?.text.join(';') ?? '';
    expect(createHash('sha256').update(text).digest('hex').slice(0, 16)).toBe(fingerprint);
  });
});

describe('names on the server', () => {
  it('are quoted, with the schema where that belongs to them', () => {
    expect(names.of('records')).toBe('"gateway"."keyv_records"');
    expect(names.index('records_rank')).toBe('"keyv_records_rank"');
    expect(postgresNames('a"b', `c'd`).of('e')).toBe(`"a""b"."c'd_e"`);
    expect(quoteText(`it's`)).toBe(`'it''s'`);
  });
  it.each([
    ['63 bytes', 'x'.repeat(55), true],
    ['64 bytes', 'x'.repeat(56), false],
    ['fewer letters than bytes', 'ü'.repeat(28), false],
    ['a NUL', 'a\0b', false],
    ['what ends the text of a function', 'a$gateway$b', false],
    ['what ends the text of the setup', 'a$gateway_setup$b', false],
  ])('may be of %s, or not', (_, table, isAllowed) => {
    const use = () => postgresNames('public', table).of('records');
    if (isAllowed) expect(use()).toContain(table);
    else expect(use).toThrow(/choose another table or schema/);
  });
  it('are checked when the store is made, all of them', () => {
    const long = postgresNames('public', 'x'.repeat(50));
    expect(() => setupText(long, defineRecords(long))).not.toThrow();
    const longer = postgresNames('public', 'x'.repeat(52));
    expect(() => setupText(longer, defineRecords(longer))).toThrow(/choose another/);
  });
});
