import { useEffect, useMemo, useState } from 'preact/hooks';
import { ask, manages, ofWorkspace, placeOf, useLoaded, whoAmI, workspaceId } from '../api.ts';
import { csvOf, saveText } from '../csv.ts';
import { capital, count, duration, nano, time } from '../format.ts';
import { Action, Field, Outcome, Page, Select, State } from '../parts.tsx';
import { link, route, setQuery, withQuery } from '../router.ts';
import { RowWindow } from '../row-window.tsx';
import type { Generation, GenerationsResult } from '../types.ts';

const filters = ['model', 'provider', 'user', 'tag', 'session', 'api_key_hash'] as const;
const outcomes = ['ok', 'failed', 'cut', 'cancelled', 'lost'];
/** The most rows of the live tail, and of a file. */
const longestTail = 500;
const longestFile = 5_000;

export function Requests() {
  const { query } = route.value;
  const isLive = manages.value && query.get('live') === '1';
  const given = Object.fromEntries(
    [...filters, 'outcome', 'from', 'to'].map((name) => [name, query.get(name) ?? undefined]),
  );
  const list = (more: Record<string, string | number>) =>
    withQuery('/generations', { ...given, workspace_id: workspaceId(), ...more });
  const loaded = useLoaded<GenerationsResult>(isLive ? null : list({ limit: 100 }));
  const [further, setFurther] = useState<{ of: unknown; rows: Generation[]; next: string | null }>(nothing);
  const shownFurther = further.of === loaded.data ? further : nothing;
  const first = loaded.data?.data ?? [];
  const rows = useMemo(() => [...first, ...shownFurther.rows], [loaded.data, shownFurther.rows]);
  const tail = useTail(isLive, given);
  const next = shownFurther.next ?? placeBehind(loaded.data);
  const more = async () => {
    const page = await ask<GenerationsResult>('GET', list({ limit: 100, to: next ?? '' }));
    setFurther({ of: loaded.data, rows: [...shownFurther.rows, ...page.data], next: placeBehind(page) ?? 'end' });
  };
  const save = async () => {
    const all: Generation[] = [];
    for (let place: string | null = ''; place !== null && all.length < longestFile; ) {
      const page: GenerationsResult = await ask('GET', list({ limit: 100, ...(place === '' ? {} : { to: place }) }));
      all.push(...page.data);
      place = placeBehind(page);
    }
    saveText('requests.csv', 'text/csv', csvOf(all));
  };
  return (
    <Page
      title="Requests"
      actions={
        <>
          {manages.value && (
            <button type="button" aria-pressed={isLive} onClick={() => setQuery({ live: isLive ? '' : '1' })}>
              Live
            </button>
          )}
          <Action text="Save as CSV" run={save} />
        </>
      }
    >
      <Filters given={given} />
      {isLive ? (
        <p class="note" role="status">
          {tail.text}
          {tail.dropped > 0 && (
            <span class="warn"> {count(tail.dropped)} came faster than this page could read, and are not shown.</span>
          )}
        </p>
      ) : (
        <State
          of={loaded}
          empty={rows.length === 0 && 'No request fits. Clear the filters, or make one in the playground.'}
        />
      )}
      {(isLive ? tail.rows : rows).length > 0 && <List rows={isLive ? tail.rows : rows} />}
      {!isLive && rows.length > 0 && (
        <p class="row">
          <span class="soft">
            {count(rows.length)} shown
            {typeof loaded.data?.total_count === 'number' ? ` of ${count(loaded.data.total_count)}` : ''}
          </span>
          {next !== null && next !== 'end' && <Action text="Show older ones" run={more} />}
        </p>
      )}
    </Page>
  );
}

const nothing = { of: null as unknown, rows: [] as Generation[], next: null as string | null };

/** The place behind a page, from which the list goes on. */
function placeBehind(page: GenerationsResult | null): string | null {
  if (page === null) return null;
  if (page.resume_to !== null) return page.resume_to;
  const last = page.data.at(-1);
  return last === undefined || page.data.length < 100 ? null : `${last.created_at}~${last.id}`;
}

