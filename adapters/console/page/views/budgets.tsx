import { useMemo, useState } from 'preact/hooks';
import { ask, useLoaded, workspaceId } from '../api.ts';
import { Chart } from '../chart.tsx';
import { capital, count, money, nano, time } from '../format.ts';
import { now } from '../now.ts';
import { Action, Card, LimitField, Page, Select, State, Table } from '../parts.tsx';
import { link, route, setQuery, withQuery } from '../router.ts';
import { rowsAt } from '../time-range.ts';
import type { Activity, ActivityResult, Budget, BudgetsResult } from '../types.ts';

const intervals = ['daily', 'weekly', 'monthly', 'lifetime'] as const;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

export function Budgets() {
  const id = workspaceId();
  const loaded = useLoaded<BudgetsResult>(`/workspaces/${id}/budgets`, 15_000);
  const budgets = loaded.data?.data ?? [];
  return (
    <Page title="Budgets">
      <State
        of={loaded}
        empty={budgets.length === 0 && 'This workspace has no budget: nothing limits what it spends. Set one below.'}
      />
      {budgets.map((budget) => (
        <Card
          key={budget.id}
          title={`${capital(intervalOf(budget))} budget: ${money(budget.limit_usd)}`}
          actions={
            <Action
              text="Delete"
              kind="danger"
              confirm={`Delete the ${intervalOf(budget)} budget`}
              run={() => ask('DELETE', `/workspaces/${id}/budgets/${intervalOf(budget)}`).then(loaded.reload)}
            />
          }
        >
          <Level of={budget} />
        </Card>
      ))}
      <SetBudget id={id} onDone={loaded.reload} />
      {budgets.filter((budget) => intervalOf(budget) !== 'lifetime').length > 0 && (
        <div class="grid">
          {budgets
            .filter((budget) => intervalOf(budget) !== 'lifetime')
            .map((budget) => (
              <BurnDown key={budget.id} of={budget} id={id} />
            ))}
        </div>
      )}
      <Spenders id={id} />
    </Page>
  );
}

function intervalOf({ reset_interval }: Budget): (typeof intervals)[number] {
  return reset_interval ?? 'lifetime';
}

function Level({ of }: { of: Budget }) {
  const share = (usd: number) => `${Math.min(1, usd / Math.max(of.limit_usd, 1e-9)) * 100}%`;
  return (
    <>
      <div class="track" aria-hidden="true">
        <i class={of.overspent_usd > 0 ? 'fill-bad' : 'fill-ok'} style={{ left: 0, width: share(of.spent_usd) }} />
        <i class="fill-held" style={{ left: share(of.spent_usd), width: share(of.held_usd) }} />
      </div>
      <p>
        {money(of.spent_usd)} spent, {money(of.held_usd)} held by requests in flight, {money(of.remaining_usd)} left
        {of.overspent_usd > 0 && <span class="bad">, {money(of.overspent_usd)} over the limit</span>}
        <span class="soft">. {of.resets_at ? `Starts anew ${time(of.resets_at)}` : 'Never starts anew'}.</span>
      </p>
    </>
  );
}

/** The beginning of the present window of a budget, UTC. */
function startOf({ resets_at }: Budget, interval: string): number {
  const end = new Date(resets_at ?? 0);
  if (interval === 'daily') return end.getTime() - dayMs;
  if (interval === 'weekly') return end.getTime() - 7 * dayMs;
  return Date.UTC(end.getUTCFullYear(), end.getUTCMonth() - 1, 1);
}

