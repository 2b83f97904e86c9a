import { useState } from 'preact/hooks';
import { ask, useList, workspaceId } from '../api.ts';
import { money, time } from '../format.ts';
import { Action, Card, CopyButton, Cut, Field, LimitField, Page, Select, State, Table } from '../parts.tsx';
import { link, withQuery } from '../router.ts';
import type { KeyMade, KeysResult } from '../types.ts';

/** The API keys of a workspace. */
export function Keys() {
  const id = workspaceId();
  const loaded = useList<KeysResult>(withQuery('/keys', { include_disabled: 'true', workspace_id: id }));
  const keys = loaded.data?.data ?? [];
  const [made, setMade] = useState<string | null>(null);
  return (
    <Page title="Keys">
      {made && (
        <div class="note warn" role="status">
          <p>The new key. It is shown this once: copy it now.</p>
          <div class="row">
            <code>{made}</code>
            <CopyButton text={made} />
            <button type="button" onClick={() => setMade(null)}>
              I have it
            </button>
          </div>
        </div>
      )}
      <State
        of={loaded}
        empty={
          keys.length === 0 && 'This workspace has no stored key. Keys in the options of the gateway are not listed.'
        }
      />
      {keys.length > 0 && (
        <Card title="Keys of this workspace">
          <Table
            label="Keys"
            rows={keys}
            columns={[
              { name: 'Name', of: ({ name, hash }) => <a href={link('requests', { api_key_hash: hash })}>{name}</a> },
              { name: 'Key', of: ({ label }) => <code>{label}</code> },
              { name: 'May', of: ({ permissions }) => permissions.join(', ') },
              {
                name: 'State',
                of: ({ disabled }) => (
                  <span class={`pill ${disabled ? 'bad' : 'good'}`}>{disabled ? 'disabled' : 'in use'}</span>
                ),
              },
              { name: 'Spent', isNumber: true, of: ({ usage }) => money(usage) },
              {
                name: 'Limit',
                isNumber: true,
                of: ({ limit, limit_reset }) =>
                  limit === null ? 'none' : `${money(limit)} ${limit_reset ?? 'in all'}`,
              },
              { name: 'Labels', of: ({ tags }) => tags.join(', ') || '–' },
              { name: 'Made', of: ({ created_at }) => time(created_at) },
              {
                name: 'Change',
                of: ({ hash, name, disabled }) => (
                  <span class="row">
                    <Action
                      text={disabled ? 'Enable' : 'Disable'}
                      run={() => ask('PATCH', `/keys/${hash}`, { disabled: !disabled }).then(loaded.reload)}
                    />
                    <Action
                      text="Delete"
                      kind="danger"
                      confirm={`Delete ${name}`}
                      run={() => ask('DELETE', `/keys/${hash}`).then(loaded.reload)}
                    />
                  </span>
                ),
              },
            ]}
          />
          <Cut rows={keys} />
        </Card>
      )}
      <MakeKey
        id={id}
        onMade={(key) => {
          setMade(key);
          loaded.reload();
        }}
      />
    </Page>
  );
}

function MakeKey({ id, onMade }: { id: string; onMade: (key: string) => void }) {
  const [name, setName] = useState('');
  const [limit, setLimit] = useState('');
  const [reset, setReset] = useState('');
  const [may, setMay] = useState('inference');
  const make = async () => {
    const made = await ask<KeyMade>('POST', '/keys', {
      name,
      permissions: may.split('+'),
      limit: limit === '' ? null : Number(limit),
      limit_reset: reset === '' ? null : reset,
      workspace_id: id,
    });
    setName('');
    onMade(made.key);
  };
  return (
    <Card title="Make a key">
      <div class="row end">
        <Field label="Name">
          <input value={name} onInput={(event) => setName(event.currentTarget.value)} />
        </Field>
        <Select
          label="May"
          value={may}
          options={[
            ['inference', 'ask models'],
            ['management', 'manage'],
            ['inference+management', 'both'],
          ]}
          onPick={setMay}
        />
        <LimitField value={limit} onInput={setLimit} />
        <Select
          label="The limit starts anew"
          value={reset}
          options={[
            ['', 'never'],
            ['daily', 'each day'],
            ['weekly', 'each week'],
            ['monthly', 'each month'],
          ]}
          onPick={setReset}
        />
        <Action text="Make" kind="main" run={make} />
      </div>
    </Card>
  );
}
