import { useState } from 'preact/hooks';
import { ask, useList, workspaceId } from '../api.ts';
import { money } from '../format.ts';
import { Action, Card, Cut, Field, LimitField, Page, Select, State, Table, useWrite } from '../parts.tsx';
import { withQuery } from '../router.ts';
import type { Guardrail, GuardrailsResult } from '../types.ts';

/** The guardrails of a workspace, which can be made, changed, imposed and deleted. */
export function Guardrails() {
  const loaded = useList<GuardrailsResult>(withQuery('/guardrails', { workspace_id: workspaceId() }));
  const rows = loaded.data?.data ?? [];
  const [edited, setEdited] = useState<Guardrail | null>(null);
  /** Begins the form anew, also for the same guardrail. */
  const [turn, setTurn] = useState(0);
  const edit = (one: Guardrail | null) => {
    setEdited(one);
    setTurn((old) => old + 1);
  };
  return (
    <Page title="Guardrails">
      <State of={loaded} empty={rows.length === 0 && 'This workspace has no guardrail.'} />
      {rows.length > 0 && (
        <Card title="Guardrails of this workspace">
          <Table
            label="Guardrails"
            rows={rows}
            columns={[
              { name: 'Name', of: (one) => one.name },
              { name: 'What it does', isWide: true, of: (one) => one.description ?? '–' },
              { name: 'Searches for', isWide: true, of: (one) => searchedBy(one).join(', ') || '–' },
              {
                name: 'Limit of each key',
                isNumber: true,
                of: (one) => (one.limit_usd == null ? 'none' : `${money(one.limit_usd)} ${one.reset_interval}`),
              },
              { name: 'Models', isWide: true, of: (one) => one.allowed_models?.join(', ') ?? 'all' },
              { name: 'Providers', isWide: true, of: (one) => one.allowed_providers?.join(', ') ?? 'all' },
              {
                name: 'Acts on',
                of: (one) => (one.is_assigned_to_workspace ? 'every request' : 'keys it is assigned to'),
              },
              { name: 'Change', of: (one) => <Changes of={one} onEdit={() => edit(one)} onDone={loaded.reload} /> },
            ]}
          />
          <Cut rows={rows} />
        </Card>
      )}
      <Form
        key={turn}
        of={edited}
        onDone={() => {
          edit(null);
          loaded.reload();
        }}
        onCancel={() => edit(null)}
      />
    </Page>
  );
}

function searchedBy({ content_filter_builtins: builtins, content_filters: own }: Guardrail): string[] {
  return [...(builtins ?? []).map(({ slug }) => slug), ...(own ?? []).map(({ label }) => label)];
}

function Changes({ of, onEdit, onDone }: { of: Guardrail; onEdit: () => void; onDone: () => void }) {
  const assigned = `/guardrails/${of.id}/assignments/workspaces`;
  const isOn = of.is_assigned_to_workspace;
  return (
    <span class="row">
      <button type="button" onClick={onEdit} aria-label={`Edit ${of.name}`}>
        Edit
      </button>
      <Action
        text={isOn ? 'Lift' : 'Impose'}
        run={() =>
          ask('POST', isOn ? `${assigned}/remove` : assigned, { workspace_ids: [of.workspace_id] }).then(onDone)
        }
      />
      <Action
        text="Delete"
        kind="danger"
        confirm={`Delete ${of.name}`}
        run={() => ask('DELETE', `/guardrails/${of.id}`).then(onDone)}
      />
    </span>
  );
}

type Builtin = NonNullable<Guardrail['content_filter_builtins']>[number];
type Own = NonNullable<Guardrail['content_filters']>[number];

const builtins: readonly (readonly [slug: Builtin['slug'], text: string])[] = [
  ['email', 'E-mail addresses'],
  ['phone', 'Phone numbers'],
  ['credit-card', 'Credit cards'],
  ['iban', 'IBANs'],
  ['ssn', 'Social security numbers'],
  ['national-id', 'National ids'],
  ['api-key', 'API keys'],
  ['prompt-injection', 'Prompt injection'],
];
const actions = [
  ['', 'not searched'],
  ['block', 'refuse'],
  ['redact', 'take out'],
  ['flag', 'report'],
] as const;
const sides = [
  ['both', 'prompt and response'],
  ['input', 'prompt'],
  ['output', 'response'],
] as const;
const kinds = [
  ['regex', 'expression (RE2)'],
  ['literal', 'text'],
] as const;
const intervals = [
  ['', 'no limit'],
  ['daily', 'each day'],
  ['weekly', 'each week'],
  ['monthly', 'each month'],
] as const;
/** The lists of names, written with commas. */
const lists = [
  ['allowed_models', 'Models that may be used', 'all, or openai/*, acme/fast'],
  ['ignored_models', 'Models that may not', 'none'],
  ['allowed_providers', 'Providers that may serve', 'all, or openai, anthropic'],
  ['ignored_providers', 'Providers that may not', 'none'],
] as const;
type ListName = (typeof lists)[number][0];

const fields = [
  'name',
  'description',
  'limit_usd',
  'reset_interval',
  'content_filter_builtins',
  'content_filters',
  ...lists.map(([name]) => name),
];
const newPattern: Own = {
  pattern: '',
  type: 'literal',
  label: 'content-filter',
  action: 'block',
  applies_to: 'both',
  ignore_case: true,
  max_length: 256,
};

