import { ofWorkspace, useLoaded } from '../api.ts';
import { time } from '../format.ts';
import { Card, Page, Select, State, Table } from '../parts.tsx';
import { route, setQuery, withQuery } from '../router.ts';
import type { AuditResult } from '../types.ts';

const types = ['workspace', 'budget', 'api_key', 'byok', 'guardrail'];

/** The changes that management operations have made. */
export function Audit() {
  const type = route.value.query.get('type') ?? '';
  const loaded = useLoaded<AuditResult>(withQuery('/audit', { limit: 100, resource_type: type, ...ofWorkspace() }));
  const rows = loaded.data?.data ?? [];
  return (
    <Page
      title="Audit"
      actions={
        <Select
          label="Of"
          value={type}
          options={[['', 'everything'], ...types.map((one) => [one, one] as const)]}
          onPick={(picked) => setQuery({ type: picked })}
        />
      }
    >
      <State of={loaded} empty={rows.length === 0 && 'No change is kept.'} />
      {rows.length > 0 && (
        <Card title="Changes, newest first (the last 100)">
          <Table
            label="Changes"
            rows={rows}
            columns={[
              { name: 'Time', of: (one) => time(one.created_at) },
              { name: 'Operation', of: (one) => one.operation },
              { name: 'Of', of: (one) => `${one.resource_type} ${one.resource_id?.slice(0, 12) ?? ''}` },
              {
                name: 'By',
                of: ({ actor }) =>
                  actor.user_id ?? (actor.api_key_hash ? `key ${actor.api_key_hash.slice(0, 8)}` : actor.type),
              },
              {
                name: 'Outcome',
                of: (one) => <span class={one.outcome === 'done' ? 'good' : 'warn'}>{one.outcome}</span>,
              },
              { name: 'Change', isWide: true, of: (one) => <Change before={one.before} after={one.after} /> },
            ]}
          />
        </Card>
      )}
    </Page>
  );
}

type Fields = Readonly<Record<string, unknown>> | null;

/** The fields that changed; of a new thing, those that have a value. */
function Change({ before, after }: { before: Fields; after: Fields }) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const texts = names
    .map((name) => [name, before?.[name] ?? null, after?.[name] ?? null] as const)
    .filter(([, old, now]) => old !== null || now !== null)
    .map(([name, old, now]) =>
      before === null ? `${name}: ${textOf(now)}` : `${name}: ${textOf(old)} → ${textOf(now)}`,
    );
  if (texts.length <= 3) return <span class="mono">{texts.join(', ')}</span>;
  return (
    <details>
      <summary>{texts.length} fields</summary>
      <span class="mono">{texts.join(', ')}</span>
    </details>
  );
}

function textOf(value: unknown): string {
  return value === null ? 'none' : JSON.stringify(value);
}
