import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

const rowHeight = 33;
/** Rows above and below what is seen, so that fast scrolling shows no gap. */
const spare = 12;

/** A long table, of which only the rows that are seen exist. */
export function RowWindow<Row>({
  label,
  head,
  rows,
  show,
}: {
  label: string;
  head: readonly string[];
  rows: readonly Row[];
  /** The cells of a row. */
  show: (row: Row) => ComponentChildren;
}) {
  const [top, setTop] = useState(0);
  const first = Math.max(0, Math.floor(top / rowHeight) - spare);
  const last = Math.min(rows.length, first + Math.ceil(700 / rowHeight) + 2 * spare);
  const gap = (count: number) =>
    count > 0 && (
      <tr aria-hidden="true">
        <td colSpan={head.length} style={{ height: `${count * rowHeight}px`, padding: 0, border: 0 }} />
      </tr>
    );
  return (
    <div
      class="window"
      role="region"
      aria-label={label}
      tabIndex={0}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <table aria-rowcount={rows.length}>
        <thead>
          <tr>
            {head.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {gap(first)}
          {rows.slice(first, last).map((row, at) => (
            <tr key={first + at}>{show(row)}</tr>
          ))}
          {gap(rows.length - last)}
        </tbody>
      </table>
    </div>
  );
}
