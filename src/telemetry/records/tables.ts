import { tryParseJson } from '../../base/json.ts';
import {
  addCell,
  addNumbers,
  blankCell,
  type Cell,
  type CellName,
  type CellNames,
  emptySum,
  numberNames,
  type Sum,
} from './cell.ts';
import type { Grain, RowSeries } from './places.ts';
import { type Times, timesOf, timesText } from './time-classes.ts';

/** A table of sums. */
export interface SumTable {
  /** The names by which it tells requests apart. */
  names: readonly CellName[];
  /** true: its cells have the times and errors of requests as well. */
  hasTimes: boolean;
}

const all: SumTable = { names: ['model', 'provider', 'apiKeyHash'], hasTimes: true };

/**
 * The tables of the rows of each series. Sums by one name alone are few cells, where the others are hundreds, so that a
 * page over a month is read at once. The smallest have a row of their own: a store reads whole rows. A minute has so few
 * requests that margins would save nothing.
 */
export const tablesOf: Readonly<Record<RowSeries, readonly SumTable[]>> = {
  minute: [all],
  hour: [all],
  'quarter-totals': [
    { names: ['hour'], hasTimes: true },
    { names: ['provider', 'hour'], hasTimes: true },
  ],
  'quarter-models': [{ names: ['model', 'hour'], hasTimes: true }],
  day: [all],
  'day-totals': [
    { names: [], hasTimes: true },
    { names: ['provider'], hasTimes: true },
  ],
  'day-models': [{ names: ['model'], hasTimes: true }],
  // A request counts under each of its tags.
  'day-names': [
    { names: ['apiKeyHash'], hasTimes: true },
    { names: ['tags'], hasTimes: false },
  ],
  user: [
    { names: ['user', 'isOfHost'], hasTimes: false },
    { names: ['user', 'isOfHost', 'tags', 'model', 'provider', 'apiKeyHash'], hasTimes: false },
  ],
};

const seriesOf: Readonly<Record<Grain, readonly RowSeries[]>> = {
  minute: ['minute'],
  hour: ['quarter-totals', 'quarter-models', 'hour'],
  day: ['day-totals', 'day-models', 'day-names', 'user', 'day'],
};

/** The place of a table. */
export interface TablePlace {
  series: RowSeries;
  /** The number of tables before it in the row. */
  at: number;
}

/** Finds the smallest table that tells these names apart. @returns null: sums of this grain have no such table */
export function tableFor(grain: Grain, names: ReadonlySet<CellName>): TablePlace | null {
  for (const series of seriesOf[grain]) {
    const at = tablesOf[series].findIndex((table) => [...names].every((name) => table.names.includes(name)));
    // The rows of users know all names, and are many.
    const isForUsers = names.has('user') || names.has('tags');
    if (at >= 0 && (series !== 'user' || isForUsers)) return { series, at };
  }
  return null;
}

/** The cells to which a request is added in a table: one, or one for each of its tags. */
export function namedFor({ names }: SumTable, cell: Cell): Partial<CellNames>[] {
  const named = Object.fromEntries(names.map((name) => [name, cell[name]])) as Partial<CellNames>;
  if (names.length !== 1 || names[0] !== 'tags' || cell.tags.length < 2) return [named];
  return [...new Set(cell.tags)].map((tag) => ({ tags: [tag] }));
}

/** A text for the names of a cell in a table, for maps. */
export function textOfNames({ names }: SumTable, cell: Partial<CellNames>): string {
  let text = '';
  for (const name of names) text += `${JSON.stringify(cell[name])}\n`;
  return text;
}

export function addTo(sum: Sum, cell: Cell, { hasTimes }: SumTable): void {
  if (hasTimes) addCell(sum, cell);
  else addNumbers(sum, cell);
}

/** The text of a row of one cell. */
export function textOfCell(series: RowSeries, cell: Cell): string {
  return rowText(
    series,
    tablesOf[series].map((table) =>
      namedFor(table, cell).map((names) => {
        const sum = emptySum(names);
        addTo(sum, cell, table);
        return sum;
      }),
    ),
  );
}

/**
 * The text of a row: its tables one after the other, each a JSON array with a line for each cell, so that cells are found
 * without reading the others. Numbers stand in the order of `numberNames`, without zeros at the end.
 */
