import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError, type Loaded, longestList, messageOf } from './api.ts';
import { count, time } from './format.ts';
import { route, setQuery } from './router.ts';

interface Titled {
  title: string;
  /** Things to do, beside the title. */
  actions?: ComponentChildren;
  children: ComponentChildren;
}

export function Card({ title, actions, children }: Titled) {
  return (
    <section class="card">
      <header>
        <h2>{title}</h2>
        {actions && <div class="row">{actions}</div>}
      </header>
      {children}
    </section>
  );
}

export function Page({ title, actions, children }: Titled) {
  return (
    <>
      <div class="top">
        <h1>{title}</h1>
        <div class="row end">{actions}</div>
      </div>
      {children}
    </>
  );
}

/** The state of something that loads: what went wrong, and whether old numbers are shown. */
export function State({ of, empty }: { of: Loaded<unknown>; empty?: string | false | null | undefined }) {
  const { data, error, atMs, reload } = of;
  if (error !== null && data !== null)
    return (
      <p class="note warn" role="status">
        These numbers are from {time(atMs)}: {error.message}. <Again reload={reload} />
      </p>
    );
  if (error !== null) {
    const keepsNone = error.status === 404 && error.message.includes('records.enabled');
    return (
      <p class="note warn" role="status">
        {error.message}. {keepsNone ? <KeepRecords /> : <Again reload={reload} />}
      </p>
    );
  }
  if (data === null) return <p class="soft">Loading …</p>;
  return empty ? <p class="soft">{empty}</p> : null;
}

/** Says where a list is not whole. */
export function Cut({ rows }: { rows: readonly unknown[] }) {
  return rows.length < longestList ? null : <p class="warn">The first {count(rows.length)} are listed.</p>;
}

function Again({ reload }: { reload: () => void }) {
  return (
    <button type="button" class="plain" onClick={reload}>
      Ask again
    </button>
  );
}

function KeepRecords() {
  return (
    <>
      Give <code>createGateway</code> the option <code>{'records: { enabled: true }'}</code> and a store, and this page
      shows what happens from then on.
    </>
  );
}

/** A column of a table. */
export interface Column<Row> {
  name: string;
  of: (row: Row) => ComponentChildren;
  isNumber?: boolean;
  isWide?: boolean;
}

