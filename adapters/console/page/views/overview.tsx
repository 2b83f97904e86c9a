import { useMemo } from 'preact/hooks';
import { manages, ofWorkspace, useLoaded } from '../api.ts';
import { Chart, type Series } from '../chart.tsx';
import { count, duration, money, nano, percent, short } from '../format.ts';
import { now } from '../now.ts';
import { Card, Page, Select, State, Table, Tiles } from '../parts.tsx';
import { link, route, setQuery, withQuery } from '../router.ts';
import { daysOfUsers, type Ranges, rangeOf, ranges, rangeUntil, rowsAt } from '../time-range.ts';
import type { Activity, ActivityResult } from '../types.ts';
import { FirstSteps } from './first-steps.tsx';

/** How many models have a colour of their own. */
const named = 6;

export function Overview() {
  const isOwn = !manages.value;
  const known: Ranges = isOwn ? daysOfUsers : ranges;
  const name = rangeOf(route.value.query.get('range'), known, isOwn ? '7d' : '24h');
  const everyMs = name === '30d' ? 60_000 : 15_000;
  const range = useMemo(() => rangeUntil(known[name] as Ranges[string], now.value), [known, name, now.value]);
  const { times, ...span } = range;
  const sums = (query: Record<string, string>) => withQuery('/activity', { ...span, ...ofWorkspace(), ...query });
  const overTime = useLoaded<ActivityResult>(sums({ group_by: 'time' }), everyMs);
  const byModel = useLoaded<ActivityResult>(sums({ group_by: 'time,model', top: String(named) }), everyMs);
  const models = useLoaded<ActivityResult>(sums({ group_by: 'model', sort: 'usage', limit: '50' }), everyMs);
  const byProvider = useLoaded<ActivityResult>(sums({ group_by: 'time,provider' }), everyMs);
  const total = useLoaded<ActivityResult>(sums({ group_by: 'none' }), everyMs);
  const rows = useMemo(() => rowsAt(times, overTime.data?.data ?? []), [times, overTime.data]);
  const all = total.data?.data[0] ?? null;
  const empty = 'No request has come in this time.';
  return (
    <Page
      title="Overview"
      actions={<Select label="Time" value={name} options={optionsOf(known)} onPick={(range) => setQuery({ range })} />}
    >
      {isOwn && <p class="soft">What you have asked and spent yourself, by day (UTC).</p>}
      <State of={total} />
      {total.data !== null && all === null && <FirstSteps />}
      {all && <Totals of={all} isOwn={isOwn} />}
      {overTime.data !== null && all && (
        <div class="grid">
          <Chart
            title="Requests: ok and failed"
            times={times}
            isStacked
            isCount
            format={short}
            empty={empty}
            series={useSeries(rows, [
              ['failed', 'bad', failuresOf],
              ['ok', 'good', (row) => row.requests - failuresOf(row)],
            ])}
          />
          <Spend times={times} rows={rows} models={models.data?.data ?? []} byModel={byModel.data?.data ?? []} />
          <Chart
            title="Tokens: in, cached, out, reasoning"
            times={times}
            isCount
            format={short}
            empty={empty}
            series={useSeries(rows, [
              ['in', '1', (row) => row.prompt_tokens],
              ['cached (part of in)', '3', (row) => row.cached_tokens],
              ['out', '2', (row) => row.completion_tokens],
              ['reasoning (part of out)', '4', (row) => row.reasoning_tokens],
            ])}
          />
          {!isOwn && <Times times={times} rows={rows} />}
          {!isOwn && <Errors times={times} rows={rows} total={all} />}
          <Chart
            title="Share of prompt tokens that were read from a cache"
            times={times}
            format={(share) => percent(share, 0)}
            empty="No prompt was read from a cache in this time."
            series={useSeries(rows, [
              ['cache reads', '3', (row) => (row.prompt_tokens > 0 ? row.cached_tokens / row.prompt_tokens : 0)],
            ])}
          />
          <Providers times={times} rows={byProvider.data?.data ?? []} />
          <Card title="Models by spend">
            <Table
              label="Models by spend"
              rows={models.data?.data ?? []}
              columns={[
                {
                  name: 'Model',
                  of: ({ model }) => (model ? <a href={link('requests', { model })}>{model}</a> : 'no model'),
                },
                { name: 'Requests', isNumber: true, of: (row) => count(row.requests) },
                { name: 'Spend', isNumber: true, of: (row) => nano(row.cost_nano_usd) },
                ...(isOwn
                  ? []
                  : [{ name: 'p95', isNumber: true, of: (row: Activity) => duration(row.duration_ms?.p95) }]),
              ]}
            />
          </Card>
        </div>
      )}
    </Page>
  );
}

const optionsOf = (known: Ranges) => Object.entries(known).map(([name, { text }]) => [name, text] as const);

/** Percentiles. The sums of one user have none. */
function Times({ times, rows }: { times: readonly number[]; rows: readonly (Activity | null)[] }) {
  return (
    <>
      <Chart
        title="Time to first token: p50, p95, p99"
        times={times}
        format={duration}
        empty="No response has begun in this time."
        series={usePercentiles(rows, 'first_token_ms')}
      />
      <Chart
        title="Duration of requests that went well: p50, p95, p99"
        times={times}
        format={duration}
        empty="No request has gone well in this time."
        series={usePercentiles(rows, 'duration_ms')}
      />
    </>
  );
}