function Filters({ given }: { given: Readonly<Record<string, string | undefined>> }) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    setQuery(Object.fromEntries([...form].map(([name, value]) => [name, String(value).trim()])));
  };
  return (
    <form class="card row end" onSubmit={submit} key={JSON.stringify(given)}>
      <Select
        label="Outcome"
        value={given.outcome ?? ''}
        options={[['', 'All'], ...outcomes.map((one) => [one, one] as const)]}
        onPick={(outcome) => setQuery({ outcome })}
      />
      {filters.map((name) => (
        <Field key={name} label={name === 'api_key_hash' ? 'Hash of the key' : capital(name)}>
          <input name={name} defaultValue={given[name] ?? ''} size={13} />
        </Field>
      ))}
      <Field label="From (UTC)">
        <input name="from" defaultValue={given.from ?? ''} placeholder="2026-01-31" size={13} />
      </Field>
      <Field label="To (UTC)">
        <input name="to" defaultValue={given.to ?? ''} placeholder="2026-01-31" size={13} />
      </Field>
      <button type="submit">Filter</button>
      <a href={link('requests')}>Clear</a>
    </form>
  );
}

const head = [
  'Time',
  'Outcome',
  'Model',
  'Provider',
  'Tokens in / out',
  'First token',
  'Duration',
  'Cost',
  'Attempts',
  'User',
];

function List({ rows }: { rows: readonly Generation[] }) {
  return (
    <section class="card">
      <RowWindow
        label="Requests"
        head={head}
        rows={rows}
        show={(one) => (
          <>
            <td>
              <a href={link(`request/${encodeURIComponent(one.id)}`)}>{time(one.created_at)}</a>
            </td>
            <td>
              <Outcome of={one.outcome} />
            </td>
            <td>
              <span>{one.model || one.requested}</span>
            </td>
            <td>
              <span>{one.provider_name ?? '–'}</span>
            </td>
            <td>
              {count(one.tokens_prompt)} / {count(one.tokens_completion)}
            </td>
            <td>{duration(one.latency)}</td>
            <td>{duration(one.total_ms)}</td>
            <td>{nano(one.cost_nano_usd)}</td>
            <td>{one.attempts.length}</td>
            <td>
              <span>{one.external_user ?? '–'}</span>
            </td>
          </>
        )}
      />
    </section>
  );
}

interface Tail {
  rows: Generation[];
  dropped: number;
  text: string;
}

const quiet: Tail = { rows: [], dropped: 0, text: 'Connecting …' };

/** Watches requests as they end. Filters are applied here: the stream has all of the workspace. */
function useTail(isLive: boolean, given: Readonly<Record<string, string | undefined>>): Tail {
  const [tail, setTail] = useState<Tail>(quiet);
  const [turn, setTurn] = useState(0);
  const wanted = JSON.stringify(given);
  const of = JSON.stringify(ofWorkspace());
  useEffect(() => setTail(quiet), [isLive, wanted, of]);
  useEffect(() => {
    if (!isLive) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    // A browser connects again by itself where the connection broke, and never where it was refused.
    const connectLater = () => {
      timer = setTimeout(() => whoAmI().then(() => setTurn((old) => old + 1), connectLater), 3_000);
    };
    const source = new EventSource(placeOf(withQuery('api/requests/stream', ofWorkspace())));
    const change = (of: (old: Tail) => Partial<Tail>) => setTail((old) => ({ ...old, ...of(old) }));
    source.onopen = () => change(() => ({ text: 'Live: requests appear when they have ended.' }));
    source.onerror = () => {
      change(() => ({ text: 'The connection broke. Connecting again …' }));
      if (source.readyState === EventSource.CLOSED) connectLater();
    };
    source.addEventListener('generation', (event: MessageEvent<string>) => {
      const one = JSON.parse(event.data) as Generation;
      if (fits(one, JSON.parse(wanted) as Record<string, string>))
        change(({ rows }) => ({ rows: [one, ...rows].slice(0, longestTail) }));
    });
    source.addEventListener('dropped', (event: MessageEvent<string>) => {
      const { dropped } = JSON.parse(event.data) as { dropped: number };
      change((old) => ({ dropped: old.dropped + dropped }));
    });
    return () => {
      source.close();
      clearTimeout(timer);
    };
  }, [isLive, wanted, of, turn]);
  return tail;
}

function fits(one: Generation, given: Readonly<Record<string, string>>): boolean {
  const values: Record<string, string | null> = {
    model: one.model,
    provider: one.provider_name,
    user: one.external_user,
    session: one.session_id,
    api_key_hash: one.api_key_hash,
    outcome: one.outcome,
  };
  const isNamed = Object.entries(given).every(([name, value]) => !(name in values) || values[name] === value);
  return isNamed && (given.tag === undefined || one.tags.includes(given.tag));
}