/** What is left of a budget over its window; the server has added up what was spent. */
function BurnDown({ of, id }: { of: Budget; id: string }) {
  const interval = intervalOf(of);
  const [grain, grainMs] = interval === 'monthly' ? (['day', dayMs] as const) : (['hour', hourMs] as const);
  const fromMs = startOf(of, interval);
  const toMs = Math.floor(now.value / grainMs) * grainMs + grainMs;
  const sums = useLoaded<ActivityResult>(
    withQuery('/activity', { group_by: 'time', grain, from: fromMs / 1000, to: toMs / 1000, workspace_id: id }),
    15_000,
  );
  const [times, series] = useMemo(() => {
    const buckets = Array.from({ length: Math.max(1, (toMs - fromMs) / grainMs) }, (_, at) => fromMs + at * grainMs);
    const rows = rowsAt(buckets, sums.data?.data ?? []);
    let last = 0;
    const spent = rows.map((row, at) => {
      last = (row?.running_cost_nano_usd ?? last * 1e9) / 1e9;
      return at === rows.length - 1 ? of.spent_usd : last;
    });
    const held = spent.map((_, at) => (at === spent.length - 1 ? of.held_usd : 0));
    const left = spent.map((usd, at) => Math.max(0, of.limit_usd - usd - (held[at] ?? 0)));
    return [
      buckets,
      [
        { name: 'left', color: '3', values: left },
        { name: 'held now', color: '2', values: held },
        { name: 'spent', color: '7', values: spent },
      ],
    ] as const;
  }, [sums.data, fromMs, toMs, grainMs, of]);
  return (
    <Chart
      title={`Burn-down of the ${interval} budget: left, held, spent`}
      times={times}
      series={series}
      isStacked
      format={money}
      empty="Nothing was spent in this window."
    />
  );
}

function SetBudget({ id, onDone }: { id: string; onDone: () => void }) {
  const [interval, setInterval] = useState<string>('monthly');
  const [limit, setLimit] = useState('');
  return (
    <Card title="Set a budget">
      <div class="row end">
        <Select label="Interval" value={interval} options={intervals.map((one) => [one, one])} onPick={setInterval} />
        <LimitField value={limit} onInput={setLimit} />
        <Action
          text="Set"
          kind="main"
          run={() => ask('PUT', `/workspaces/${id}/budgets/${interval}`, { limit_usd: Number(limit) }).then(onDone)}
        />
      </div>
    </Card>
  );
}

const groups = [
  ['key', 'By key', (row: Activity) => row.api_key_hash?.slice(0, 12) ?? 'no key', 'api_key_hash'],
  ['user', 'By user', (row: Activity) => row.user ?? 'no user', 'user'],
  ['tag', 'By label of the key', (row: Activity) => row.tag ?? 'no label', 'tag'],
  ['model', 'By model', (row: Activity) => row.model ?? 'no model', 'model'],
] as const;

/** Who has spent most in a number of days. */
function Spenders({ id }: { id: string }) {
  const days = route.value.query.get('days') ?? '30';
  const from = Math.floor((now.value - (Number(days) - 1) * dayMs) / dayMs) * 86_400;
  return (
    <>
      <div class="top">
        <h2>Who spends</h2>
        <Select
          label="Time"
          value={days}
          options={[
            ['1', 'Today (UTC)'],
            ['7', '7 days'],
            ['30', '30 days'],
          ]}
          onPick={(picked) => setQuery({ days: picked })}
        />
      </div>
      <div class="grid">
        {groups.map(([group, title, nameOf, field]) => (
          <Spender key={group} title={title} group={group} nameOf={nameOf} field={field} from={from} id={id} />
        ))}
      </div>
    </>
  );
}

function Spender({
  title,
  group,
  nameOf,
  field,
  from,
  id,
}: {
  title: string;
  group: string;
  nameOf: (row: Activity) => string;
  field: 'api_key_hash' | 'user' | 'tag' | 'model';
  from: number;
  id: string;
}) {
  const path = withQuery('/activity', { group_by: group, sort: 'usage', limit: 10, from, workspace_id: id });
  const loaded = useLoaded<ActivityResult>(path, 60_000);
  const rows = loaded.data?.data ?? [];
  return (
    <Card title={title}>
      <State of={loaded} empty={rows.length === 0 && 'Nobody has spent anything.'} />
      {rows.length > 0 && (
        <Table
          label={title}
          rows={rows}
          columns={[
            {
              name: 'Name',
              of: (row) => {
                const value = row[field];
                return value === null ? nameOf(row) : <a href={link('requests', { [field]: value })}>{nameOf(row)}</a>;
              },
            },
            { name: 'Requests', isNumber: true, of: (row) => count(row.requests) },
            { name: 'Spend', isNumber: true, of: (row) => nano(row.cost_nano_usd) },
          ]}
        />
      )}
    </Card>
  );
}
