import { CliError, UsageError } from '../config.ts';
import type { Terminal } from '../terminal.ts';
import { type Body, openSource, type Source, type SourceFlags } from './source.ts';
import { type Cell, moneyOf, printable, tableOf } from './table.ts';

export interface KeysFlags extends SourceFlags {
  limit?: string;
  reset?: string;
  management?: boolean;
  workspace?: string;
}

const actions = ['create', 'disable', 'enable', 'delete'];
const resets = ['daily', 'weekly', 'monthly'];
/** Fields of a new key alone. */
const ofCreation = ['limit', 'reset', 'management'] as const;

/** Lists the API keys, makes one, or ends one. A key is shown once, when it is made. */
export async function keys(terminal: Terminal, args: readonly string[], flags: KeysFlags): Promise<void> {
  const [action, given] = args;
  if (action !== undefined && !actions.includes(action))
    throw new UsageError(`Expected one of ${actions.join(', ')} after keys, not ${JSON.stringify(action)}`);
  if (action !== undefined && !given)
    throw new UsageError(`Expected a ${action === 'create' ? 'name' : 'hash'}: model-gateway keys ${action} …`);
  const idle = ofCreation.find((name) => action !== 'create' && flags[name] !== undefined);
  if (idle !== undefined) throw new UsageError(`--${idle} is for keys create NAME alone`);
  const body = action === 'create' ? bodyOf(given as string, flags) : null;
  const source = await openSource(terminal, flags, { needsStore: true });
  try {
    if (body !== null) await create(terminal, source, body, flags);
    else if (action === undefined) await list(terminal, source, flags);
    else await end(terminal, source, action, given as string, flags);
  } finally {
    await source.close();
  }
}

function bodyOf(name: string, { limit, reset, management }: KeysFlags): object {
  if (limit !== undefined && !(Number(limit) > 0))
    throw new UsageError(`Expected USD for limit, not ${JSON.stringify(limit)}`);
  if (reset !== undefined && !resets.includes(reset))
    throw new UsageError(`Expected ${resets.join(', ')} for reset, not ${JSON.stringify(reset)}`);
  if (reset !== undefined && limit === undefined) throw new UsageError('--reset needs --limit');
  return {
    name,
    ...(limit === undefined ? {} : { limit: Number(limit) }),
    ...(reset === undefined ? {} : { limit_reset: reset }),
    ...(management ? { permissions: ['inference', 'management'] } : {}),
  };
}

async function create(terminal: Terminal, source: Source, body: object, flags: KeysFlags): Promise<void> {
  const workspace = flags.workspace === undefined ? {} : { workspace_id: await idOf(source, flags.workspace) };
  const made = await source.ask('POST', '/keys', { ...body, ...workspace });
  if (flags.json) terminal.print(`${JSON.stringify(made, null, 2)}\n`);
  else {
    terminal.printError(`The key ${printable(made.data.name)}, shown once; its hash is ${made.data.hash}:\n`);
    terminal.print(`${made.key}\n`);
  }
}

/** Operations take a workspace by its id alone. */
async function idOf(source: Source, workspace: string): Promise<string> {
  return (await source.ask('GET', `/workspaces/${encodeURIComponent(workspace)}`)).data.id;
}

/** The most keys of one response. */
const pageSize = 100;

async function all(source: Source, flags: KeysFlags): Promise<Body[]> {
  const found: Body[] = [];
  const query = new URLSearchParams({ include_disabled: 'true', limit: String(pageSize) });
  if (flags.workspace !== undefined) query.set('workspace_id', await idOf(source, flags.workspace));
  for (;;) {
    query.set('offset', String(found.length));
    const { data } = await source.ask('GET', `/keys?${query}`);
    found.push(...data);
    if (data.length < pageSize) return found;
  }
}

async function list(terminal: Terminal, source: Source, flags: KeysFlags): Promise<void> {
  const data = await all(source, flags);
  if (flags.json) terminal.print(`${JSON.stringify({ data }, null, 2)}\n`);
  else if (data.length === 0) terminal.print('No key. Keys of the config file are not listed.\n');
  else terminal.print(tableOf(head, data.map(rowOf)));
}

const head = ['hash', 'name', 'key', 'may', 'spent', 'limit', 'state'];
/** So many characters of a hash tell keys apart. */
const hashChars = 12;

function rowOf(key: Body): Cell[] {
  const reset = key.limit_reset === null ? '' : ` ${key.limit_reset}`;
  return [
    key.hash.slice(0, hashChars),
    key.name,
    key.label,
    key.permissions?.join(', ') ?? null,
    moneyOf(key.usage),
    key.limit === null ? null : `$${key.limit}${reset}`,
    key.disabled ? 'disabled' : key.expires_at === null ? 'active' : `until ${key.expires_at}`,
  ];
}

async function end(terminal: Terminal, source: Source, action: string, hash: string, flags: KeysFlags): Promise<void> {
  const found = (await all(source, flags)).filter((key) => key.hash.startsWith(hash.toLowerCase()));
  if (found.length === 0) throw new CliError('No key has this hash. model-gateway keys lists them.');
  if (found.length > 1) throw new CliError(`${found.length} keys have a hash that begins so. Give more of it.`);
  const { hash: complete, name } = found[0];
  const result =
    action === 'delete'
      ? await source.ask('DELETE', `/keys/${complete}`)
      : await source.ask('PATCH', `/keys/${complete}`, { disabled: action === 'disable' });
  terminal.print(
    flags.json
      ? `${JSON.stringify(result, null, 2)}\n`
      : `The key ${printable(name)} is ${action === 'delete' ? 'gone' : `${action}d`}.\n`,
  );
}
