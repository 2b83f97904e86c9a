import { useState } from 'preact/hooks';
import { ask, useList, workspaceId } from '../api.ts';
import { count, time } from '../format.ts';
import { Action, Card, Cut, Field, Page, State, Table } from '../parts.tsx';
import { link, withQuery } from '../router.ts';
import type { CredentialsResult, WorkspacesResult } from '../types.ts';

/** The keys at providers that a workspace brings. They are never shown. */
export function Credentials() {
  const loaded = useList<CredentialsResult>(withQuery('/byok', { workspace_id: workspaceId() }));
  const rows = loaded.data?.data ?? [];
  const [provider, setProvider] = useState('');
  const [key, setKey] = useState('');
  const add = () =>
    ask('POST', '/byok', { provider, key, workspace_id: workspaceId() }).then(() => {
      setKey('');
      loaded.reload();
    });
  return (
    <Page title="Credentials">
      <State of={loaded} empty={rows.length === 0 && 'This workspace brings no key of a provider.'} />
      {rows.length > 0 && (
        <Card title="Keys at providers that this workspace brings">
          <Table
            label="Credentials"
            rows={rows}
            columns={[
              { name: 'Provider', of: (one) => one.provider },
              { name: 'Name', of: (one) => one.name || '–' },
              { name: 'Key', of: (one) => <code>{one.label}</code> },
              {
                name: 'State',
                of: (one) => <span class={one.disabled ? 'bad' : 'good'}>{one.disabled ? 'disabled' : 'in use'}</span>,
              },
              { name: 'Used', of: (one) => (one.is_fallback ? 'after the operator’s' : 'before the operator’s') },
              { name: 'Made', of: (one) => time(one.created_at) },
              {
                name: 'Change',
                of: (one) => (
                  <Action
                    text="Delete"
                    kind="danger"
                    confirm={`Delete the key of ${one.provider}`}
                    run={() => ask('DELETE', `/byok/${one.id}`).then(loaded.reload)}
                  />
                ),
              },
            ]}
          />
          <Cut rows={rows} />
        </Card>
      )}
      <Card title="Bring a key">
        <div class="row end">
          <Field label="Provider">
            <input value={provider} placeholder="openai" onInput={(event) => setProvider(event.currentTarget.value)} />
          </Field>
          <Field label="Key at the provider">
            <input
              type="password"
              autocomplete="off"
              value={key}
              onInput={(event) => setKey(event.currentTarget.value)}
            />
          </Field>
          <Action text="Keep it, encrypted" kind="main" run={add} />
        </div>
      </Card>
    </Page>
  );
}

/** The workspaces that the caller may see. */
export function Workspaces() {
  const loaded = useList<WorkspacesResult>('/workspaces');
  const rows = loaded.data?.data ?? [];
  const total = loaded.data?.total_count ?? rows.length;
  const [name, setName] = useState('');
  const [slug, setSlug] = useState('');
  const make = () =>
    ask('POST', '/workspaces', { name, slug }).then(() => {
      setName('');
      setSlug('');
      loaded.reload();
    });
  return (
    <Page title="Workspaces">
      <State of={loaded} empty={rows.length === 0 && 'There is no workspace.'} />
      {rows.length > 0 && (
        <Card title={`${count(total)} workspace${total === 1 ? '' : 's'}`}>
          <Table
            label="Workspaces"
            rows={rows}
            columns={[
              { name: 'Name', of: (one) => one.name },
              { name: 'Slug', of: (one) => <code>{one.slug}</code> },
              { name: 'Default model', of: (one) => one.default_text_model ?? '–' },
              { name: 'Own keys only', of: (one) => (one.is_byok_only ? 'yes' : 'no') },
              {
                name: 'Keeps prompts',
                of: (one) =>
                  one.is_observability_io_logging_enabled ? `of ${one.io_logging_sampling_rate * 100} %` : 'no',
              },
              { name: 'Made', of: (one) => time(one.created_at) },
              { name: 'By', of: (one) => one.created_by },
            ]}
          />
          <Cut rows={rows} />
        </Card>
      )}
      <Card title="Make a workspace">
        <div class="row end">
          <Field label="Name">
            <input value={name} onInput={(event) => setName(event.currentTarget.value)} />
          </Field>
          <Field label="Slug">
            <input value={slug} placeholder="team-a" onInput={(event) => setSlug(event.currentTarget.value)} />
          </Field>
          <Action text="Make" kind="main" run={make} />
        </div>
        <p class="soft">
          Then choose it above to see its <a href={link('budgets')}>budgets</a> and <a href={link('keys')}>keys</a>.
        </p>
      </Card>
    </Page>
  );
}
