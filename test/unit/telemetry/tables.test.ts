import { describe, expect, it } from 'vitest';
import { blankCell, type Cell } from '../../../src/telemetry/records/cell.ts';
import { rowSeries } from '../../../src/telemetry/records/places.ts';
import { readTable, tableFor, tablesOf, textOfCell } from '../../../src/telemetry/records/tables.ts';

const cell: Cell = {
  ...blankCell,
  // What would end a line, a cell or a table, if it were not escaped.
  model: 'acme/"fast"\n]\n[\n',
  provider: 'Acme, [1]',
  apiKeyHash: null,
  user: '\n["ann",',
  tags: ['web', 'a,b'],
  isOfHost: true,
  hour: 5,
  requests: 3,
  costNanoUsd: 7_000,
  cut: 1,
  errors: { 'rate_limited"]': 2 },
  firstMs: [31, 2, 40, 1],
  totalMs: [44, 3],
};

describe('tables of sums', () => {
  it('are read as they were written, each name and number that the table has', () => {
    for (const series of rowSeries) {
      const text = textOfCell(series, cell);
      for (const [at, { names, hasTimes }] of tablesOf[series].entries()) {
        const told = Object.fromEntries(names.map((name) => [name, cell[name]]));
        const { requests, costNanoUsd, cut, errors, firstMs, totalMs } = cell;
        const expected = { ...blankCell, ...told, requests, costNanoUsd, cut };
        const read = readTable(text, { series, at });
        const isByTag = names.length === 1 && names[0] === 'tags';
        if (isByTag) expect(read?.map(({ tags }) => tags)).toEqual([['web'], ['a,b']]);
        else expect(read).toEqual([hasTimes ? { ...expected, errors, firstMs, totalMs } : expected]);
      }
    }
  });
  it('give only the cells with a first name that is wanted', () => {
    const place = { series: 'user', at: 1 } as const;
    const text = textOfCell('user', cell);
    expect(readTable(text, place, new Set([cell.user]))).toEqual(readTable(text, place));
    for (const user of ['ann', null, '', '\n']) expect(readTable(text, place, new Set([user]))).toEqual([]);
    const ofNobody = textOfCell('user', { ...cell, user: null });
    expect(readTable(ofNobody, place, new Set([null, 'ann']))).toEqual(readTable(ofNobody, place));
  });
  it('are chosen as small as the names allow', () => {
    const seriesFor = (grain: 'hour' | 'day', ...names: ('model' | 'provider' | 'user' | 'tags')[]) =>
      tableFor(grain, new Set(names));
    expect(seriesFor('hour')).toEqual({ series: 'quarter-totals', at: 0 });
    expect(seriesFor('hour', 'provider')).toEqual({ series: 'quarter-totals', at: 1 });
    expect(seriesFor('hour', 'model')).toEqual({ series: 'quarter-models', at: 0 });
    expect(seriesFor('hour', 'model', 'provider')).toEqual({ series: 'hour', at: 0 });
    expect(seriesFor('day', 'model')).toEqual({ series: 'day-models', at: 0 });
    expect(seriesFor('day', 'tags')).toEqual({ series: 'day-names', at: 1 });
    expect(seriesFor('day', 'user')).toEqual({ series: 'user', at: 0 });
    expect(seriesFor('day', 'user', 'model')).toEqual({ series: 'user', at: 1 });
    expect(seriesFor('day', 'model', 'provider')).toEqual({ series: 'day', at: 0 });
    expect(seriesFor('hour', 'user')).toBeNull();
  });
  it('are known to be damaged', () => {
    const whole = textOfCell('hour', cell);
    const place = { series: 'hour', at: 0 } as const;
    expect(readTable(whole, place)).toHaveLength(1);
    for (const text of [
      '',
      '[]',
      whole.slice(0, -4),
      whole.replace('3,', '"3",'),
      whole.replace('[\n[', '[\n['.repeat(2)),
      whole.replace('null', '7'),
      whole.replace('"31:2,40:1"', '31'),
      whole.replace('31:2', '31:two'),
      '[\n7\n]\n',
      '[\n["m","p","k",[1.5],{},"",""]\n]\n',
      '[\n["m","p","k",[1],[],"",""]\n]\n',
    ])
      expect(readTable(text, place), text).toBeNull();
    expect(readTable(whole, { series: 'day-names', at: 1 })).toBeNull();
    const ofModels = textOfCell('quarter-models', cell);
    expect(readTable(ofModels.replace(',5,[', ',"5",['), { series: 'quarter-models', at: 0 })).toBeNull();
  });
});