/** @param of  the guardrail that is changed; null: a new one */
function Form({ of, onDone, onCancel }: { of: Guardrail | null; onDone: () => void; onCancel: () => void }) {
  const [name, setName] = useState(of?.name ?? '');
  const [description, setDescription] = useState(of?.description ?? '');
  const [limit, setLimit] = useState(of?.limit_usd == null ? '' : String(of.limit_usd));
  const [reset, setReset] = useState<string>(of?.reset_interval ?? '');
  const [isZdr, setZdr] = useState(of?.enforce_zdr === true);
  const [names, setNames] = useState<Record<ListName, string>>(
    () => Object.fromEntries(lists.map(([list]) => [list, of?.[list]?.join(', ') ?? ''])) as Record<ListName, string>,
  );
  const [searched, setSearched] = useState<readonly Builtin[]>(of?.content_filter_builtins ?? []);
  const [patterns, setPatterns] = useState<readonly Own[]>(of?.content_filters ?? []);
  const settings = () => ({
    name,
    description: description.trim() || null,
    limit_usd: limit === '' ? null : Number(limit),
    reset_interval: reset || null,
    enforce_zdr: isZdr || null,
    ...Object.fromEntries(lists.map(([list]) => [list, namesIn(names[list])])),
    content_filter_builtins: searched.length > 0 ? searched : null,
    content_filters: patterns.length > 0 ? patterns : null,
  });
  const write = useWrite(fields, async () => {
    if (of === null) await ask('POST', '/guardrails', { ...settings(), workspace_id: workspaceId() });
    else await ask('PATCH', `/guardrails/${of.id}`, settings());
    onDone();
  });
  const pick = (slug: Builtin['slug'], action: string) => {
    const known = searched.find((one) => one.slug === slug);
    const others = searched.filter((one) => one.slug !== slug);
    const one = { applies_to: 'both', ...known, slug, action } as Builtin;
    setSearched(action === '' ? others : [...others, one]);
  };
  return (
    <Card title={of === null ? 'Make a guardrail' : `Change ${of.name}`}>
      <div class="row end">
        <Field label="Name" error={write.at('name')}>
          <input value={name} onInput={(event) => setName(event.currentTarget.value)} />
        </Field>
        <Field label="What it does" error={write.at('description')}>
          <input size={36} value={description} onInput={(event) => setDescription(event.currentTarget.value)} />
        </Field>
        <LimitField value={limit} error={write.at('limit_usd')} onInput={setLimit} />
        <Select
          label="The limit starts anew"
          value={reset}
          options={intervals}
          error={write.at('reset_interval')}
          onPick={setReset}
        />
      </div>
      <div class="row end">
        {lists.map(([list, text, placeholder]) => (
          <Field key={list} label={text} error={write.at(list)}>
            <input
              value={names[list]}
              placeholder={placeholder}
              onInput={(event) => setNames({ ...names, [list]: event.currentTarget.value })}
            />
          </Field>
        ))}
        <label class="check">
          <input type="checkbox" checked={isZdr} onChange={(event) => setZdr(event.currentTarget.checked)} />
          Only endpoints that keep nothing
        </label>
      </div>
      <h3>What it searches for, and what is done where it is found</h3>
      <div class="row end">
        {builtins.map(([slug, text]) => (
          <Select
            key={slug}
            label={text}
            value={searched.find((one) => one.slug === slug)?.action ?? ''}
            options={actions}
            onPick={(action) => pick(slug, action)}
          />
        ))}
      </div>
      {write.at('content_filter_builtins') && <p class="bad">{write.at('content_filter_builtins')}</p>}
      {patterns.map((pattern, at) => (
        <Pattern
          key={at}
          of={pattern}
          number={at + 1}
          errorAt={(field) => write.at(`content_filters[${at}].${field}`)}
          onChange={(changed) => setPatterns(patterns.with(at, changed))}
          onRemove={() => setPatterns(patterns.toSpliced(at, 1))}
        />
      ))}
      <p class="row">
        <button type="button" onClick={() => setPatterns([...patterns, newPattern])}>
          Add a pattern
        </button>
      </p>
      <div class="row">
        <button type="button" class="main" disabled={write.isBusy} onClick={() => void write.act()}>
          {of === null ? 'Make' : 'Save'}
        </button>
        {of !== null && (
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
        )}
        {write.rest && (
          <span class="bad" role="alert">
            {write.rest}
          </span>
        )}
      </div>
      <p class="soft">A new guardrail acts on nothing before it is imposed, or assigned to keys.</p>
    </Card>
  );
}

function Pattern({
  of,
  number,
  errorAt,
  onChange,
  onRemove,
}: {
  of: Own;
  number: number;
  errorAt: (field: string) => string | undefined;
  onChange: (changed: Own) => void;
  onRemove: () => void;
}) {
  return (
    <div class="row end">
      <Field label={`Pattern ${number}`} error={errorAt('pattern')}>
        <input value={of.pattern} onInput={(event) => onChange({ ...of, pattern: event.currentTarget.value })} />
      </Field>
      <Field label="Shown as" error={errorAt('label')}>
        <input value={of.label} onInput={(event) => onChange({ ...of, label: event.currentTarget.value })} />
      </Field>
      <Select
        label="It is"
        value={of.type}
        options={kinds}
        onPick={(type) => onChange({ ...of, type: type as Own['type'] })}
      />
      <Select
        label="Done"
        value={of.action}
        options={actions.slice(1)}
        onPick={(action) => onChange({ ...of, action: action as Own['action'] })}
      />
      <Select
        label="Searched in"
        value={of.applies_to}
        options={sides}
        onPick={(side) => onChange({ ...of, applies_to: side as Own['applies_to'] })}
      />
      <button type="button" onClick={onRemove} aria-label={`Remove pattern ${number}`}>
        Remove
      </button>
    </div>
  );
}

/** The names in a text with commas; null: there are none. */
function namesIn(text: string): string[] | null {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return names.length > 0 ? names : null;
}
