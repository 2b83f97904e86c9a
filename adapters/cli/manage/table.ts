/** Returns rows as columns: numbers stand at the right, texts at the left. */
export function tableOf(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const texts = rows.map((row) => row.map(textOf));
  const widths = head.map((name, at) => Math.max(name.length, ...texts.map((row) => (row[at] ?? '').length)));
  const isRight = head.map((_, at) => rows.some((row) => typeof row[at] === 'number' || row[at] instanceof Money));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, at) => (isRight[at] ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd();
  return `${[line(head), ...texts.map(line)].join('\n')}\n`;
}

/** An amount in USD. */
export class Money {
  readonly usd: number;

  constructor(usd: number) {
    this.usd = usd;
  }
}

/** null: not known, or not set. */
export type Cell = string | number | Money | null;

export function moneyOf(usd: unknown): Money | null {
  return typeof usd === 'number' || (typeof usd === 'string' && usd !== '') ? new Money(Number(usd)) : null;
}

function textOf(cell: Cell): string {
  if (cell === null) return '-';
  if (cell instanceof Money) return `$${plain(cell.usd)}`;
  return typeof cell === 'number' ? cell.toLocaleString('en-US') : printable(cell);
}

/** Writes an amount without an exponent, and with two digits at least. */
function plain(usd: number): string {
  const text = usd.toFixed(9).replace(/0+$/, '');
  const [, digits = ''] = text.split('.');
  return digits.length < 2 ? usd.toFixed(2) : text;
}

/** Names may come from other people: a terminal must not take commands from them. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  return text.replace(/[\x00-\x1f\x7f-\x9f]/g, '?');
}
