import './styles.css';
import type { ComponentType } from 'preact';
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { identity, manages, seesSums, signOut, useList, whoAmI, workspace } from './api.ts';
import { Select } from './parts.tsx';
import { link, route } from './router.ts';
import { applyTheme, type ThemeChoice, themeChoice } from './theme.ts';
import type { WorkspacesResult } from './types.ts';
import { Audit } from './views/audit.tsx';
import { Budgets } from './views/budgets.tsx';
import { Endpoints } from './views/endpoints.tsx';
import { Guardrails } from './views/guardrails.tsx';
import { Keys } from './views/keys.tsx';
import { Models } from './views/models.tsx';
import { Overview } from './views/overview.tsx';
import { Playground } from './views/playground.tsx';
import { Reference } from './views/reference.tsx';
import { Request } from './views/request.tsx';
import { Requests } from './views/requests.tsx';
import { SignIn } from './views/sign-in.tsx';
import { Credentials, Workspaces } from './views/tenants.tsx';

interface PageEntry {
  name: string;
  text: string;
  page: ComponentType;
  /** Tells whether the one who looks may see it. */
  isFor: () => boolean;
}

const managers = () => manages.value;
const everybody = () => true;

const pages: readonly PageEntry[] = [
  { name: 'overview', text: 'Overview', page: Overview, isFor: () => seesSums.value },
  { name: 'requests', text: 'Requests', page: Requests, isFor: everybody },
  { name: 'endpoints', text: 'Endpoints', page: Endpoints, isFor: everybody },
  { name: 'models', text: 'Models', page: Models, isFor: everybody },
  { name: 'budgets', text: 'Budgets', page: Budgets, isFor: managers },
  { name: 'keys', text: 'Keys', page: Keys, isFor: managers },
  { name: 'credentials', text: 'Credentials', page: Credentials, isFor: managers },
  { name: 'guardrails', text: 'Guardrails', page: Guardrails, isFor: managers },
  { name: 'workspaces', text: 'Workspaces', page: Workspaces, isFor: managers },
  { name: 'playground', text: 'Playground', page: Playground, isFor: everybody },
  { name: 'audit', text: 'Audit', page: Audit, isFor: managers },
  { name: 'reference', text: 'Reference', page: Reference, isFor: everybody },
];

function App() {
  const [failure, setFailure] = useState<string | null>(null);
  const load = () =>
    whoAmI().then(
      () => setFailure(null),
      (error: Error) => setFailure(error.message),
    );
  useEffect(() => {
    void load();
    // A page in use keeps its session; a hidden one lets it end.
    const timer = setInterval(() => document.hidden || void load(), 240_000);
    return () => clearInterval(timer);
  }, []);
  const who = identity.value;
  if (who === null)
    return (
      <main class="sign-in">
        <h1>Console</h1>
        <p class={failure ? 'note warn' : 'soft'} role="status">
          {failure ?? 'Loading …'}{' '}
          {failure && (
            <button type="button" onClick={() => void load()}>
              Ask again
            </button>
          )}
        </p>
      </main>
    );
  return who.signed_in ? <Shell /> : <SignIn who={who} />;
}

function Shell() {
  const who = identity.value;
  const shown = pages.filter(({ isFor }) => isFor());
  const { page: name } = route.value;
  const found = shown.find((one) => one.name === (name === 'request' ? 'requests' : name)) ?? shown[0];
  const Shown = name === 'request' ? Request : found?.page;
  useEffect(() => {
    document.title = `${found?.text ?? ''} · ${who?.title ?? ''}`;
  }, [found, who?.title]);
  return (
    <div class="shell">
      <button type="button" class="skip" onClick={() => document.getElementById('content')?.focus()}>
        To the content
      </button>
      <nav class="side" aria-label="Pages">
        <div>
          <p class="brand">{who?.title}</p>
          <ul>
            {shown.map(({ name: one, text }) => (
              <li key={one}>
                <a href={link(one)} aria-current={one === found?.name ? 'page' : undefined}>
                  {text}
                </a>
              </li>
            ))}
          </ul>
        </div>
      </nav>
      <main id="content" tabIndex={-1}>
        <Bar />
        {Shown && <Shown key={route.value.page} />}
      </main>
    </div>
  );
}

/** The time zone of the reader, in which times are shown. */
const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone;

function Bar() {
  const who = identity.value;
  const workspaces = useList<WorkspacesResult>(manages.value ? '/workspaces' : null);
  const list = workspaces.data?.data ?? [];
  return (
    <div class="top">
      <span class="soft">
        {who?.label}
        {who?.manages_all ? ', every workspace' : ''} · times in {zone}
      </span>
      <div class="row end">
        {list.length > 1 && (
          <Select
            label="Workspace"
            value={workspace.value}
            options={[
              ...(who?.manages_all ? [['', 'All'] as const] : []),
              ...list.map(({ id, name }) => [id, name] as const),
            ]}
            onPick={(id) => {
              workspace.value = id;
            }}
          />
        )}
        <Select
          label="Theme"
          value={themeChoice.value}
          options={[
            ['auto', 'As the system'],
            ['light', 'Light'],
            ['dark', 'Dark'],
          ]}
          onPick={(choice) => applyTheme(choice as ThemeChoice)}
        />
        {who?.by === 'key' && (
          <button type="button" onClick={() => void signOut()}>
            Sign out
          </button>
        )}
      </div>
    </div>
  );
}

/** Elements that have their title of this page, which may show another text by now. */
const titled = new WeakSet<HTMLElement>();

/** Shows the whole of a text that is cut in a table, where the pointer is. */
addEventListener('mouseover', ({ target }) => {
  if (!(target instanceof HTMLElement) || target.parentElement?.localName !== 'td') return;
  if (target.title !== '' && !titled.has(target)) return;
  titled.add(target);
  target.title = target.scrollWidth > target.clientWidth ? target.textContent : '';
});

applyTheme();
render(<App />, document.getElementById('app') as HTMLElement);