function Totals({ of, isOwn }: { of: Activity; isOwn: boolean }) {
  return (
    <Tiles
      of={[
        ['Spend', of.usage === null ? 'not known' : money(of.usage)],
        ['Requests', count(of.requests)],
        ['Failed', `${count(failuresOf(of))} (${percent(failuresOf(of) / Math.max(of.requests, 1))})`],
        ['Tokens in', count(of.prompt_tokens)],
        ['Tokens out', count(of.completion_tokens)],
        ...(isOwn
          ? []
          : ([
              ['First token, p95', duration(of.first_token_ms?.p95)],
              ['Duration, p95', duration(of.duration_ms?.p95)],
            ] as const)),
        ['Cache reads', percent(of.prompt_tokens > 0 ? of.cached_tokens / of.prompt_tokens : null)],
        ...(of.unpriced > 0 ? [['Without a price', count(of.unpriced)] as const] : []),
      ]}
    />
  );
}

function failuresOf({ failed, cut, lost }: Activity): number {
  return failed + cut + lost;
}

function useSeries(
  rows: readonly (Activity | null)[],
  wanted: readonly (readonly [name: string, color: string, of: (row: Activity) => number])[],
): Series[] {
  return useMemo(
    () => wanted.map(([name, color, of]) => ({ name, color, values: rows.map((row) => (row === null ? 0 : of(row))) })),
    [rows],
  );
}

function usePercentiles(rows: readonly (Activity | null)[], field: 'first_token_ms' | 'duration_ms'): Series[] {
  return useMemo(
    () =>
      (['p50', 'p95', 'p99'] as const).map((name, at) => ({
        name,
        color: String(at + 1),
        // p99 often lies upon p95.
        isDashed: name === 'p99',
        values: rows.map((row) => row?.[field]?.[name] ?? null),
      })),
    [rows, field],
  );
}

/** Spend by model. What the models with a colour have not spent is the rest of the server's own sum. */
function Spend({
  times,
  rows,
  models,
  byModel,
}: {
  times: readonly number[];
  rows: readonly (Activity | null)[];
  models: readonly Activity[];
  byModel: readonly Activity[];
}) {
  const series = useMemo(() => {
    const top = models.slice(0, named).map(({ model }) => model);
    const shown = top.map((model, at) => ({
      name: model ?? 'no model',
      color: String(at + 1),
      values: rowsAt(
        times,
        byModel.filter((row) => row.model === model),
      ).map((row) => (row?.cost_nano_usd ?? 0) / 1e9),
    }));
    if (models.length <= named) return shown;
    const rest = rows.map((row, at) =>
      Math.max(0, (row?.cost_nano_usd ?? 0) / 1e9 - shown.reduce((sum, { values }) => sum + (values[at] ?? 0), 0)),
    );
    return [...shown, { name: 'others', color: '7', values: rest }];
  }, [times, rows, models, byModel]);
  return (
    <Chart title="Spend by model" times={times} series={series} isStacked format={money} empty="Nothing was spent." />
  );
}

function Errors({
  times,
  rows,
  total,
}: {
  times: readonly number[];
  rows: readonly (Activity | null)[];
  total: Activity | null;
}) {
  const series = useMemo(
    () =>
      Object.entries(total?.errors ?? {})
        .sort(([, a], [, b]) => b - a)
        .slice(0, 7)
        .map(([name], at) => ({
          name,
          color: String(at + 1),
          values: rows.map((row) => row?.errors[name] ?? 0),
        })),
    [rows, total],
  );
  return (
    <Chart
      title="Errors by kind"
      times={times}
      series={series}
      isCount
      isStacked
      format={short}
      empty="No request has failed."
    />
  );
}

/** A strip for each provider: green where all was well, and how much was not elsewhere. */
function Providers({ times, rows }: { times: readonly number[]; rows: readonly Activity[] }) {
  const names = [...new Set(rows.map((row) => row.provider_name))];
  const cells = names.map((name) =>
    rowsAt(
      times,
      rows.filter((row) => row.provider_name === name),
    ),
  );
  return (
    <Card title="Health of providers: share of requests that failed">
      {names.length === 0 && <p class="soft">No provider was asked.</p>}
      <div class="bars">
        {names.map((name, at) => (
          <div class="bar short" key={name ?? ''}>
            <span class="name" title={name ?? undefined}>
              {name ?? 'no provider'}
            </span>
            <div class="strip" aria-hidden="true">
              {(cells[at] ?? []).map((row, index) => (
                <i key={index} class={stateOf(row)} title={row === null ? undefined : textOf(row)} />
              ))}
            </div>
            <span class="soft">{worstOf(cells[at] ?? [])}</span>
          </div>
        ))}
      </div>
    </Card>
  );
}

function stateOf(row: Activity | null): string | undefined {
  if (row === null) return undefined;
  const share = failuresOf(row) / Math.max(row.requests, 1);
  return share === 0 ? 'ok' : share < 0.5 ? 'some' : 'most';
}

function textOf(row: Activity): string {
  return `${row.time}: ${count(failuresOf(row))} of ${count(row.requests)} failed`;
}

function worstOf(rows: readonly (Activity | null)[]): string {
  const last = rows.findLast((row) => row !== null);
  return last ? `${percent(failuresOf(last) / Math.max(last.requests, 1), 0)} last` : '';
}
