import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { time } from './format.ts';
import { Table } from './parts.tsx';
import { theme } from './theme.ts';

/** One line or area of a chart. */
export interface Series {
  name: string;
  /** One of the colours `1` to `7`, or `good` or `bad`. */
  color: string;
  values: readonly (number | null)[];
  /** true: the area below the line is filled. */
  isArea?: boolean;
  isDashed?: boolean;
}

export interface ChartProps {
  /** The sentence that says what is shown. */
  title: string;
  /** The beginning of each bucket, epoch ms. */
  times: readonly number[];
  series: readonly Series[];
  /** true: the values are put one upon the other. */
  isStacked?: boolean;
  format: (value: number) => string;
  /** true: values are numbers of things, of which no half is shown. */
  isCount?: boolean;
  /** The text in place of an empty picture. */
  empty: string;
}

/** A picture of sums over time, which can also be read as a table, and by the keyboard. */
export function Chart(props: ChartProps) {
  const { title, times, series, format, empty } = props;
  const [asTable, setAsTable] = useState(false);
  const [at, setAt] = useState<number | null>(null);
  const isEmpty = series.every(({ values }) => values.every((value) => value === null || value === 0));
  const shown = at === null || at >= times.length ? null : at;
  return (
    <section class="card">
      <header>
        <h2>{title}</h2>
        <button type="button" class="plain" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
          Table
        </button>
      </header>
      {isEmpty ? (
        <p class="soft">{empty}</p>
      ) : asTable ? (
        <div class="window">
          <Table
            label={title}
            rows={times.map((_, row) => row).reverse()}
            columns={[
              { name: 'Time', of: (row) => time(times[row]).slice(0, 16) },
              ...series.map(({ name, values }) => ({
                name,
                isNumber: true,
                of: (row: number) => textOf(values[row], format),
              })),
            ]}
          />
        </div>
      ) : (
        <>
          <Plot {...props} at={at} onMove={setAt} />
          <ul class="legend">
            <li class="soft">
              {shown === null ? 'Point at the picture, or use ← and →' : time(times[shown]).slice(0, 16)}
            </li>
            {series.map(({ name, color, values }) => (
              <li key={name}>
                <i class="swatch" style={{ background: `var(--${varOf(color)})` }} />
                {name}
                {shown === null ? '' : `: ${textOf(values[shown], format)}`}
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

function textOf(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? '–' : format(value);
}

function varOf(color: string): string {
  return /^\d$/.test(color) ? `s${color}` : color;
}

function Plot({
  title,
  times,
  series,
  isStacked = false,
  isCount = false,
  format,
  at,
  onMove,
}: ChartProps & { at: number | null; onMove: (at: number | null) => void }) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const drawn = theme.value;
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const styles = getComputedStyle(document.documentElement);
    const colorOf = (name: string) => styles.getPropertyValue(`--${varOf(name)}`).trim();
    const sums = isStacked ? stacked(series) : series.map(({ values }) => [...values]);
    // The highest area is drawn first, so that each lower one covers its own part.
    const order = series.map((_, index) => index);
    if (isStacked) order.reverse();
    // A level lasts until the end of its bucket, so the last one needs an end to be seen.
    const lengthMs = (times[1] ?? 0) - (times[0] ?? 0);
    const hasEnd = isStacked && times.length > 1;
    const ends = hasEnd ? [...times, (times.at(-1) ?? 0) + lengthMs] : times;
    const withEnd = (values: readonly (number | null)[] = []) => (hasEnd ? [...values, values.at(-1) ?? null] : values);
    const axis = { stroke: colorOf('soft'), grid: { stroke: colorOf('line'), width: 1 }, ticks: { show: false } };
    const made = new uPlot(
      {
        width: element.clientWidth,
        height: element.clientHeight,
        legend: { show: false },
        cursor: { drag: { x: false, y: false }, points: { show: false } },
        scales: { y: { range: (_self, _min, max) => [0, max > 0 ? max * 1.08 : 1] } },
        axes: [
          { ...axis, space: 56, size: 26, values: (_self, splits) => splits.map(axisTime(times)) },
          {
            ...axis,
            ...(isCount ? { incrs: wholeSteps } : {}),
            size: (_self, texts) => 14 + 7 * Math.max(3, ...(texts ?? []).map((text) => text.length)),
            values: (_self, splits) => splits.map((value) => format(value)),
          },
        ],
        series: [
          {},
          ...order.map((index) => {
            const { color, isArea, isDashed } = series[index] as Series;
            const stroke = colorOf(color);
            return {
              stroke,
              width: 1.5,
              points: { show: !isStacked && !isArea, size: 3, fill: stroke },
              // A bucket is one level from its beginning to its end.
              ...(isStacked ? { paths: steps } : {}),
              ...(isArea || isStacked ? { fill: isStacked ? stroke : `${stroke}33` } : {}),
              ...(isDashed ? { dash: [5, 4] } : {}),
            };
          }),
        ],
        hooks: { setCursor: [({ cursor: { idx } }) => onMove(idx ?? null)] },
      },
      [ends.map((ms) => ms / 1000), ...order.map((index) => withEnd(sums[index]))] as uPlot.AlignedData,
      element,
    );
    plot.current = made;
    const observer = new ResizeObserver(() =>
      made.setSize({ width: element.clientWidth, height: element.clientHeight }),
    );
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [times, series, isStacked, drawn]);
  const move = (by: number) => {
    const next = Math.min(Math.max((at ?? (by > 0 ? -1 : times.length)) + by, 0), times.length - 1);
    const made = plot.current;
    if (made) made.setCursor({ left: made.valToPos((times[next] ?? 0) / 1000, 'x'), top: 0 });
    onMove(next);
  };
  return (
    <div
      class="chart"
      ref={place}
      role="img"
      aria-label={`${title}. The button Table shows the numbers.`}
      tabIndex={0}
      onKeyDown={(event) => {
        if (event.key === 'ArrowRight') move(1);
        else if (event.key === 'ArrowLeft') move(-1);
        else return;
        event.preventDefault();
      }}
    />
  );
}

const wholeSteps = Array.from({ length: 13 }, (_, at) => [1, 2, 5].map((step) => step * 10 ** at)).flat();

/** Each value as a level up to the next one. */
const steps = uPlot.paths.stepped?.({ align: 1 });

/** The hour, or the day where days are shown. */
function axisTime(times: readonly number[]): (seconds: number) => string {
  const lengthMs = (times.at(-1) ?? 0) - (times[0] ?? 0);
  const [from, to] = lengthMs > 172_800_000 ? [5, 10] : [11, 16];
  return (seconds) => time(seconds * 1000).slice(from, to);
}

/** The upper edge of each area. */
function stacked(series: readonly Series[]): number[][] {
  const edges: number[][] = [];
  for (const { values } of series) {
    const below = edges.at(-1);
    edges.push(values.map((value, at) => (value ?? 0) + (below?.[at] ?? 0)));
  }
  return edges;
}