export function rowText(series: RowSeries, tables: readonly Iterable<Sum>[]): string {
  return tablesOf[series]
    .map((table, at) => {
      const cells = Array.from(tables[at] ?? [], (sum) => {
        sum.text ??= JSON.stringify(written(table, sum));
        return sum.text;
      });
      return `${begin}${cells.join(',\n')}${end}`;
    })
    .join('');
}

const [begin, end] = ['[\n', '\n]\n'];

function written({ names, hasTimes }: SumTable, sum: Sum): unknown[] {
  const numbers = numberNames.map((name) => sum[name]);
  while (numbers.at(-1) === 0) numbers.pop();
  const told = names.map((name) => sum[name]);
  return hasTimes ? [...told, numbers, sum.errors, timesText(sum.firstMs), timesText(sum.totalMs)] : [...told, numbers];
}

/**
 * Reads one table of a row.
 * @param only  the values of the first name of the cells that are wanted; null: all cells
 * @returns null: the text is damaged
 */
export function readTable(
  text: string,
  { series, at }: TablePlace,
  only: ReadonlySet<string | null> | null = null,
): Cell[] | null {
  let from = 0;
  for (let before = 0; before < at; before++) {
    const ends = text.indexOf(end, from);
    if (ends < 0) return null;
    from = ends + end.length;
  }
  const to = text.indexOf(end, from);
  if (to < 0) return null;
  const json = text.slice(from, to + end.length);
  const parsed = tryParseJson(only === null ? json : linesWith(json, only));
  if (!Array.isArray(parsed)) return null;
  const table = tablesOf[series][at] as SumTable;
  const cells: Cell[] = [];
  for (const one of parsed as unknown[]) {
    const cell = readCell(one, table);
    if (cell === null) return null;
    cells.push(cell);
  }
  return cells;
}

/** The same JSON array, with the elements that begin with one of the values alone. */
function linesWith(json: string, only: ReadonlySet<string | null>): string {
  const lines: string[] = [];
  for (const value of only) {
    const wanted = `\n[${JSON.stringify(value)},`;
    for (let at = json.indexOf(wanted); at >= 0; at = json.indexOf(wanted, at + 1)) {
      const to = json.indexOf('\n', at + 1);
      lines.push(json.slice(at + 1, json[to - 1] === ',' ? to - 1 : to));
    }
  }
  return `[${lines.join(',')}]`;
}

// By hand: a page reads tens of thousands of cells, and a schema took longer to check them than JSON to parse them.
function readCell(value: unknown, { names, hasTimes }: SumTable): Cell | null {
  const length = names.length + (hasTimes ? 4 : 1);
  if (!Array.isArray(value) || value.length !== length) return null;
  const cell: Cell = { ...blankCell };
  for (let at = 0; at < names.length; at++) {
    const name = names[at] as CellName;
    const given: unknown = value[at];
    if (!isName(name, given)) return null;
    (cell as unknown as Record<string, unknown>)[name] = given;
  }
  const numbers: unknown = value[names.length];
  if (!Array.isArray(numbers) || numbers.length > numberNames.length || !numbers.every(Number.isSafeInteger))
    return null;
  for (let at = 0; at < numbers.length; at++) cell[numberNames[at] as 'requests'] = numbers[at] as number;
  if (!hasTimes) return cell;
  const errors: unknown = value[names.length + 1];
  const firstMs = readTimes(value[names.length + 2]);
  const totalMs = readTimes(value[names.length + 3]);
  if (!isCounts(errors) || firstMs === null || totalMs === null) return null;
  cell.errors = errors;
  cell.firstMs = firstMs;
  cell.totalMs = totalMs;
  return cell;
}

function readTimes(value: unknown): Times | null {
  return typeof value === 'string' ? timesOf(value) : null;
}

function isName(name: CellName, value: unknown): boolean {
  if (name === 'isOfHost') return typeof value === 'boolean';
  if (name === 'hour') return Number.isInteger(value);
  if (name === 'tags') return Array.isArray(value) && value.every((tag) => typeof tag === 'string');
  return value === null || typeof value === 'string';
}

function isCounts(value: unknown): value is Record<string, number> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((count) => Number.isSafeInteger(count))
  );
}