export function Table<Row>({
  label,
  columns,
  rows,
}: {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
}) {
  const classOf = ({ isNumber, isWide }: Column<Row>) => (isNumber ? 'num' : isWide ? 'wide' : undefined);
  return (
    <div class="scroll" role="region" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.name} scope="col" class={classOf(column)}>
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {columns.map((column) => (
                <td key={column.name} class={classOf(column)}>
                  {shortened(column.of(row))}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A text in a cell of a table: a long one is cut, so that the other columns are seen. */
function shortened(cell: ComponentChildren): ComponentChildren {
  return typeof cell === 'string' ? <span>{cell}</span> : cell;
}

export function Field({
  label,
  error,
  children,
}: {
  label: string;
  /** What the gateway says is wrong with it. */
  error?: string | undefined;
  children: ComponentChildren;
}) {
  return (
    <label class="field">
      <span>{label}</span>
      {children}
      {error && (
        <span class="bad" role="alert">
          {error}
        </span>
      )}
    </label>
  );
}

/** A write that may be refused. */
export interface Write {
  isBusy: boolean;
  act(): Promise<void>;
  /** What is wrong with a field; undefined: nothing is. */
  at(field: string): string | undefined;
  /** What is wrong beside the fields; null: nothing is. */
  rest: string | null;
}

/**
 * Makes a write whose refusal is shown at the fields that it names.
 * @param fields  the fields that show their own mistakes
 */
export function useWrite(fields: readonly string[], run: () => Promise<unknown>): Write {
  const [state, setState] = useState<{ isBusy: boolean; error: unknown }>({ isBusy: false, error: null });
  const { isBusy, error } = state;
  const issues = error instanceof ApiError ? error.issues : [];
  const isOf = (path: string, field: string) =>
    path === field || path.startsWith(`${field}[`) || path.startsWith(`${field}.`);
  const isShown = issues.length > 0 && issues.every(({ path }) => fields.some((field) => isOf(path, field)));
  return {
    isBusy,
    at: (field) => issues.find(({ path }) => isOf(path, field))?.message,
    rest: error === null || isShown ? null : messageOf(error),
    async act() {
      setState({ isBusy: true, error: null });
      try {
        await run();
        setState({ isBusy: false, error: null });
      } catch (failure) {
        setState({ isBusy: false, error: failure });
      }
    },
  };
}

export function Select({
  label,
  value,
  options,
  error,
  onPick,
}: {
  label: string;
  value: string;
  error?: string | undefined;
  options: readonly (readonly [value: string, text: string])[];
  onPick: (value: string) => void;
}) {
  return (
    <Field label={label} error={error}>
      <select value={value} onChange={(event) => onPick(event.currentTarget.value)}>
        {options.map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
    </Field>
  );
}

/** The field of a limit. Empty: none. */
export function LimitField({
  value,
  error,
  onInput,
}: {
  value: string;
  error?: string | undefined;
  onInput: (value: string) => void;
}) {
  return (
    <Field label="Limit in US dollars" error={error}>
      <input
        type="number"
        min="0"
        step="any"
        value={value}
        placeholder="none"
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </Field>
  );
}

/** The field of a page that finds among what is shown; its text is in the address. */
export function Search() {
  return (
    <Field label="Find">
      <input type="search" value={wantedText()} onChange={(event) => setQuery({ q: event.currentTarget.value })} />
    </Field>
  );
}

/** The text that is looked for. */
export function wantedText(): string {
  return route.value.query.get('q') ?? '';
}

/** A button that does something that may fail, and says so beside it. */
export function Action({
  text,
  kind,
  confirm,
  run,
}: {
  text: string;
  kind?: 'main' | 'danger';
  /** A question that is asked first. */
  confirm?: string;
  run: () => Promise<unknown>;
}) {
  const [state, setState] = useState<{ isBusy: boolean; isAsked: boolean; error: string | null }>({
    isBusy: false,
    isAsked: false,
    error: null,
  });
  const act = async () => {
    if (confirm !== undefined && !state.isAsked) return setState({ ...state, isAsked: true, error: null });
    setState({ isBusy: true, isAsked: false, error: null });
    try {
      await run();
      setState({ isBusy: false, isAsked: false, error: null });
    } catch (error) {
      setState({ isBusy: false, isAsked: false, error: messageOf(error) });
    }
  };
  return (
    <span class="row">
      <button type="button" class={kind} disabled={state.isBusy} onClick={act}>
        {state.isAsked ? confirm : text}
      </button>
      {state.isAsked && (
        <button type="button" onClick={() => setState({ ...state, isAsked: false })}>
          No
        </button>
      )}
      {state.error && (
        <span class="bad" role="alert">
          {state.error}
        </span>
      )}
    </span>
  );
}

export function Tiles({ of }: { of: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class="tiles">
      {of.map(([name, value]) => (
        <div class="tile" key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Facts({ of }: { of: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {of.map(([name, value]) => [<dt key={`${name} name`}>{name}</dt>, <dd key={name}>{value}</dd>])}
    </dl>
  );
}

export function Outcome({ of }: { of: string }) {
  const kind = of === 'ok' ? 'good' : of === 'cancelled' ? 'soft' : 'bad';
  return <span class={`pill ${kind}`}>{of}</span>;
}

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [isCopied, setCopied] = useState(false);
  return (
    <button
      type="button"
      onClick={() => {
        // Without HTTPS a browser may have no clipboard; the text can still be selected.
        void navigator.clipboard?.writeText(text).then(() => setCopied(true));
      }}
    >
      {isCopied ? 'Copied' : label}
    </button>
  );
}
